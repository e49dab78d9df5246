"""Who judges the random queries of a dialect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from lineage.model.statement import StatementLineage
from tests.soundness.check import Finding, check_experiment
from tests.soundness.laboratories import random_laboratory
from tests.soundness.tree import Statement

__all__ = ["REFEREES", "Referee", "referee_for"]


class Referee(Protocol):
    """Judges statements."""

    @property
    def runs(self) -> int:
        """How often it has asked its engine."""

    def judge(self, statement: Statement, lineage: list[StatementLineage], ways: int | None) -> Finding | None:
        """Return in what the engine contradicts our lineage; `ways` is how often each column is changed, if any is.

        Raises:
            RejectedError: the engine does not accept the statement.
        """

    def close(self) -> None:
        """Let the engine go."""


class _Duckdb:
    """Runs a statement again with changed columns."""

    def __init__(self, seed: str) -> None:
        self._laboratory = random_laboratory(seed)

    @property
    def runs(self) -> int:
        return self._laboratory.runs

    def judge(self, statement: Statement, lineage: list[StatementLineage], ways: int | None) -> Finding | None:
        return check_experiment(statement, lineage, self._laboratory, ways)

    def close(self) -> None:
        self._laboratory.close()


def _spark(_: str) -> Referee:
    from tests.soundness.spark_referee import SparkReferee  # noqa: PLC0415  it starts Java

    return SparkReferee()


def _sqlite(_: str) -> Referee:
    from tests.soundness.sqlite_referee import SqliteReferee  # noqa: PLC0415

    return SqliteReferee()


REFEREES: dict[str, Callable[[str], Referee]] = {"duckdb": _Duckdb, "spark": _spark, "sqlite": _sqlite}


def referee_for(dialect: str, seed: str) -> Referee:
    """Return the referee of a dialect; the seed decides what its tables hold, if they hold anything."""
    return REFEREES[dialect](seed)
