"""One sequence of batches leaves one graph, whichever store it is told to."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from lineage.model.batch import DiagnosticRecord, JobRecord, LineageBatch, UsageRecord
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.store import GraphStore, open_store
from tests.contract.telling import batch, day, drop, job, key, query, rename, swap, table, view


def random_batch(chance: random.Random) -> LineageBatch:
    """Return a batch about a handful of datasets, at any time of the month."""
    names = ["one", "two", "three", "four"]

    def lines(output: str) -> list[str]:
        made = set()
        for _ in range(chance.randrange(4)):
            source = f"{chance.choice(names)}.c{chance.randrange(3)}"
            target = output if chance.random() < 0.3 else f"{output}.c{chance.randrange(3)}"
            arrow = "->" if "." in target and chance.random() < 0.7 else "~>"
            made.add(f"{source} {arrow} {target}{' MASKING' if chance.random() < 0.2 else ''}")
        return sorted(made, key=lambda line: line.removesuffix(" MASKING"))

    told: list[object] = []
    for _ in range(chance.randrange(1, 4)):
        at, output, other = chance.randrange(1, 30), *chance.sample(names, 2)
        until = at + chance.choice([0, 0, 2])
        what = chance.randrange(8)
        if what == 0:
            told.append(table(output, *(f"c{n}" for n in range(chance.randrange(1, 4))), at=at))
        elif what == 1:
            told.append(chance.choice([drop(output, at), rename(output, other, at), swap(output, other, at)]))
        elif what == 2:
            told.append(query(f"q{chance.randrange(3)}", *lines(output), at=at, until=until))
        elif what < 5:
            told.append(view(output, *lines(output), at=at, until=until))
        else:
            source = f"f{chance.randrange(2)}.sql"
            told.append(job(f"file:{source}>{output}", *lines(output), at=at, until=until, source=source))
    found = batch(*told, files=["f0.sql"] if chance.random() < 0.4 else [], at=chance.randrange(1, 30))  # type: ignore[arg-type]
    diagnostic = Diagnostic(DiagnosticCode.PARSE_ERROR, Severity.ERROR, f"finding {chance.randrange(5)}")
    jobs = {one.key: counted_runs(one, chance) for one in found.jobs}
    return replace(
        found,
        datasets=tuple({one.key: one for one in found.datasets}.values()),
        jobs=tuple(jobs.values()),
        diagnostics=(DiagnosticRecord(diagnostic, "f0.sql", next(iter(jobs), None)),),
        usage=tuple(random_usage(names, chance) for _ in range(3)),
    )


def random_users(chance: random.Random) -> tuple[tuple[str, int], ...]:
    """Return pairs of users, of which one may come twice, and queries."""
    return tuple((chance.choice(["ana", "bo", "cy"]), chance.randrange(1, 9)) for _ in range(chance.randrange(4)))


def counted_runs(told: JobRecord, chance: random.Random) -> JobRecord:
    """Return the job with counts of its runs."""
    runs, duration = chance.randrange(1, 5), chance.choice([0, 700, 5_000_000_000])
    return replace(told, observations=runs, users=random_users(chance), duration_us=duration)


def random_usage(names: list[str], chance: random.Random) -> UsageRecord:
    """Return the use of a dataset or a column on a day of the month."""
    on = chance.randrange(1, 30)
    last_read, last_write = (chance.choice([None, day(on + chance.random())]) for _ in range(2))
    of = key(chance.choice(names) + chance.choice(["", ".c1"]))
    return UsageRecord(of, date(2024, 1, on), 1, 2, random_users(chance), last_read, last_write)


def test_a_random_sequence_leaves_equal_graphs(both_stores: tuple[GraphStore, GraphStore]) -> None:
    embedded, server = both_stores
    chance = random.Random(7)
    for step in range(40):
        told = random_batch(chance)
        assert embedded.apply(told) == server.apply(told), (step, told)
        if step % 10 == 5:
            assert embedded.prune(day(step / 2)) == server.prune(day(step / 2))
    one, other = embedded.dump(), server.dump()
    assert one.nodes == other.nodes
    assert one.relationships == other.relationships
    assert len(one.relationships) > 100


def test_a_batch_applied_twice_in_a_row_is_as_once(store: GraphStore) -> None:
    chance = random.Random(11)
    for _ in range(30):
        told = random_batch(chance)
        store.apply(told)
        once = store.dump()
        store.apply(told)
        assert store.dump() == once, told


def test_what_is_copied_into_the_embedded_store_is_what_would_be_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dumps = []
    for copy_from in (1, 20_000):
        monkeypatch.setattr("lineage.store.embedded.transaction.COPY_FROM", copy_from)
        chance = random.Random(3)
        with open_store(tmp_path / f"{copy_from}.lbug") as embedded:
            for _ in range(10):
                embedded.apply(random_batch(chance))
            dumps.append(embedded.dump())
    assert dumps[0] == dumps[1]
    assert {"Usage", "Job", "Diagnostic"} <= {label for label, _, _ in dumps[0].nodes}
