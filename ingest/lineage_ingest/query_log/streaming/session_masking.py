"""Masks session statements for the checkpoint, except the literals that their lineage depends on."""

from __future__ import annotations

import re
from typing import Any

from lineage import extract
from lineage.sql.scan.shaping import mask_irrelevant_literals

__all__ = ["mask_session_statement"]

_DEPENDS_ON_MORE = re.compile(
    r"\b(?:pivot|columns)\b|\*\s*(?:not\s+)?(?:i?like|similar|glob)\b|^\s*(?:set|use|alter)\b", re.IGNORECASE
)
"""Matches statements whose literals are kept: they depend on unknown columns, or set a default."""


def mask_session_statement(sql: str, dialect: str) -> str:
    """Mask every literal whose masking does not change the statement's lineage.

    A fingerprint keeps every literal that may affect lineage, such as function arguments; this compares the lineage.

    >>> mask_session_statement("SELECT encrypt(a, 'key') AS b, j->>'id' AS c FROM t", "postgres")
    "SELECT encrypt(a, '***') AS b, j->>'id' AS c FROM t"

    Raises:
        UnknownDialectError: no dialect has that name.
    """
    if _DEPENDS_ON_MORE.search(sql):
        return mask_irrelevant_literals(sql, dialect)
    wanted = _lineage(sql, dialect)
    return mask_irrelevant_literals(sql, dialect, lambda masked: _lineage(masked, dialect) == wanted)


def _lineage(sql: str, dialect: str) -> list[Any]:
    return [
        (
            statement.operation,
            statement.target,
            statement.sources,
            statement.output_columns,
            statement.completeness,
            {(edge.source, edge.target, edge.kind, edge.subtype, edge.masking) for edge in statement.edges},
        )
        for statement in extract(sql, dialect)
    ]
