"""Conversations with tools: the thought goes through the list, then come the calls."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

from maple.tiny.text.lexicon import WORDS, made_up
from maple.tiny.text.lists import options
from maple.tiny.text.sample import Sample, Turn
from maple.tiny.text.toolbox import Tool, any_tool
from maple.tiny.text.values import draw, phrase

Call = tuple[Tool, dict]
_COMMON = set(options("the|for|and|with|what|how|you|one|can|are|from|this|that|use|user|get|name"))


def call_text(call: Call) -> str:
    """One call as the model writes it."""
    body = json.dumps({"name": call[0].name, "arguments": call[1]}, ensure_ascii=False)
    return f"<tool_call>\n{body}\n</tool_call>"


def scan(tools: list[Tool], calls: list[Call]) -> str:
    """The thought: each tool as it is listed, then "no" or its name and the values of each call.

    A fitting line goes on as the list does, so that every step is one look at one place.
    """
    lines = []
    for tool in tools:
        wanted = [json.dumps(values, ensure_ascii=False) for used, values in calls if used is tool]
        verdict = "\n> ".join(f"{tool.name} {values}" for values in wanted) or "no"
        lines.append(f"- {tool.description or tool.name}: {verdict}")
    return "\n".join(lines)


def _toolset(rng: Random, fresh: bool, avoid: frozenset[str] = frozenset()) -> list[Tool]:
    """One to three tools of different topics, none of them one to avoid."""
    tools: list[Tool] = []
    wanted = rng.choice((1, 1, 2, 2, 3))
    while len(tools) < wanted:
        tool = any_tool(rng, fresh)
        labels = {label for t in tools for label in (t.name, t.description, t.topic)} | avoid
        if not labels & {tool.name, tool.description or tool.name, tool.topic}:
            tools.append(tool)
    return tools


def _two_calls(rng: Random, tools: list[Tool], fresh: bool) -> tuple[str, list[Call]]:
    """Two values for one tool, or two requests in one; calls go in the order of the list."""
    first = rng.choice(tools)
    text, arguments = first.ask(rng, fresh)
    if len(arguments) == 1 and rng.random() < 0.6:
        [(name, value)] = arguments.items()
        kind = {n: k for n, k, _ in first.params}[name]
        other = draw(rng, kind, fresh)
        both = rng.choice(("{} and {}", "{} and {}", "{} and in {}", "{} and also {}"))
        if "in " + str(value) not in text:
            both = both.replace("and in", "and")
        if other != value and "," not in kind:
            text = text.replace(str(value), both.format(value, other), 1)
            return text, [(first, arguments), (first, {name: other})]
    second = rng.choice(tools)
    more, others = second.ask(rng, fresh)
    if second is first and others == arguments:
        return text, [(first, arguments)]
    joint = rng.choice((" and ", ". ", ". Then ", ", and ", " Also "))
    calls = [(first, arguments), (second, others)]
    text = text.rstrip("?.") + joint + more
    return text, sorted(calls, key=lambda call: tools.index(call[0]))


def _request(rng: Random, fresh: bool, count: int) -> tuple[list[Tool], str, list[Call]]:
    tools = _toolset(rng, fresh)
    if count == 2:
        return tools, *_two_calls(rng, tools, fresh)
    tool = rng.choice(tools)
    user, arguments = tool.ask(rng, fresh)
    return tools, user, [(tool, arguments)]


def call_sample(rng: Random, fresh: bool, count: int = 1, thinking: bool = True) -> Sample:
    """A request one of the tools fits, with the call or the two calls."""
    tools, user, calls = _request(rng, fresh, count)
    answer = "\n".join(call_text(call) for call in calls)
    schemas = tuple(tool.schema() for tool in tools)
    messages = ({"role": "user", "content": user},)
    skill = "call" if len(calls) == 1 else "calls"
    return Sample(skill, messages, scan(tools, calls), answer, thinking, schemas)


def _stems(text: str) -> set[str]:
    words = "".join(c.lower() if c.isalpha() else " " for c in text).split()
    return {word[:4] for word in words if len(word) > 2} - _COMMON


def no_call_sample(rng: Random, fresh: bool, turn: Turn, thinking: bool = True) -> Sample:
    """A request no tool fits: after the list comes whatever the model does without tools."""
    avoid = frozenset(("calculate",)) if turn.skill[0] in "+-*" else frozenset()
    tools = _toolset(rng, fresh, avoid)
    # A refusal about the weather beside a weather tool would teach the wrong thing.
    while any(_stems(turn.user) & _stems(f"{t.description} {t.topic}") for t in tools):
        tools = _toolset(rng, fresh, avoid)
    return _no_call(tools, turn, thinking)


def other_tool_sample(rng: Random, fresh: bool, refusal: Turn, thinking: bool = True) -> Sample:
    """A request made for a tool that is not there."""
    missing = any_tool(rng, fresh)
    tools = _toolset(rng, fresh, frozenset((missing.topic, missing.description)))
    text, _ = missing.ask(rng, fresh)
    return _no_call(tools, replace(refusal, user=text), thinking)


def _no_call(tools: list[Tool], turn: Turn, thinking: bool) -> Sample:
    schemas = tuple(tool.schema() for tool in tools)
    thought = f"{scan(tools, [])}\n{turn.thought}"
    messages = ({"role": "user", "content": turn.user},)
    return Sample("nocall", messages, thought, turn.reply(thinking), thinking, schemas)


def _result(rng: Random, fresh: bool) -> tuple[str, str]:
    """What a tool answered, and the sentence made of it."""
    if rng.random() < 0.3:
        text = phrase(rng, fresh)
        if rng.random() < 0.5:
            text = f"{text.capitalize()}, {rng.randint(0, 999)} {rng.choice(WORDS)}"
        text += rng.choice(("", "", "."))
        return text, f"The answer is: {text.rstrip('.')}."
    fields: dict[str, object] = {}
    for _ in range(rng.choice((1, 1, 2, 2, 3))):
        key = made_up(rng, fresh) if rng.random() < 0.5 else rng.choice(WORDS)
        if rng.random() < 0.3:
            key += "_" + rng.choice(WORDS)
        kind = rng.choice(("integer", "any", "any", "flag"))
        fields[key] = rng.random() < 0.5 if kind == "flag" else draw(rng, kind, fresh)
    content = json.dumps(fields)
    parts = [f"the {key.replace('_', ' ')} is {json.dumps(v)}" for key, v in fields.items()]
    sentence = " and ".join(parts).replace('"', "") + "."
    return content, sentence[0].upper() + sentence[1:]


def _answered(rng: Random, fresh: bool, tools: list[Tool], user: str, made: list[Call]) -> tuple[tuple[dict, ...], str]:
    """The messages up to the tools' results, and the sentence about them."""
    calls = [{"type": "function", "function": {"name": tool.name, "arguments": arguments}} for tool, arguments in made]
    reply = {"role": "assistant", "content": "", "tool_calls": calls}
    if rng.random() < 0.4:
        reply["reasoning_content"] = scan(tools, made)
    results = [_result(rng, fresh) for _ in calls]
    answers = tuple({"role": "tool", "content": content} for content, _ in results)
    sentence = " ".join(sentence for _, sentence in results)
    return ({"role": "user", "content": user}, reply, *answers), sentence


def result_sample(rng: Random, fresh: bool, thinking: bool = True) -> Sample:
    """A tool has answered; the answer becomes a sentence."""
    tools, user, made = _request(rng, fresh, rng.choice((1, 1, 2)))
    messages, sentence = _answered(rng, fresh, tools, user, made)
    schemas = tuple(tool.schema() for tool in tools)
    return Sample("result", messages, "The tool answered.", sentence, thinking, schemas)


def follow_up_sample(rng: Random, fresh: bool, turn: Turn, thinking: bool = True) -> Sample:
    """After a call, its result and the sentence comes one more request: a call, or the turn."""
    tools, user, made = _request(rng, fresh, 1)
    messages, sentence = _answered(rng, fresh, tools, user, made)
    calls: list[Call] = []
    if rng.random() < 0.6:
        tool = rng.choice(tools)
        user, arguments = tool.ask(rng, fresh)
        calls = [(tool, arguments)]
        thought, answer = scan(tools, calls), call_text(calls[0])
    else:
        user, answer = turn.user, turn.reply(thinking)
        thought = f"{scan(tools, [])}\n{turn.thought}"
    messages += ({"role": "assistant", "content": sentence}, {"role": "user", "content": user})
    schemas = tuple(tool.schema() for tool in tools)
    return Sample("call" if calls else "nocall", messages, thought, answer, thinking, schemas)
