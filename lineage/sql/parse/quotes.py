"""Guess a text's dialect from how it quotes names: standard SQL has double quotes only."""

from __future__ import annotations

import re

__all__ = ["dialect_of_quotes"]

_TEXTS_AND_COMMENTS = re.compile(r"""'(?:[^']|'')*+'|"(?:[^"]|"")*+"|--[^\n]*+|/\*.*?\*/""", re.DOTALL)
_BACKTICKS = re.compile(r"`([^`\n]+)`")
_BRACKETS = re.compile(r"(?:\b(?:from|join|into|update|table|view)\s+|\.)\[[^\]\n]+\]", re.IGNORECASE)


def dialect_of_quotes(text: str) -> str | None:
    """Return the name of a dialect that quotes names as the text does; None if it quotes as standard SQL does.

    >>> dialect_of_quotes("SELECT a FROM [dbo].[t]"), dialect_of_quotes("SELECT `a` FROM `p.d.t`")
    ('tsql', 'bigquery')
    >>> dialect_of_quotes("SELECT a[1], '`x`' FROM t")
    """
    if "`" not in text and "[" not in text:
        return None
    bare = _TEXTS_AND_COMMENTS.sub(" ", text)
    quoted = _BACKTICKS.findall(bare)
    if quoted:
        return "bigquery" if any("." in name for name in quoted) else "spark"
    return "tsql" if _BRACKETS.search(bare) else None
