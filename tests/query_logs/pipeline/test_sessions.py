"""Sessions are whole, and counted alike, however their rows come in batches."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from lineage_ingest.query_log.pipeline.fingerprinting import RUN_SCHEMA
from lineage_ingest.query_log.pipeline.merging.statistics import COUNTED_SCHEMA, counted
from lineage_ingest.query_log.pipeline.sessions import sessions
from lineage_ingest.query_log.pipeline.sessions.runs_in_order import events_of
from lineage_ingest.query_log.pipeline.sessions.session_blocks import TemplateInSession
from lineage_ingest.query_log.pipeline.sessions.session_effects import SessionEffects
from lineage_ingest.query_log.pipeline.sessions.sessions import assign_units

MAKES, READS, OTHER = 1, 2, 3
TEMPLATES = {
    MAKES: TemplateInSession(SessionEffects(tables=("s", "t"), temporary=("t",), writes=True), "postgres", None, None),
    READS: TemplateInSession(SessionEffects(tables=("t",)), "postgres", None, None),
    OTHER: TemplateInSession(SessionEffects(tables=("s",)), "postgres", None, None),
}


def history(seed: int) -> list[dict[str, Any]]:
    """Return runs in the order of their sessions: long and short ones, with and without a temporary table, and none."""
    pick = random.Random(seed)
    rows = []
    for number in range(60):
        session = f"s{number:02}" if number < 50 else None
        ran = [pick.choice((OTHER, READS)) for _ in range(pick.choice((1, 2, 30)))]
        if pick.random() < 0.5 and session is not None:
            ran.insert(pick.randrange(len(ran) + 1), MAKES)
        rows += [
            {
                "template": template,
                "session": session,
                "started_at": number * 10**9 + at,
                "position": at,
                "user": pick.choice(("ann", "bo", None)),
                "duration_us": 5,
                "runs": 1,
            }
            for at, template in enumerate(ran)
        ]
    return rows


def found(rows: list[dict[str, Any]], size: int) -> tuple[list[Any], list[Any]]:
    """Return the counts and the slices of runs that come in batches of a size."""
    batches = [pa.RecordBatch.from_pylist(rows[at : at + size], schema=RUN_SCHEMA) for at in range(0, len(rows), size)]
    table = pa.Table.from_batches(list(assign_units(batches, TEMPLATES)))
    has_members = table["members"].is_valid()
    counts = counted(table.filter(pa.compute.invert(has_members)).select(COUNTED_SCHEMA.names)).to_pylist()
    slices = table.filter(has_members).select(["unit", "members"]).to_pylist()
    return sorted(counts, key=repr), sorted({repr(one) for one in slices})


@pytest.mark.parametrize("seed", range(5))
def test_sessions_are_whole_in_whatever_batches(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = history(seed)
    counts, slices = found(rows, len(rows))
    assert sum(one["runs"] for one in counts) == len(rows)
    assert slices
    assert {one["unit"] for one in counts} - set(TEMPLATES)
    monkeypatch.setattr(sessions, "_AT_ONCE", 20)
    for size in (1, 7, 32):
        assert found(rows, size) == (counts, slices)


@pytest.mark.parametrize("seed", range(5))
def test_the_runs_that_are_kept_are_those_that_are_counted(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = history(seed)
    counts, _ = found(rows, len(rows))
    counted_runs = {(one["unit"], one["part"]): 0 for one in counts}
    for one in counts:
        counted_runs[one["unit"], one["part"]] += one["runs"]
    moments = sorted((row["started_at"], row["session"] or "", row["position"]) for row in rows)
    monkeypatch.setattr(sessions, "_AT_ONCE", 20)
    for size in (1, 7, len(rows)):
        batches = [
            pa.RecordBatch.from_pylist(rows[at : at + size], schema=RUN_SCHEMA) for at in range(0, len(rows), size)
        ]
        ran: list[pa.Table] = []
        list(assign_units(batches, TEMPLATES, keep_runs=ran.append))
        events = list(events_of(ran, frozenset(counted_runs) | {(READS, 0)}))
        assert sorted(event.at for event in events) == moments
        [wanted, *_] = sorted(unit for unit in counted_runs if unit[0] not in TEMPLATES)
        assert sum(1 for _ in events_of(ran, frozenset([wanted]))) == counted_runs[wanted]
