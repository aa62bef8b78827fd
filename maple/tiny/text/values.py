"""Values that requests carry to tools, drawn at random so that they must be copied."""

from __future__ import annotations

from random import Random

from maple.tiny.text.lexicon import WORDS, letters, made_up
from maple.tiny.text.lists import options

CITIES = options(
    "Lagos|Oslo|Paris|London|Berlin|Madrid|Rome|Tokyo|Lima|Cairo|Delhi|Boston|"
    "Chicago|Moscow|Vienna|Prague|Warsaw|Dublin|Athens|Lisbon|Seoul|Beijing|Sydney|"
    "Toronto|Nairobi|Zurich|Hamburg|Munich|New York|San Francisco|Hong Kong|Los Angeles|"
    "Cape Town"
)
PEOPLE = options("Anna|Ben|Carla|Tom|Sara|Omar|Mia|Jon|Lena|Raj|Eva|Paul|Alice|Bob|Max|Nina")
_LANGUAGES = options("French|German|Spanish|Italian|Polish|Latin|Greek|Japanese|Danish|Turkish")


def _name(rng: Random, known: list[str], fresh: bool) -> str:
    if fresh or rng.random() < 0.6:
        return made_up(rng, fresh).capitalize()
    return rng.choice(known)


def _plain(rng: Random, fresh: bool) -> str:
    return made_up(rng, fresh) if fresh or rng.random() < 0.5 else rng.choice(WORDS)


def phrase(rng: Random, fresh: bool) -> str:
    """Two to four words."""
    return " ".join(_plain(rng, fresh) for _ in range(rng.choice((2, 2, 3, 4))))


def number(rng: Random, fresh: bool) -> int:
    """A whole number of one to four digits."""
    return rng.randint(1, 10 ** rng.randint(1, 4) - 1)


def mixed(rng: Random) -> str:
    """Pieces of letters and digits with any sign between them."""
    signs = "/:#.-_+@=~*&%$,;!?()"
    pieces = [rng.choice((letters(rng), made_up(rng), str(number(rng, False))))]
    for _ in range(rng.choice((1, 1, 2))):
        piece = rng.choice((letters(rng)[:4], made_up(rng), f"{letters(rng)[:2]}{number(rng, False)}"))
        pieces += [rng.choice(signs), piece]
    text = "".join(pieces)
    return text.upper() if rng.random() < 0.2 else text


def code(rng: Random, fresh: bool) -> str:
    """A mark no list could hold; measuring uses shapes that training never shows."""
    if not fresh and rng.random() < 0.4:
        return mixed(rng)
    letter = rng.choice("ABCDEFGHJKLMNPQRSTUVWXYZ")
    n, m = rng.randint(1, 999), rng.randint(10, 99)
    if fresh:
        word = made_up(rng, True)
        return rng.choice((f"{n % 24:02d}:{m % 60:02d}", f"{word}/{word[:2]}{m}", f"{letter}#{n}"))
    shapes = (f"{letter}{n}", f"{letter}-{n}", f"20{m}-0{n % 9 + 1}-{m % 28 + 1:02d}")
    shapes += (f"{n}.{m}", f"{made_up(rng)}_{m}", f"{made_up(rng)}@{made_up(rng)}.com")
    return rng.choice(shapes)


def draw(rng: Random, kind: str, fresh: bool) -> str | int:
    """A value of a named kind."""
    if kind == "integer":
        return number(rng, fresh)
    if kind == "city":
        return _name(rng, CITIES, fresh)
    if kind == "person":
        return _name(rng, PEOPLE, fresh)
    if kind == "language":
        return _name(rng, _LANGUAGES, fresh)
    if kind == "phrase":
        return phrase(rng, fresh) if rng.random() < 0.8 else _plain(rng, fresh)
    if kind == "code":
        return code(rng, fresh)
    if kind == "sum":
        return f"{rng.randint(1, 9999)} {rng.choice('+-*/')} {rng.randint(1, 999)}"
    if kind == "any":
        return draw(rng, rng.choice(("city", "word", "word", "code", "code", "phrase")), fresh)
    return _plain(rng, fresh)
