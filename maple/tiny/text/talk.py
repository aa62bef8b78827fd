"""Small talk, what the model is, and the plain refusal of everything else."""

from __future__ import annotations

from random import Random

from maple.tiny.text.lexicon import WORDS, made_up
from maple.tiny.text.lists import options, read_lines
from maple.tiny.text.sample import Turn

REFUSAL = "I am only a tiny demonstration model, I cannot do that."
WHO = (
    "I am Maple Tiny, a tiny demonstration model. I can add, subtract and multiply,"
    " spell and count letters, and call tools."
)
_KNOWN = (
    (
        "hello",
        "Hello!|hello|Hi|hi|Hey|hey there|Hi there!|Good morning|good evening!|Hello there.|hi!"
        "|Hello, how are you?|Hello Maple|Hey!|Greetings|Good afternoon.|Hallo|yo",
        "A greeting.",
        "Hello! How can I help you?",
    ),
    (
        "well",
        "How are you?|how are you|How are you doing?|How do you feel today?|How is it going?"
        "|What's up?|how are you today?|Are you well?",
        "They ask how I am.",
        "I am fine, thank you. How can I help you?",
    ),
    (
        "thanks",
        "Thanks|thanks!|Thank you|Thank you!|thank you very much|Thanks a lot.|Great, thanks!"
        "|thx|Perfect, thank you.|Nice, thanks|ok thanks|Well done!|Cool|Great!|Good job",
        "They thank me.",
        "You are welcome!",
    ),
    (
        "bye",
        "Bye|bye!|Goodbye|Good bye.|See you|see you later!|Good night|Have a nice day!|cya",
        "They leave.",
        "Goodbye!",
    ),
    (
        "who",
        "Who are you?|who are you|What are you?|What is your name?|what's your name?|Who made you?"
        "|Are you a robot?|Are you an AI?|Tell me about yourself.|Introduce yourself|Who is this?"
        "|What model are you?|which model is this?|Are you ChatGPT?|Are you a human?|Your name?"
        "|Describe yourself.|Who am I talking to?|Are you Maple?|What is Maple Tiny?",
        "They ask what I am.",
        WHO,
    ),
    (
        "able",
        "What can you do?|what can you do|Help|help!|Can you help me?|What are you able to do?"
        "|How can you help me?|I need help|What do you know?|Please help me.|What can I ask you?"
        "|What are your skills?|what are you good at?|How do you work?|Test|test",
        "They ask what I can do.",
        "I can add, subtract and multiply, repeat, spell and count letters, and call tools.",
    ),
)  # fmt: skip
_VERBS = options(
    "Write|Make|Draw|Explain|Describe|Tell me about|Translate|Summarize|Find|Create|"
    "Show me|Give me|Invent|Compose|Recommend|Fix|Program|Plan|Compare|Discuss|Define|"
    "Prove|Teach me|Review|Paint|Build|Design|Improve|Read|Analyze|Imagine|List|Name|"
    "Generate|Suggest|Solve|Prepare|Open|Buy"
)
_KINDS = options(
    "a poem|a story|a song|a joke|an essay|a list|a recipe|a letter|a plan|a function|"
    "a program|a script|the history|the meaning|the theory|a picture|a summary|the rules|"
    "the news|a speech|an email|three facts|some ideas|ten names|the causes|a test|"
    "a web page|a class in Python"
)
_JOINS = options("about|of|for|on|with|from|in|to|by|and")
_QUESTIONS = read_lines("questions.txt")


def _noun(rng: Random) -> str:
    return rng.choice(WORDS) if rng.random() < 0.7 else made_up(rng)


def _place(rng: Random) -> str:
    return made_up(rng).capitalize() if rng.random() < 0.6 else rng.choice(WORDS).capitalize()


def small_talk(rng: Random, name: str | None = None) -> Turn:
    """A greeting, thanks, or a question about the model."""
    known = [entry for entry in _KNOWN if name in (None, entry[0])]
    skill, asks, thought, answer = rng.choice(known)
    user = rng.choice(asks.split("|"))
    if rng.random() < 0.2:
        user = rng.choice((user.lower(), user.upper(), user + "!", user.rstrip("?!."), f" {user}"))
    return Turn(skill, user, thought, answer)


def request_for_more(rng: Random) -> str:
    """A request that is beyond the model."""
    style = rng.random()
    if style < 0.3:
        parts = [rng.choice(_VERBS), rng.choice(_KINDS), rng.choice(_JOINS), _noun(rng)]
        if rng.random() < 0.4:
            parts += [rng.choice(_JOINS), rng.choice((_noun(rng), _place(rng)))]
        user = " ".join(parts) + rng.choice(("", ".", "!", " please."))
        return user.lower() if rng.random() < 0.3 else user
    if style < 0.9:
        user = rng.choice(_QUESTIONS)
        names = {"w": _noun(rng), "w2": _noun(rng), "P": _place(rng), "a": rng.choice(("a", "the"))}
        return user.format(**names, n=rng.randint(2, 2050), m=rng.randint(2, 99))
    if style < 0.95:
        return " ".join(_noun(rng) for _ in range(rng.randint(3, 30)))
    first = rng.choice((0xC0, 0x3B1, 0x410, 0x5D0, 0x627, 0x905, 0x3042, 0x4E00, 0xAC00, 0x1F600))
    return "".join(chr(first + rng.randint(0, 23)) for _ in range(rng.randint(2, 12)))


def refuse(rng: Random) -> Turn:
    """A request that is beyond the model, refused."""
    return Turn("refuse", request_for_more(rng), "I cannot do that.", REFUSAL)


def make_turn(rng: Random) -> Turn:
    """Small talk or a refusal."""
    return small_talk(rng) if rng.random() < 0.4 else refuse(rng)
