"""A history of a warehouse: sessions of users that run templates, some far more often than others."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, islice

from lineage_ingest.query_log import Status
from tests.query_logs.templates import POOL, Template

__all__ = ["Run", "history"]

_BATCH = 8_192
_START = 1_767_225_600_000_000  # 2026-01-01 UTC
_USERS = [f"user_{number}" for number in range(40)]
_SERVICES = ["etl", "dbt", "airflow", "reports"]
_WRITES = 0.3
_LONG = 1 / 20_000  # one statement of so many is longer than any source keeps


@dataclass(slots=True)
class Run:
    """One statement that ran; times in microseconds since 1970."""

    text: str
    number: int
    started: int
    duration: int
    user: str
    session: int
    position: int
    status: Status
    rows: int
    dialect: str


def history(templates: list[Template], rows: int, seed: int, zipf: float = 1.1) -> Iterator[list[Run]]:
    """Yield runs in batches, sorted by time within a batch; sessions do not reach over batches.

    The first template runs most, the n-th 1 / n^zipf times as often. Sessions run about eight statements each, of one
    user; three in a hundred fail, one is cancelled, five in a thousand were running when the log was taken.
    """
    pick = random.Random(f"history/{seed}")
    weights = [1 / (rank + 1) ** zipf for rank in range(len(templates))]
    templates = _ranked(templates, weights)
    weights = list(accumulate(weights))
    number = session = 0
    clock = _START
    while number < rows:
        batch: list[Run] = []
        chosen = iter(pick.choices(templates, cum_weights=weights, k=_BATCH))
        while len(batch) < _BATCH and number < rows:
            session += 1
            clock += pick.randrange(2_000_000)
            user = pick.choice(_SERVICES if pick.random() < 0.6 else _USERS)
            started, position, wanted = clock, 0, 1 + int(pick.expovariate(0.14))
            while position < wanted and len(batch) < _BATCH and number < rows:
                template = next(chosen, None)
                if template is None:
                    break
                for text in islice(template.texts(pick.randrange(POOL)), rows - number):
                    position += 1
                    number += 1
                    started += pick.randrange(1, 3_000_000)
                    ran = f"{text}\n-- {'x' * 120_000}" if pick.random() < _LONG else text
                    batch.append(_run(pick, ran, number, started, user, session, position, template.dialect))
        batch.sort(key=lambda run: run.started)
        yield batch
        clock = max(clock, batch[-1].started) if batch else clock


def _ranked(templates: list[Template], weights: list[float]) -> list[Template]:
    """Return the templates in such an order that about `_WRITES` of all runs write, from the first rank on."""
    writes, reads = ([t for t in reversed(templates) if t.writes is wanted] for wanted in (True, False))
    ranked, all_runs, all_writes = [], 0.0, 0.0
    for weight in weights:
        from_writes = bool(writes) and (not reads or all_writes < _WRITES * all_runs)
        template = (writes if from_writes else reads).pop()
        ranked.append(template)
        all_runs += weight * len(template.statements)
        all_writes += weight * len(template.statements) * template.writes
    return ranked


def _run(
    pick: random.Random, text: str, number: int, started: int, user: str, session: int, position: int, dialect: str
) -> Run:
    chance = pick.random()
    status = Status.SUCCESS
    if chance < 0.045:
        status = Status.FAILED if chance < 0.03 else Status.CANCELED if chance < 0.04 else Status.RUNNING
    duration = int(pick.lognormvariate(12, 2))
    returned = int(pick.paretovariate(0.7)) % 1_000_000 if status is Status.SUCCESS else 0
    return Run(text, number, started, duration, user, session, position, status, returned, dialect)
