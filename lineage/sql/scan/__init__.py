"""The scanner, which reads every character of a text: split into statements, mask, fingerprint, measure nesting.

There are two implementations: this package, which is the reference, and the Rust crate `lineage/native`. `engine()`
returns which one is in use.
"""

from __future__ import annotations

from typing import Literal

from lineage.model.dialect import Dialect
from lineage.model.dialects import dialect_named
from lineage.sql.scan.executable_comments import open_executable_comments
from lineage.sql.scan.implementation import chosen_engine
from lineage.sql.scan.keys import with_keys_apart
from lineage.sql.scan.ordinals import find_ordinals

__all__ = [
    "engine",
    "fingerprint",
    "mask_for_parsing",
    "mask_literals",
    "nesting_depth",
    "normal_form",
    "split_statements",
]


def engine() -> Literal["native", "python"]:
    """Return which implementation is in use; `chosen_engine().reason` states why."""
    return chosen_engine().name


def split_statements(sql: str, dialect: str | Dialect = "ansi") -> list[tuple[int, int]]:
    """Return where each statement of a script begins and ends, in characters.

    Comments around a statement are left out, as are its semicolon and client commands (GO, DELIMITER).

    >>> script = "SELECT ';'; -- the second\\nSELECT 2"
    >>> [script[start:end] for start, end in split_statements(script, "postgres")]
    ["SELECT ';'", 'SELECT 2']

    Raises:
        UnknownDialectError: no dialect has that name.
    """
    return chosen_engine().split_statements(open_executable_comments(sql, dialect), dialect_named(dialect).name)


def mask_literals(sql: str, dialect: str | Dialect = "ansi") -> str:
    """Return the text with its literals masked and its comments blanked; its length does not change.

    >>> mask_literals("SELECT 'Ann''s', 42.5 FROM t1 -- her", "postgres")
    "SELECT '******', ?    FROM t1       "

    Raises:
        UnknownDialectError: no dialect has that name.
    """
    return chosen_engine().mask_literals(open_executable_comments(sql, dialect), dialect_named(dialect).name)


def mask_for_parsing(sql: str, dialect: str | Dialect = "ansi") -> str:
    """Return the text masked so that it still parses: the digits of numbers become zeros. Not for display.

    Ordinals are kept, because they refer to columns. Different field keys are masked by different characters.

    >>> mask_for_parsing("SELECT a, b FROM t ORDER BY 2 LIMIT 25", "postgres")
    'SELECT a, b FROM t ORDER BY 2 LIMIT 00'

    Raises:
        UnknownDialectError: no dialect has that name.
    """
    name = dialect_named(dialect).name
    sql = open_executable_comments(sql, dialect)
    masked = chosen_engine().mask_literals(sql, name, True)
    for start, end in find_ordinals(sql, name):
        if masked[start:end].isdigit():  # not inside an unclosed string, which is masked as a whole
            masked = masked[:start] + sql[start:end] + masked[end:]
    return with_keys_apart(sql, masked, name)


def normal_form(sql: str, dialect: str | Dialect = "ansi") -> str:
    """Return a statement's normal form: the statement without anything that cannot affect its lineage.

    >>> normal_form("SELECT a, 'x' AS b FROM t WHERE a IN (1, 2) AND c = 'Ann' -- hers", "postgres")
    'select a,? as b from t where a in(?)and c=?'

    Raises:
        UnknownDialectError: no dialect has that name.
    """
    return chosen_engine().normal_form(open_executable_comments(sql, dialect), dialect_named(dialect).name)


def fingerprint(sql: str, dialect: str | Dialect = "ansi") -> str:
    """Return the 128-bit hash of a statement's normal form, in hexadecimal.

    >>> fingerprint("select 1 from t where a = 1") == fingerprint("SELECT 1 FROM t WHERE a = 2 -- again")
    True

    Raises:
        UnknownDialectError: no dialect has that name.
    """
    return chosen_engine().fingerprint(open_executable_comments(sql, dialect), dialect_named(dialect).name)


def nesting_depth(sql: str, dialect: str | Dialect = "ansi") -> int:
    """Return the nesting depth of the deepest statement, at least as deep as a recursive parser would recurse.

    >>> nesting_depth("SELECT ((1))"), nesting_depth("SELECT CASE WHEN a THEN (b) END")
    (2, 2)

    Raises:
        UnknownDialectError: no dialect has that name.
    """
    return chosen_engine().nesting_depth(open_executable_comments(sql, dialect), dialect_named(dialect).name)
