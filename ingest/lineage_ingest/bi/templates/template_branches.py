"""The branches of conditions in templates of SQL (Jinja, Liquid): `{% if … %} … {% else %} … {% endif %}`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TypeAlias

__all__ = ["branch_texts", "has_alternatives"]

_TAG = re.compile(r"\{%[-+]?\s*(if|unless|case|elsif|elif|else|when|endif|endunless|endcase)\b.*?%\}", re.DOTALL)
_MAX_TEXTS = 12


@dataclass(slots=True)
class _Condition:
    """A condition: what each of its branches contains."""

    branches: list[list[_Part]] = field(default_factory=lambda: [[]])


_Part: TypeAlias = str | _Condition


def has_alternatives(sql: str) -> bool:
    """Return whether a condition has more than one branch that is not empty.

    >>> has_alternatives("a {% if x %} b {% endif %}"), has_alternatives("{% if x %}a{% elsif y %}b{% endif %}")
    (False, True)
    """
    return "{%" in sql and _most_branches(_parse(sql)) > 1


def branch_texts(sql: str) -> list[str]:
    """Return texts that together have every branch: the first has the first branches, the second the second ones.

    What only one branch has is in it where the condition is met last, too.

    >>> branch_texts("a{% if x %}b{% elsif y %}c{% else %}d{% endif %}{% unless z %}e{% endunless %}")
    ['abe', 'ace', 'ade']
    """
    parts = _parse(sql)
    return [_text(parts, number) for number in range(min(max(_most_branches(parts), 1), _MAX_TEXTS))]


def _parse(sql: str) -> list[_Part]:
    root: list[_Part] = []
    open_conditions: list[_Condition] = []
    position = 0

    def add(part: _Part) -> None:
        (open_conditions[-1].branches[-1] if open_conditions else root).append(part)

    for tag in _TAG.finditer(sql):
        add(sql[position : tag.start()])
        position = tag.end()
        if tag[1] in ("if", "unless", "case"):
            condition = _Condition()
            add(condition)
            open_conditions.append(condition)
        elif tag[1].startswith("end"):
            if open_conditions:
                open_conditions.pop()
        elif open_conditions:
            open_conditions[-1].branches.append([])
    add(sql[position:])
    return root


def _filled(condition: _Condition) -> list[list[_Part]]:
    return [one for one in condition.branches if any(not isinstance(part, str) or part.strip() for part in one)]


def _most_branches(parts: list[_Part]) -> int:
    conditions = [one for one in parts if isinstance(one, _Condition)]
    return max((max([len(_filled(one)), *map(_most_branches, one.branches)]) for one in conditions), default=0)


def _text(parts: list[_Part], number: int) -> str:
    texts = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif branches := _filled(part):
            texts.append(_text(branches[min(number, len(branches) - 1)], number))
    return "".join(texts)
