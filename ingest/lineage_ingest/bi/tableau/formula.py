"""Calculated fields: Tableau's formulas as SQL, as far as lineage needs them.

https://help.tableau.com/current/pro/desktop/en-us/functions_functions_tableaucalculation.htm
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from lineage_ingest.bi.templates import parses
from lineage_ingest.bi.written_sql import LITERAL

__all__ = ["fields_in", "formula_as_sql"]

_TOKEN = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\")|(?P<date>\#[^\#\n]*\#)"
    r"|(?P<field>(?:\[(?:[^\]]|\]\])*\]\.)?\[(?:[^\]]|\]\])*\])|(?P<word>[A-Za-z_]\w*)|(?P<other>==|.)",
    re.DOTALL,
)
_WORDS = {"elseif": "WHEN", "countd": "COUNT_DISTINCT_OF", "attr": "MIN", "and": "AND", "or": "OR", "not": "NOT",
          "stdev": "STDDEV", "stdevp": "STDDEV", "var": "VARIANCE", "varp": "VARIANCE", "true": "TRUE",
          "false": "FALSE", "null": "NULL"}  # fmt: skip


def fields_in(formula: str) -> list[str]:
    """Return the fields that a formula names, as it names them.

    >>> fields_in("SUM([Sales]) > [Parameters].[P 1] // [no]")
    ['[Sales]', '[Parameters].[P 1]']
    """
    return list(dict.fromkeys(token["field"] for token in _TOKEN.finditer(formula) if token["field"] is not None))


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
    fields: list[str] = []
    found: list[str] = []
    levels: list[_Level] = []
    for token in _TOKEN.finditer(formula):
        if token["comment"] is not None:
            found.append(" ")
        elif token["string"] is not None or token["date"] is not None:
            found.append(LITERAL)
        elif token["field"] is not None:
            fields.append(field(token["field"]))
            found.append(fields[-1])
        elif token["word"] is not None:
            word = token["word"].lower()
            if word == "if":
                found.append("CASE WHEN")
            elif levels and word in ("fixed", "include", "exclude"):
                continue
            else:
                found.append(_WORDS.get(word, token["word"]))
        elif token["other"] == "{":
            levels.append(_Level(len(found)))
        elif token["other"] == "}" and levels:
            level = levels.pop()
            partition = f"PARTITION BY {level.dimensions}" if level.dimensions else ""
            value = "".join(found[level.start :]).strip()
            del found[level.start :]
            found.append(f"MAX({value}) OVER ({partition})")
        elif token["other"] == ":" and levels:
            level = levels[-1]
            level.dimensions = "".join(found[level.start :]).strip()
            del found[level.start :]
        else:
            found.append("=" if token["other"] == "==" else token["other"])
    text = re.sub(r"COUNT_DISTINCT_OF\s*\(", "COUNT(DISTINCT ", "".join(found)).strip()
    if text and parses(f"SELECT {text}", dialect):
        return text, True
    return (f"calculated({', '.join(dict.fromkeys(fields))})" if fields else "NULL"), False
