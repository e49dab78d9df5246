"""DAX: the columns and measures that an expression names.

Whether a column contributes to the value or only decides it is known for single aggregations only.
"""

from __future__ import annotations

import re

__all__ = ["made_names", "references_of", "simple_aggregate", "tables_of"]

_TOKEN = re.compile(
    r"(?P<comment>//[^\n]*|--[^\n]*|/\*.*?\*/)|(?P<string>\"(?:[^\"]|\"\")*\")"
    r"|(?P<column>(?:'(?P<quoted>(?:[^']|'')*)'|(?P<table>[^\W\d]\w*))?\s*\[(?P<name>(?:[^\]]|\]\])*)\](?:\s*\.\s*\[(?:[^\]]|\]\])*\])?)",
    re.DOTALL,
)
_KEYWORDS = frozenset(("return", "not", "in", "by", "evaluate", "define", "var", "measure", "column", "table"))
"""Words that stand before a column without its table: `RETURN [Total]`."""
_MADE = {"calendar": "date", "generateseries": "value"}
"""Functions that return a table of one column, with its name."""
_SIMPLE = re.compile(
    r"\s*(SUM|AVERAGE|MIN|MAX|COUNT|COUNTA|DISTINCTCOUNT|MEDIAN)\s*\(\s*((?:'(?:[^']|'')*'|\w+)?\s*\[(?:[^\]]|\]\])*\])\s*\)\s*",
    re.IGNORECASE | re.DOTALL,
)
_AGGREGATES = {"SUM": "SUM({})", "AVERAGE": "AVG({})", "MIN": "MIN({})", "MAX": "MAX({})", "COUNT": "COUNT({})",
               "COUNTA": "COUNT({})", "DISTINCTCOUNT": "COUNT(DISTINCT {})", "MEDIAN": "MEDIAN({})"}  # fmt: skip


def references_of(expression: str) -> list[tuple[str | None, str]]:
    """Return the columns and measures that an expression names, each with its table if that is named.

    What a date is asked for (`Sales[Day].[Month]`) is left out.

    >>> references_of("SUM('Internet Sales'[Amount]) / [Orders] + Sales[Day].[Month] // [no]")
    [('Internet Sales', 'Amount'), (None, 'Orders'), ('Sales', 'Day')]
    >>> references_of("VAR x = [Goal] RETURN IF(NOT [Closed], 'Return'[Goal])")
    [(None, 'Goal'), (None, 'Closed'), ('Return', 'Goal')]
    """
    found: dict[tuple[str | None, str], None] = {}
    for token in _TOKEN.finditer(expression):
        if token["column"] is not None:
            table = token["quoted"].replace("''", "'") if token["quoted"] is not None else token["table"]
            if token["quoted"] is None and table is not None and table.casefold() in _KEYWORDS:
                table = None
            found[table, token["name"].replace("]]", "]")] = None
    return list(found)


def made_names(expression: str) -> set[str]:
    """Return the names, in lower case, that columns may have which an expression makes: `ADDCOLUMNS(…, "Year", …)`.

    Any text may be one.

    >>> sorted(made_names('ADDCOLUMNS(CALENDAR(1, 2), "Year", YEAR([Date]))'))
    ['date', 'year']
    """
    own = {token["string"][1:-1].casefold() for token in _TOKEN.finditer(expression) if token["string"]}
    return own | {name for function, name in _MADE.items() if function in expression.casefold()}


_WORD = re.compile(
    r"//[^\n]*|--[^\n]*|/\*.*?\*/|\"(?:[^\"]|\"\")*\"|'(?P<quoted>(?:[^']|'')*)'(?P<field>\s*\[(?:[^\]]|\]\])*\])?"
    r"|\[(?:[^\]]|\]\])*\]"
    r"|(?P<word>[^\W\d]\w*)(?!\w|\s*[\[(])",
    re.DOTALL,
)


def tables_of(expression: str) -> list[str]:
    """Return the names that may be those of tables: words that are no functions, without a column behind them.

    >>> tables_of("COUNTROWS(Sales) + SUMX('Int Sales', [M]) + SUM(Other[x]) // 'no'")
    ['Sales', 'Int Sales']
    """
    names: dict[str, None] = {}
    for token in _WORD.finditer(expression):
        if token["quoted"] is not None and token["field"] is None:
            names[token["quoted"].replace("''", "'")] = None
        elif token["word"] is not None:
            names[token["word"]] = None
    return list(names)


def simple_aggregate(expression: str) -> str | None:
    """Return a pattern of SQL for an expression that is one aggregation of one column; None for any other.

    >>> simple_aggregate("DISTINCTCOUNT(Orders[id])"), simple_aggregate("SUM(a[b]) + 1")
    ('COUNT(DISTINCT {})', None)
    """
    match = _SIMPLE.fullmatch(expression)
    return _AGGREGATES[match[1].upper()] if match is not None else None
