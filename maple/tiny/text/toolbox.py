"""Tools for one conversation: real kinds with names that vary, or made up altogether."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from maple.tiny.text.kinds import KINDS, UNSEEN_KINDS, Kind
from maple.tiny.text.lexicon import WORDS, made_up
from maple.tiny.text.lists import options
from maple.tiny.text.values import draw

_VERBS = options(
    "Make|Check|Count|Open|Close|Move|Copy|Delete|Update|List|Start|Stop|Mix|Paint|Measure|Order"
    "|Rent|Lock|Clean|Print|Rate|Join|Split|Sort|Weigh|Track|Store|Load|Fill|Ship"
)
_DESCRIPTIONS = "{V} a {n}|{V} the {n}|{V} {n}s|{V} a {n} of the {m}|{V} one {n} in the {m} system"
_ASKS = (
    "{V} the {n}{w}|Please {v} the {n}{w}.|I want to {v} a {n}{w}|{V} a {n}{w} please|{v} {n}{w}"
    "|Can you {v} the {n}{w}?|I need you to {v} one {n}{w}."
)
_LOOK_UPS = "Get the {n} of a {m}|Get the {n}|Look up the {n} of a {m}|Returns the {n} for a {m}|Find a {n}"
_LOOK_UP_ASKS = (
    "What is the {n} of {w}?|{n} of {w}|Tell me the {n} of {w}|Get the {n} of {w}|How is the {n} in {w}?"
    "|Where is {n} {w}?|{n} for {w} please|How much {n} has {w}?|Has the {n} {w} arrived?"
)
_ACTIONS = "{V} a {n}|{V} one {n} of the {m}|{V} the {n}|{V} a {n} by its {m}"
_ACTION_ASKS = "{V} the {n} {w}|{V} {n} {w}|Please {v} the {w} {n}|{V} a {n} for {w}|I need the {n} {w} to {v}"
_TAILS = (
    " by {}", " for the {}", " in a given {}", ", using {} and {}", " with the {} {}", " for a {} {}",
    " of the user", " and return it as {}", ". Use it for {} and {}", " from the {} service",
)  # fmt: skip


@dataclass(frozen=True)
class Tool:
    """A tool as the client sends it, with the ways to ask for it."""

    name: str
    description: str
    params: tuple[tuple[str, str, bool], ...]  # name, kind of value, may be left out
    requests: tuple[str, ...]
    topic: str  # two tools of one topic never meet in a conversation

    def schema(self) -> dict:
        """The OpenAI form."""
        properties = {name: _property(kind) for name, kind, _ in self.params}
        required = [name for name, _, optional in self.params if not optional]
        parameters = {"type": "object", "properties": properties, "required": required}
        function = {"name": self.name, "parameters": parameters}
        if self.description:
            function["description"] = self.description
        return {"type": "function", "function": function}

    def ask(self, rng: Random, fresh: bool) -> tuple[str, dict]:
        """A request and the arguments it names, in the order of the parameters."""
        request = rng.choice(self.requests)
        values = [_value(rng, kind, fresh) for _, kind, _ in self.params]
        named = [i for i in range(len(values)) if f"{{{i}}}" in request]
        return request.format(*values), {self.params[i][0]: values[i] for i in named}


def _property(kind: str) -> dict:
    if "," in kind:
        return {"type": "string", "enum": kind.split(",")}
    return {"type": "integer" if kind == "integer" else "string"}


def _value(rng: Random, kind: str, fresh: bool) -> str | int:
    return rng.choice(kind.split(",")) if "," in kind else draw(rng, kind, fresh)


def real_tool(rng: Random, kind: Kind) -> Tool:
    """A tool of a real kind, with one of its names and descriptions."""
    params = []
    for text in kind.params:
        names, value_kind = text.split(":")
        optional = value_kind.endswith("?")
        params.append((rng.choice(names.split("|")), value_kind.rstrip("?"), optional))
    requests = kind.requests.split("|")
    if len(params) > 1 and params[-1][2] and rng.random() < 0.5:
        params.pop()
        requests = [text for text in requests if f"{{{len(params)}}}" not in text]
    description = rng.choice(kind.descriptions.split("|"))
    if rng.random() < 0.3:
        description += rng.choice(_TAILS).format(_noun(rng, False), _noun(rng, False))
    name, topic = rng.choice(kind.names.split("|")), kind.names.split("|")[0]
    if rng.random() < 0.2:
        name += f"_{_noun(rng, False)}"
    description += rng.choice(("", "", "."))
    return Tool(name, description, tuple(params), tuple(requests), topic)


def _noun(rng: Random, fresh: bool) -> str:
    return made_up(rng, fresh) if fresh or rng.random() < 0.6 else rng.choice(WORDS)


def _tool_name(rng: Random, verb: str, noun: str, fresh: bool) -> str:
    verb = verb.lower()
    if fresh:
        return rng.choice((f"{noun}.{verb}", f"{verb}-{noun}", f"do_{verb}_{noun}_now"))
    shapes = (f"{verb}_{noun}", f"{verb}{noun.capitalize()}", f"{noun}_{verb}", f"{verb}_{noun}s")
    other = made_up(rng)
    shapes += (noun, f"{noun}_{rng.randint(1, 9)}", f"{verb}_{noun}_{other}", other)
    shapes += (f"{other}_{verb}_{noun}", f"{noun}-{verb}", f"{verb}.{noun}", f"{other}-{noun}")
    return rng.choice(shapes)


def made_up_tool(rng: Random, fresh: bool) -> Tool:
    """A tool that exists nowhere else; its request says the verb, the noun and the parameters."""
    verb = rng.choice(_VERBS) if rng.random() < 0.7 else made_up(rng, fresh).capitalize()
    noun, other = _noun(rng, fresh), _noun(rng, fresh)
    words = {"V": verb, "v": verb.lower(), "n": noun, "m": other}
    description = rng.choice(_DESCRIPTIONS.split("|")).format(**words)
    description = rng.choice(("", description, description, description, description + "."))
    names = {_noun(rng, fresh) for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3)))}
    params = tuple((n, rng.choice(("integer", "any", "any")), False) for n in sorted(names))
    style = rng.choice((" with {} {}", ": {} = {}", ", {} is {}", " ({}: {})", " using {} {}"))
    parts = []
    for i, (name, _, _) in enumerate(params):
        piece = style if i == 0 else style.replace(" with", " and").replace(": {} =", ", {} =")
        parts.append(piece.format(name, f"{{{i}}}"))
    requests = tuple(ask.format(**words, w="".join(parts)) for ask in _ASKS.split("|"))
    return Tool(_tool_name(rng, verb, noun, fresh), description, params, requests, noun)


def natural_tool(rng: Random) -> Tool:
    """A made-up thing to look up or to act on, asked for without naming the parameter."""
    verb, noun, other = rng.choice(_VERBS), _noun(rng, False), _noun(rng, False)
    words = {"V": verb, "v": verb.lower(), "n": noun, "m": other}
    looks_up = rng.random() < 0.5
    description = rng.choice(options(_LOOK_UPS if looks_up else _ACTIONS)).format(**words)
    asks = options(_LOOK_UP_ASKS if looks_up else _ACTION_ASKS)
    kind = rng.choice(("city", "person", "code", "word", "integer", "phrase"))
    names = (f"get_{noun}", noun, f"{noun}_of", f"{noun}_lookup", f"find_{noun}")
    name = rng.choice(names) if looks_up else _tool_name(rng, verb, noun, False)
    param = rng.choice((other, other, noun, f"{noun}_{other}", _noun(rng, False)))
    requests = tuple(ask.format(**words, w="{0}") for ask in asks)
    return Tool(name, description, ((param, kind, False),), requests, noun)


def any_tool(rng: Random, fresh: bool) -> Tool:
    """Half of a real kind, half made up; for measuring of kinds that training never shows."""
    style = rng.random()
    if style < 0.5:
        return natural_tool(rng) if style < 0.2 and not fresh else made_up_tool(rng, fresh)
    return real_tool(rng, rng.choice(UNSEEN_KINDS if fresh else KINDS))
