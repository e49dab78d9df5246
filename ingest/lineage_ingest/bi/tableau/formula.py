"""Calculated fields: Tableau's formulas as SQL, as far as lineage needs them.

https://help.tableau.com/current/pro/desktop/en-us/functions_functions_tableaucalculation.htm
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from lineage_ingest.bi.templates.sql_templates import columns_read
from lineage_ingest.bi.templates.written_sql import LITERAL

__all__ = ["fields_in", "formula_as_sql"]


def _tokens(escape: str) -> re.Pattern[str]:
    """Return the pattern of tokens; `escape` is a part of strings that an escape by a backslash is."""
    return re.compile(
        rf"(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>'(?:{escape}[^']|'')*'|\"(?:{escape}[^\"]|\"\")*\")"
        r"|(?P<date>\#[^\#\n]*\#)|(?P<field>(?:\[(?:[^\]]|\]\])*\]\.)?\[(?:[^\]]|\]\])*\])|(?P<word>[A-Za-z_]\w*)|(?P<other>==|.)",
        re.DOTALL,
    )


_TOKEN = _tokens("")
_WITH_ESCAPES = _tokens(r"\\.|(?!\\)")
"""A quote in a string is doubled, says Tableau's manual; a backslash before it is taken for an escape if need be."""
_WORDS = {"elseif": "WHEN", "countd": "COUNT_DISTINCT_OF", "attr": "MIN", "and": "AND", "or": "OR", "not": "NOT",
          "stdev": "STDDEV", "stdevp": "STDDEV", "var": "VARIANCE", "varp": "VARIANCE", "true": "TRUE",
          "false": "FALSE", "null": "NULL"}  # fmt: skip
_OF_ONE_ROW = {"min": "LEAST", "max": "GREATEST"}
_OWN = frozenset(("datediff", "dateadd", "datepart", "datename", "datetrunc", "dateparse", "div", "first", "last"))
"""Functions of Tableau that take other arguments than those of the same name in SQL."""


def fields_in(formula: str) -> list[str]:
    """Return the fields that a formula names, as it names them.

    >>> fields_in("SUM([Sales]) > [Parameters].[P 1] // [no]")
    ['[Sales]', '[Parameters].[P 1]']
    """
    tokens = [*_TOKEN.finditer(formula), *(_WITH_ESCAPES.finditer(formula) if "\\" in formula else ())]
    return list(dict.fromkeys(token["field"] for token in tokens if token["field"] is not None))


@dataclass(slots=True)
class _Level:
    """An expression of a level of detail, `{FIXED a : SUM(b)}`: a value for each combination of its dimensions."""

    start: int
    dimensions: str = ""


def formula_as_sql(formula: str, field: Callable[[str], str], dialect: str) -> tuple[str, bool]:
    """Return the SQL of a formula, and whether it was read; if not, the SQL is a function of the fields it names.

    >>> formula_as_sql("IF [a] > 1 THEN SUM([b]) ELSE 0 END", lambda name: name.strip("[]"), "postgres")
    ('CASE WHEN a > 1 THEN SUM(b) ELSE 0 END', True)
    >>> formula_as_sql("{FIXED [a] : SUM([b])}", lambda name: name.strip("[]"), "postgres")[0]
    'MAX(SUM(b)) OVER (PARTITION BY a)'
    """
    for pattern in (_TOKEN, _WITH_ESCAPES) if "\\" in formula else (_TOKEN,):
        if _is_sql(pattern, formula, dialect):
            return _as_sql(pattern, formula, field), True
    fields = dict.fromkeys(map(field, fields_in(formula)))
    return (f"calculated({', '.join(fields)})" if fields else "NULL"), False


def _is_sql(pattern: re.Pattern[str], formula: str, dialect: str) -> bool:
    """Return whether a formula is an expression of SQL in which a parser finds all fields that it names."""
    stand_ins: dict[str, str] = {}
    text = _as_sql(pattern, formula, lambda name: f"t.{stand_ins.setdefault(name, f'field_{len(stand_ins)}')}")
    read = columns_read(f"SELECT {text}", dialect) if text else None
    return read is not None and read.issuperset(stand_ins.values())


def _word(word: str, *, in_level: bool) -> str:
    """Return a word as SQL has it; in a level of detail, the word that begins it is left out."""
    lower = word.lower()
    if lower == "if":
        return "CASE WHEN"
    if in_level and lower in ("fixed", "include", "exclude"):
        return ""
    return f"{lower}_of_tableau" if lower in _OWN else _WORDS.get(lower, word)


def _as_sql(pattern: re.Pattern[str], formula: str, field: Callable[[str], str]) -> str:
    """Return a formula with its words, strings and levels of detail as SQL has them.

    MIN and MAX of two values are of one row.
    """
    parts: list[str] = []
    levels: list[_Level] = []
    calls: list[int] = []
    """Where the parentheses and braces that are open have the name of their function; -1 for those that have none."""
    for token in pattern.finditer(formula):
        if token["other"] in ("(", "{"):
            named = (at for at in reversed(range(len(parts))) if parts[at].strip())
            calls.append(next(named, -1) if token["other"] == "(" else -1)
        elif token["other"] in (")", "}") and calls:
            calls.pop()
        elif token["other"] == "," and calls and 0 <= calls[-1] < len(parts):
            name = parts[calls[-1]]
            parts[calls[-1]] = _OF_ONE_ROW.get(name.lower(), name)
        if token["comment"] is not None:
            parts.append(" ")
        elif token["string"] is not None or token["date"] is not None:
            parts.append(LITERAL)
        elif token["field"] is not None:
            parts.append(field(token["field"]))
        elif token["word"] is not None:
            parts.append(_word(token["word"], in_level=bool(levels)))
        elif token["other"] == "{":
            levels.append(_Level(len(parts)))
        elif token["other"] == "}" and levels:
            level = levels.pop()
            partition = f"PARTITION BY {level.dimensions}" if level.dimensions else ""
            value = "".join(parts[level.start :]).strip()
            del parts[level.start :]
            parts.append(f"MAX({value}) OVER ({partition})")
        elif token["other"] == ":" and levels:
            level = levels[-1]
            level.dimensions = "".join(parts[level.start :]).strip()
            del parts[level.start :]
        else:
            parts.append("=" if token["other"] == "==" else token["other"])
    return re.sub(r"COUNT_DISTINCT_OF\s*\(", "COUNT(DISTINCT ", "".join(parts)).strip()
