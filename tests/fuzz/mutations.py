"""Mutations of text, bytes and JSON, drawn from a seed."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

__all__ = ["MARKER", "containers", "mutated_bytes", "mutated_json", "mutated_text"]

MARKER = "S3CRETn0te"

_ODD = [
    *(
        "\0",
        "\x01",
        "\x1a",
        "\x7f",
        "\u0085",
        "\u00a0",
        "\u200b",
        "\u2028",
        "\u202e",
        "\ufeff",
        "\u212a",
        "ß",
        "İ",
        "😀",
    ),
    *(
        "'",
        '"',
        "`",
        "$$",
        "/*",
        "*/",
        "--",
        "\n",
        "\r",
        ";",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "{{",
        "{%",
        "%}",
        "\\",
        "@",
    ),
    *("::", ":", "?", ",", ".", "..", "*", "=>", "->", "->>", "|>", "&", "#", "q'[", "E'", "$1", "${x}", "1e999", "0x"),
]
_WRAPS = ["({})", "SELECT * FROM ({}) t", "WITH c AS ({}) SELECT * FROM c", "CREATE VIEW v AS {}", "BEGIN {}; END"]
_VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1.5, 2**63, -(2**70), 1e308, "", " ", "x", "\0", "\ufeff", "é" * 300, "NaN", "null"),
    *("2026-02-30T00:00:00Z", "9999-12-31T23:59:59Z", "a.b.c.d.e", "{{ x", "../../x", [], {}, [[]], [None], [{}]),
    *({"": None}, {"a": {"b": []}}, ["x", 1, None]),
]


def mutated_text(text: str, others: Sequence[str], draw: random.Random) -> str:
    """Return the text after a few cuts, splices, swaps, odd characters and nestings."""
    for _ in range(draw.choice((1, 1, 1, 2, 2, 3, 5, 8))):
        text = draw.choice(_OF_TEXT)(text, draw.choice(others), draw)
    return text


def _cut(text: str, _other: str, draw: random.Random) -> str:
    begin = draw.randrange(len(text) + 1)
    return text[:begin] + text[begin + draw.choice((1, 2, 5, 30, len(text))) :]


def _splice(text: str, other: str, draw: random.Random) -> str:
    begin, place = draw.randrange(len(other) + 1), draw.randrange(len(text) + 1)
    return text[:place] + other[begin : begin + draw.choice((5, 20, 80, 300))] + text[place:]


def _odd(text: str, _other: str, draw: random.Random) -> str:
    place = draw.randrange(len(text) + 1)
    return text[:place] + draw.choice(_ODD) * draw.choice((1, 1, 1, 2, 40)) + text[place:]


def _swap_words(text: str, _other: str, draw: random.Random) -> str:
    words = text.split(" ")
    one, two = draw.randrange(len(words)), draw.randrange(len(words))
    words[one], words[two] = words[two], words[one]
    return " ".join(words)


def _other_word(text: str, other: str, draw: random.Random) -> str:
    words = text.split(" ")
    words[draw.randrange(len(words))] = draw.choice(other.split(" "))
    return " ".join(words)


def _repeat_word(text: str, _other: str, draw: random.Random) -> str:
    words = text.split(" ")
    place = draw.randrange(len(words))
    words[place] = " ".join([words[place]] * draw.choice((2, 3, 50)))
    return " ".join(words)


def _nest(text: str, _other: str, draw: random.Random) -> str:
    wrap = draw.choice(_WRAPS)
    for _ in range(draw.choice((1, 1, 2, 30))):
        if len(text) < 20_000:
            text = wrap.replace("{}", text)
    return text


_OF_TEXT: list[Callable[[str, str, random.Random], str]] = [
    *(_cut, _splice, _odd, _swap_words, _other_word, _other_word, _repeat_word, _nest),
]


def mutated_bytes(data: bytes, draw: random.Random) -> bytes:
    """Return the bytes with some changed, cut, doubled or inserted."""
    for _ in range(draw.choice((1, 1, 2, 4, 16))):
        place, size = draw.randrange(len(data) + 1), draw.choice((1, 1, 4, 64, 1000))
        new = draw.choice((draw.randbytes(size), data[place : place + size] * 2, b"", b"\0", b"\xff\xfe", b'"', b"\n"))
        data = data[:place] + new + data[place + draw.choice((0, size)) :]
    return data


def mutated_json(value: Any, draw: random.Random) -> Any:
    """Return a copy of which some members are replaced, dropped, doubled, renamed or swapped."""
    value = copy.deepcopy(value)
    for _ in range(draw.choice((1, 1, 2, 4, 12))):
        places = [one for one in containers(value) if one]
        if not places:
            break
        _change(draw.choice(places), draw.choice(places), draw)
    return value


def containers(value: Any) -> Iterator[Any]:
    """Yield the objects and arrays of a value, itself among them."""
    if isinstance(value, dict | list):
        yield value
        for member in value.values() if isinstance(value, dict) else value:
            yield from containers(member)


def _change(at: Any, other: Any, draw: random.Random) -> None:
    keys = list(at) if isinstance(at, dict) else list(range(len(at)))
    key = draw.choice(keys)
    chance = draw.random()
    if chance < 0.45:
        at[key] = draw.choice(_VALUES)
    elif chance < 0.6:
        del at[key]
    elif chance < 0.75:
        at[key] = copy.deepcopy(draw.choice(list(other.values()) if isinstance(other, dict) else other))
    elif isinstance(at[key], str):
        at[key] = mutated_text(at[key], [at[key]], draw)
    elif isinstance(at, dict):
        at[draw.choice(("", "x", str(key).upper(), f"{key}\0"))] = at.pop(key)
    else:
        at.append(copy.deepcopy(at[key]))
