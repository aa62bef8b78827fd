"""The output parser's events, for any cut of a text."""

from maple.chat.events import ContentText, ReasoningText
from maple.chat.parser import OutputParser

F = '{"name": "f", "arguments": {}}'
CALL_F = ("f", "{}")


def block(body=F):
    return f"<tool_call>\n{body}\n</tool_call>"


def parse(pieces, in_reasoning=True, allows_tools=True):
    """Events in order, text of one kind joined, a call as ("call", name, arguments); and reasoning_end."""
    parser, merged, ids = OutputParser(in_reasoning, allows_tools), [], set()
    for event in [event for piece in pieces for event in parser.feed(piece)] + parser.finish():
        if isinstance(event, (ReasoningText, ContentText)):
            kind = "reasoning" if isinstance(event, ReasoningText) else "content"
            assert event.text
            if merged and merged[-1][0] == kind:
                merged[-1] = (kind, merged[-1][1] + event.text)
            else:
                merged.append((kind, event.text))
        else:
            assert event.id not in ids
            ids.add(event.id)
            merged.append(("call", event.name, event.arguments))
    return merged, parser.reasoning_end


def fields(events):
    """What a reply makes of the events: reasoning, content, calls."""
    reasoning, content = (
        "".join(event[1] for event in events if event[0] == kind) for kind in ("reasoning", "content")
    )
    return reasoning, content, [event[1:] for event in events if event[0] == "call"]


def every_cut(text):
    yield [text]
    yield list(text)
    for cut in range(1, len(text)):
        yield [text[:cut], text[cut:]]


def check(text, expected, **options):
    """The fields are as expected and the events the same, however the text is cut."""
    whole = parse([text], **options)
    assert fields(whole[0]) == expected
    for pieces in every_cut(text):
        assert parse(pieces, **options) == whole, pieces
    return whole
