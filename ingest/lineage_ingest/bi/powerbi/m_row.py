"""What a function of M reads of the row that it is given: `each [a] + [b]`, `(row) => row[a]`, `Record.Field(_, "a")`.

https://learn.microsoft.com/en-us/powerquery-m/m-spec-functions
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lineage_ingest.bi.powerbi.m_text import FIELD, TOKEN, m_text

__all__ = ["RowReads", "row_reads"]

_PARAMETERS = re.compile(r"\(([^()]*)\)\s*(?:as\s+[\w ]+)?=>")
_KEYWORDS = frozenset(
    ("each", "then", "else", "and", "or", "not", "in", "if", "is", "otherwise", "try", "error", "as", "meta")
)
_BY_NAME = re.compile(r"\s*,\s*(\{[^{}]*\}|\"(?:[^\"]|\"\")*\")")
"""The names of fields behind the row in a call: `Record.Field(_, "a")`, `Record.SelectFields(_, {"a", "b"})`."""


@dataclass(slots=True)
class RowReads:
    """The fields of the row; names of other tables and records whose fields are read; whether all of the row is read.

    `nested` are fields of what is computed: of a call's result, of a row of another table, of a record in a field.
    """

    fields: dict[str, None] = field(default_factory=dict)
    others: dict[str, None] = field(default_factory=dict)
    nested: dict[str, None] = field(default_factory=dict)
    whole: bool = False


def row_reads(text: str) -> RowReads:
    """Return what an expression reads of its row.

    >>> reads = row_reads('each if [a] = "[b]" then #"Other Query"[c] else _[d]')
    >>> list(reads.fields), list(reads.others), reads.whole
    (['a', 'd'], ['Other Query'], False)
    >>> reads = row_reads('(r) => r[a] + Record.Field(r, "b") + f(r)')
    >>> list(reads.fields), list(reads.others), reads.whole
    (['a', 'b'], [], True)
    """
    reads = RowReads()
    rows = {"_"} | {part.split()[0] for given in _PARAMETERS.findall(text) for part in given.split(",") if part.split()}
    declared = [match.span() for match in _PARAMETERS.finditer(text)]
    before: re.Match[str] | None = None
    skipped = 0
    for token in TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "space" or token.start() < skipped:
            continue
        name = m_text(token[0]) or token[0]
        is_declared = any(start <= token.start() < end for start, end in declared)
        if token[0] == "[":
            match = FIELD.match(text, token.start())
            if match is not None:
                _add_field(m_text(match[1]) or match[1].strip(), before, rows, reads)
        elif kind == "name" and name in rows and not is_declared:
            named = _BY_NAME.match(text, token.end())
            if named is not None:
                literals = (one for one in TOKEN.finditer(named[1]) if one.lastgroup == "string")
                reads.fields.update(dict.fromkeys(m_text(one[0]) or "" for one in literals))
                skipped = named.end()
            elif not text[token.end() :].lstrip().startswith("["):
                reads.whole = True
        before = token
    return reads


def _add_field(name: str, before: re.Match[str] | None, rows: set[str], reads: RowReads) -> None:
    """Add a field by what it is read of: the text before its bracket."""
    if before is None or before.lastgroup in ("other", "open") or before[0] in _KEYWORDS:
        reads.fields[name] = None
    elif before.lastgroup == "name":
        owner = m_text(before[0]) or before[0]
        if owner in rows:
            reads.fields[name] = None
        else:
            reads.others[owner] = None
    else:
        reads.nested[name] = None
