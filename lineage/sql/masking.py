"""Literals masked in place: query texts hold personal data, and what is stored must not.

Every literal keeps its length and its quotes, so that a place in the raw text is the same place in the masked
text: letters and other characters of a string become `*`, digits of a number `0`. Comments are blanked.
"""

from __future__ import annotations

import re
from functools import cache

from lineage.model.dialects import Dialect, dialect_named

__all__ = ["mask_literals"]

_BACKSLASH_ESCAPES = frozenset(
    ("mysql", "doris", "starrocks", "bigquery", "spark", "databricks", "hive", "snowflake", "clickhouse", "redshift",
     "athena", "drill")
)  # fmt: skip
_DOUBLE_QUOTED_STRINGS = frozenset(("mysql", "doris", "starrocks", "bigquery", "spark", "databricks", "hive"))
_HASH_COMMENTS = frozenset(("mysql", "doris", "starrocks", "bigquery", "clickhouse"))
_DOLLAR_QUOTES = frozenset(("ansi", "postgres", "redshift", "snowflake", "duckdb", "materialize", "risingwave"))
_NESTED_COMMENTS = frozenset(("postgres", "redshift", "tsql", "fabric", "duckdb", "ansi", "materialize", "risingwave"))
_CLOSERS = {"[": "]", "{": "}", "(": ")", "<": ">"}


def mask_literals(sql: str, dialect: str | Dialect = "ansi") -> str:
    """Return the text with its literals masked and its comments blanked; its length does not change.

    >>> mask_literals("SELECT 'Ann''s', 42.5 FROM t1 -- her", "postgres")
    "SELECT '******', 00.0 FROM t1       "

    Raises:
        UnknownDialectError: no dialect has that name.
    """
    name = dialect_named(dialect).name
    pieces: list[str] = []
    done = 0
    position = 0
    pattern = _pattern(name)
    while found := pattern.search(sql, position):
        start, end = found.span()
        kind = found.lastgroup
        if kind == "comment":
            if name in _NESTED_COMMENTS and sql.startswith("/*", start):
                end = _nested_end(sql, start)
            masked = _blank(sql[start:end])
        elif kind == "string":
            masked = _string(found.group())
        elif kind == "oracle":
            end = _oracle_end(sql, end)
            masked = _inside(sql[start:end], end - start > 4, 3, 2)
        elif kind == "dollar":
            tag = found.group()
            close = sql.find(tag, end)
            end = len(sql) if close < 0 else close + len(tag)
            masked = (
                tag + _stars(sql[start + len(tag) : end - len(tag)]) + tag if close >= 0 else _stars(sql[start:end])
            )
        elif kind == "number":
            is_hexadecimal = found.group()[:2].lower() == "0x"
            masked = re.sub(r"(?<!^0)[0-9a-fA-F]" if is_hexadecimal else r"\d", "0", found.group())
        else:  # a quoted name, a word or a parameter: passed over, so that nothing inside it is taken for a literal
            position = end
            continue
        pieces += (sql[done:start], masked)
        done = position = end
    pieces.append(sql[done:])
    return "".join(pieces)


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Return the pattern that finds the next comment, literal or name, whichever stands first."""
    single = r"'(?:[^'\\]|\\.|'')*(?:'|\Z)" if name in _BACKSLASH_ESCAPES else r"'(?:[^']|'')*(?:'|\Z)"
    strings = [single]
    if name == "bigquery":
        strings = [r'"""(?:[^\\]|\\.)*?(?:"""|\Z)', r"'''(?:[^\\]|\\.)*?(?:'''|\Z)", *strings]
    if name in _DOUBLE_QUOTED_STRINGS:
        strings.append(r'"(?:[^"\\]|\\.|"")*(?:"|\Z)')
    if name not in _BACKSLASH_ESCAPES:
        strings.insert(0, r"(?<![\w$])[eE]'(?:[^'\\]|\\.|'')*(?:'|\Z)")
    names = [r"`(?:[^`]|``)*`"]
    if name not in _DOUBLE_QUOTED_STRINGS:
        names.append(r'"(?:[^"]|"")*"')
    if name in ("tsql", "fabric", "sqlite"):
        names.append(r"\[[^\]]*\]")
    comments = [r"--[^\n]*", r"/\*(?:.|\n)*?(?:\*/|\Z)"]
    if name in _HASH_COMMENTS:
        comments.append(r"#[^\n]*")
    groups = [f"(?P<comment>{'|'.join(comments)})"]
    if name == "oracle":
        groups.append(r"(?P<oracle>(?<![\w$])[nN]?[qQ]'[\s\S])")
    groups.append(f"(?P<string>{'|'.join(strings)})")
    if name in _DOLLAR_QUOTES:
        groups.append(r"(?P<dollar>(?<![\w$])\$(?:[A-Za-z_]\w*)?\$)")
    groups.append(f"(?P<name>{'|'.join(names)})")
    # A word with digits in it (t1, @p2, $1, :3) is no number.
    groups.append(r"(?P<word>[@:$#]?\b[^\W\d]\w*|[$:@]\d+)")
    groups.append(r"(?P<number>0[xX][0-9a-fA-F]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)")
    return re.compile("|".join(groups), re.DOTALL)


def _stars(text: str) -> str:
    return re.sub(r"[^\s]", "*", text)


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _string(text: str) -> str:
    """Return a string literal with its prefix and quotes kept."""
    lead = re.match(r"[eE]?(\"\"\"|'''|['\"])", text)
    assert lead is not None
    quote = lead.group(1)
    closed = len(text) >= lead.end() + len(quote) and text.endswith(quote)
    inner = text[lead.end() : len(text) - len(quote)] if closed else text[lead.end() :]
    return text[: lead.end()] + "*" * len(inner) + (quote if closed else "")


def _inside(text: str, closed: bool, lead: int, trail: int) -> str:
    lead += text[0] in "nN"
    return text[:lead] + "*" * (len(text) - lead - trail) + text[-trail:] if closed else "*" * len(text)


def _oracle_end(sql: str, end: int) -> int:
    opener = sql[end - 1]
    close = sql.find(_CLOSERS.get(opener, opener) + "'", end)
    return len(sql) if close < 0 else close + 2


def _nested_end(sql: str, start: int) -> int:
    depth = 0
    for mark in re.finditer(r"/\*|\*/", sql[start:]):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return start + mark.end()
    return len(sql)
