"""Names as SQL takes them, for statements that people run."""

from __future__ import annotations

import re

from lineage.model.names import split_name

__all__ = ["quoted_name", "quoted_table"]

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BACKTICKS = frozenset(
    ("athena", "bigquery", "clickhouse", "databricks", "doris", "hive", "mysql", "spark", "starrocks")
)


def quoted_name(name: str, dialect: str | None) -> str:
    """Return a name in quotes if it is not plain, so that nothing of it is read as SQL, and its case is kept.

    >>> quoted_name("id", None), quoted_name('a";drop', "postgres"), quoted_name("a`b", "mysql")
    ('id', '"a"";drop"', '`a``b`')
    >>> quoted_name("email", "snowflake"), quoted_name("EMAIL", "snowflake")
    ('"email"', 'EMAIL')
    """
    is_folded = dialect not in ("snowflake", "oracle") or name == name.upper()
    if _PLAIN.fullmatch(name) and is_folded:
        return name
    quote = "`" if dialect in _BACKTICKS else '"'
    return quote + name.replace(quote, quote * 2) + quote


def quoted_table(name: str, dialect: str | None) -> str:
    """Return a table's full name with its parts in quotes where they need them."""
    return ".".join(quoted_name(part, dialect) for part, _ in split_name(name))
