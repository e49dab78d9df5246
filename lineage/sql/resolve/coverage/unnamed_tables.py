"""Statements that drop, rename, swap or bring back tables that they do not name: those of a whole schema or database.

Only the database knows which tables that are. A diagnostic says that the statement is not followed.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot.tokenizer_core import Token

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span
from lineage.model.dialect import Dialect

__all__ = ["unnamed_tables_diagnostic"]

_WHOLE = frozenset(("SCHEMA", "DATABASE", "CATALOG"))


def unnamed_tables_diagnostic(tokens: Sequence[Token], span: Span, dialect: Dialect) -> Diagnostic | None:
    """Return a diagnostic if a statement changes tables that it does not name.

    DROP … IF EXISTS is often the beginning of a script that makes all anew: then it is for information only.
    """
    words = [token.text.upper() for token in tokens]
    does = _does(words, dialect)
    if does is None:
        return None
    return Diagnostic(
        DiagnosticCode.NOT_FOLLOWED,
        Severity.INFO if "EXISTS" in words[:4] else Severity.WARNING,
        f"which tables it {does} is not followed: they stay as they were",
        span,
        "DROP, RENAME and CREATE of the tables themselves are followed",
    )


def _does(words: Sequence[str], dialect: Dialect) -> str | None:
    if words[0] == "UNDROP":
        return "brings back"
    if not _WHOLE.intersection(words[1:3]):
        return None
    if words[0] == "DROP":
        drops_all = "CASCADE" in words or (dialect.drops_full_schemas and "RESTRICT" not in words)
        return "drops" if drops_all else None
    if words[0] not in ("ALTER", "RENAME"):
        return None
    said = set(words)
    if {"SWAP", "WITH"} <= said:  # Snowflake
        return "swaps"
    return "renames" if {"RENAME", "TO"} <= said or {"MODIFY", "NAME"} <= said else None  # MODIFY NAME: T-SQL
