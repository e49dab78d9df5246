"""The SQL that proves a step: the expression that reads the column, with its file and line. Literals are masked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lineage.frozen import frozen
from lineage.model.influence.evidence import Chain, position_in_source, spans_of
from lineage.model.text.expression_text import expression_around
from lineage.store.values import StoredJob

__all__ = ["Proof", "proof_of"]


@frozen
class Proof:
    """The expressions that a value passes in one job, from where it is read to the output, and where they are."""

    job: str
    sql: tuple[str, ...] = ()
    file: str | None = None
    line: int | None = None

    @property
    def place(self) -> str:
        """File and line, or else the job."""
        return f"{self.file}:{self.line}" if self.file and self.line else self.file or self.job

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"job": self.job, "sql": list(self.sql), "file": self.file, "line": self.line}


def proof_of(job: StoredJob | None, key: str, chains: Iterable[Chain]) -> Proof:
    """Return the proof of an edge: its first chain."""
    chain = next(iter(chains), None)
    if job is None:
        return Proof(key)
    if job.sql is None or chain is None:
        return Proof(key, (), job.source)
    spans = spans_of(chain)
    position = position_in_source(job.sql, job.positions, spans[0][0])
    pieces = dict.fromkeys(" ".join(job.sql[slice(*expression_around(job.sql, *span))].split()) for span in spans)
    return Proof(key, tuple(pieces), job.source, position[0] if position else None)
