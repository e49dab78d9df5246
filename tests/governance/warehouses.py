"""Random warehouses with personal data planted: `python -m tests.governance.warehouses 500 [--seed 7]`.

Each is ingested as SQL files or as a query log. Then reports, exposures, influences, stops, confidences, proofs and
readers are compared with what the generator knows. Exit status 1: something differs; it is shrunk and printed.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

from lineage.governance.access import audit_access
from lineage.governance.breakers import read_breakers
from lineage.governance.log_coverage import NoLogError
from lineage.governance.report.pii_report import PiiReport, SourceColumn, make_report
from lineage.governance.tags.rules import default_rules
from lineage.governance.tags.tagging import classify, named_column
from lineage.model.names import split_column_key, split_dataset_key
from lineage.sql.resolve.calls.functions import value_functions
from lineage.store import GraphStore, open_store
from lineage.store.values import StoredTag
from lineage_ingest.log_api import ingest_log
from lineage_ingest.query_log.pipeline.engines.opening import EngineKind
from lineage_ingest.query_log_options import LogOptions
from tests.governance.warehouse_truth import CONFIDENCE, Found, Planted, Tag, Truth, columns_of
from tests.soundness.experiment import RejectedError
from tests.soundness.grammar import DUCKDB
from tests.soundness.operations import OPERATIONS, operation
from tests.soundness.warehouse.check import histories, world_of
from tests.soundness.warehouse.generator import STRUCTURAL
from tests.soundness.warehouse.histories import random_warehouse
from tests.soundness.warehouse.ingests import DIALECT, Ingester
from tests.soundness.warehouse.laboratory import Laboratory
from tests.soundness.warehouse.render import script_of
from tests.soundness.warehouse.shrink import shrink
from tests.soundness.warehouse.tree import HOME, Warehouse
from tests.soundness.warehouse.world import InvalidError, World

__all__ = ["Campaign", "run"]

LEFT_OUT = STRUCTURAL | {"drop", "delete_file", "delete_statement"}
"""What ends lineage is the subject of `tests/soundness/warehouse`."""
_TEXTS = [
    operation("right({0}, 1)", "text", "P", "text"),
    operation("split_part({0}, '1', 1)", "text", "P", "text"),
    operation("regexp_extract({0}, '[a-z]')", "text", "P", "text"),
    operation("(left({0}, 1) || {1})", "text text", "P T", "text"),
    operation("md5(left({0}, 1))", "text", "H", "text"),
    operation("(md5({0}) || {1})", "text text", "H T", "text"),
    operation("CASE WHEN {0} THEN sha256({1}) ELSE right({2}, 2) END", "bool text text", "C H P", "text"),
]
_NUMBERS = [
    operation("CAST(hash({0}) % 10 AS INTEGER)", "text", "H", "int"),
    operation("CAST(hash({0}) % 10 AS INTEGER)", "int", "H", "int"),
    operation("(length({0}) + {1})", "text int", "P T", "int"),
]
GRAMMAR = replace(
    DUCKDB,
    operations={**OPERATIONS, "text": [*OPERATIONS["text"], *_TEXTS], "int": [*OPERATIONS["int"], *_NUMBERS]},
)
"""DuckDB with more that hides values, or shows a part of them."""
NOW = datetime(2026, 6, 1, tzinfo=UTC)
_READ = datetime(2026, 3, 1, tzinfo=UTC)
_USERS = ("bo", "cy", "di")
_MALFORMED = (InvalidError, RejectedError, KeyError, ValueError, AssertionError, IndexError, RecursionError, TypeError)
"""What a warehouse raises that a step of shrinking broke."""


@dataclass(slots=True)
class Campaign:
    """What was compared, and what differs."""

    warehouses: int = 0
    sources: int = 0
    exposures: Counter[str] = field(default_factory=Counter)
    influenced: int = 0
    stopped: int = 0
    readers: int = 0
    rejected: int = 0
    failures: list[str] = field(default_factory=list)

    def add(self, other: Campaign) -> None:
        """Count what another one compared as well."""
        for name in ("warehouses", "sources", "influenced", "stopped", "readers", "rejected"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.exposures.update(other.exposures)
        self.failures += other.failures

    def __str__(self) -> str:
        shown = ", ".join(f"{number:,} {name}" for name, number in sorted(self.exposures.items()))
        return (
            f"{self.warehouses:,} warehouses, {self.sources:,} sources; reached: {shown}; "
            f"{self.influenced:,} influenced, {self.stopped:,} stopped, {self.readers:,} reads; "
            f"{self.rejected:,} rejected, {len(self.failures):,} differ"
        )


def run(numbers: Iterable[int], seed: int = 1, shrink_seconds: float = 60.0) -> Campaign:
    """Check the warehouses of these numbers."""
    total = Campaign()
    laboratory = Laboratory(str(seed))
    for number in numbers:
        name = f"{seed}/{number}"
        way = ("files", "log")[number % 2]
        warehouse = random_warehouse(name, laboratory, LEFT_OUT, way, GRAMMAR)
        total.warehouses += 1
        try:
            different = _differences(warehouse, name, total)
        except _MALFORMED as error:
            if not isinstance(error, (InvalidError, RejectedError)):
                raise
            total.rejected += 1
            continue
        if different:
            total.failures.append(_shrunk(warehouse, name, different, shrink_seconds))
    laboratory.close()
    return total


def _shrunk(warehouse: Warehouse, name: str, different: list[str], seconds: float) -> str:
    kind = different[0].partition(":")[0]

    def fails(smaller: Warehouse) -> bool:
        with suppress(*_MALFORMED):
            return any(one.startswith(f"{kind}:") for one in _differences(smaller, name, Campaign()))
        return False

    if seconds:
        warehouse = shrink(warehouse, fails, seconds)
        with suppress(*_MALFORMED):
            different = _differences(warehouse, name, Campaign()) or different
    return "\n".join([f"-- warehouse {name}", *(f"--   {one}" for one in different[:12]), script_of(warehouse)])


def _differences(warehouse: Warehouse, name: str, total: Campaign) -> list[str]:
    # The SQL of a temporary table in a log is no part of the job that reads it: see docs/governance.md.
    world = world_of(histories(warehouse)[-1], World(blurs_temporary=warehouse.way == "log"))
    planted = _planted(world, name)
    truth = Truth.of(world, planted)
    reads = _reads(world, name)
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "lineage.db") as store:
        _ingest(warehouse, store, Path(folder))
        _read(reads, store, Path(folder))
        _tag(store, planted)
        return [*_compared(store, truth, reads, Path(folder), total)]


# What is planted: by the names of columns, so that it stays where it is in a smaller warehouse


def _planted(world: World, seed: str) -> Planted:
    columns = columns_of(world)
    tags: list[Tag] = []
    broken = []
    for column in columns:
        rng = random.Random(f"{seed}/{column}")
        if rng.random() < 0.3:
            source = rng.choice(("manual", "csv", "rules"))
            tags.append(Tag(column, rng.choice(("email", "phone")), source, rng.choice((1.0, 0.9, 0.5))))
        if rng.random() < 0.1:
            tags.append(Tag(column, "email", "csv", 0.8))
        if rng.random() < 0.12:
            tags.append(Tag(column, rng.choice(("email", "phone", "pii")), "manual", denied=True))
        if rng.random() < 0.05:
            broken.append(column)
    unique = {(one.column, one.name, one.source): one for one in tags}
    rng = random.Random(f"{seed}/edges")
    pairs = [(a, b) for a in columns for b in columns if a != b]
    edges = tuple(sorted(rng.sample(pairs, min(4, len(pairs)))))
    return Planted(tuple(unique.values()), tuple(broken), edges)


def _reads(world: World, seed: str) -> list[tuple[str, str, int]]:
    """Return who reads which column, and how often: each in queries of its own."""
    found = []
    for column in columns_of(world):
        rng = random.Random(f"{seed}/{column}/reads")
        found += [(user, column, rng.randint(1, 3)) for user in _USERS if rng.random() < 0.1]
    return found


# Into the store


def _ingest(warehouse: Warehouse, store: GraphStore, folder: Path) -> None:
    (folder / "input").mkdir()
    ingester = Ingester(warehouse, store, folder / "input", EngineKind.LOCAL)
    for number in range(len(warehouse.states)):
        ingester.state(number)
    for number in range(len(warehouse.parts)):
        ingester.part(number)


def _read(reads: list[tuple[str, str, int]], store: GraphStore, folder: Path) -> None:
    lines = ["query_text,started_at,user"]
    for number, (user, column, times) in enumerate(reads):
        table, _, name = column.rpartition(".")
        at = (_READ + timedelta(minutes=number)).isoformat()
        lines += [f"select {name} from {table},{at},{user}"] * times
    (folder / "reads.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    if reads:
        options = LogOptions(dialect=DIALECT, default_schema=HOME)
        ingest_log(folder / "reads.csv", source="generic", store=store, options=options)


def _tag(store: GraphStore, planted: Planted) -> None:
    stored = [
        StoredTag(named_column(store, one.column), one.name, one.source, NOW, "", "", one.confidence, one.denied)
        for one in planted.tags
    ]
    store.change_tags(stored)


# Comparing


def _compared(
    store: GraphStore, truth: Truth, reads: list[tuple[str, str, int]], folder: Path, total: Campaign
) -> Iterator[str]:
    file = folder / "breakers.yaml"
    entries = [f"  - column: {one}" for one in truth.planted.broken_columns]
    entries += [f"  - edge: [{a}, {b}]" for a, b in truth.planted.broken_edges]
    file.write_text("breakers:\n" + "".join(f"{one}\n    why: x\n    at: 2026-01-01\n" for one in entries))
    breakers = read_breakers(file, store) if entries else None
    for classes in ((), ("email",)):
        report = make_report(
            store, classify(store, default_rules()), value_functions(), NOW, classes=classes, breakers=breakers
        )
        expected = truth.sources(classes)
        found = {_name(one.key): one for one in report.sources}
        yield from _of_sets("source", found, expected)
        for column in found.keys() & expected.keys():
            yield from _of_source(column, found[column], expected[column], truth, classes)
            _count(total, expected[column])
        if not classes:
            yield from _of_readers(store, report, reads, expected, total)
        total.sources += len(expected)


def _count(total: Campaign, found: Found) -> None:
    total.exposures.update(exposure for exposure, _ in found.reached.values())
    total.influenced += len(found.influenced)
    total.stopped += len(found.stopped)


def _of_source(
    column: str, source: SourceColumn, expected: Found, truth: Truth, classes: Iterable[str]
) -> Iterator[str]:
    holders = {_name(one.key): one for one in source.holders}
    shown = {name: (str(one.exposure), one.hops) for name, one in holders.items()}
    yield from (f"reached: {column} {one}" for one in _of_dicts(shown, expected.reached))
    influenced = {_influenced(one.key): one.masked for one in source.influenced}
    yield from (f"influenced: {column} {one}" for one in _of_dicts(influenced, expected.influenced))
    yield from (f"stopped: {column} {one}" for one in _of_sets("", source.stopped, expected.stopped))
    asked = set(classes)
    names = {one for one in truth.classes(column) if not asked or one in asked}
    sure = truth.confidence(column, names)
    for name, one in holders.items():
        if abs(one.confidence - sure * CONFIDENCE[str(one.exposure)]) > 1e-9:
            yield f"confidence: {column} in {name} {one.confidence}"
        ends = [(step.source, step.target) for step in one.path]
        if (ends[0][0], ends[-1][1]) != (source.name, one.name) or any(a[1] != b[0] for a, b in pairwise(ends)):
            yield f"path: {column} to {name}: {ends}"
        pairs = {(flow.source, flow.target) for flow in truth.flows.get(column, ()) if flow.rank is not None}
        if one.hops == 1 and (column, name) not in pairs:
            yield f"path: {column} to {name} is no step"


def _of_readers(
    store: GraphStore, report: PiiReport, reads: list[tuple[str, str, int]], expected: dict[str, Found], total: Campaign
) -> Iterator[str]:
    holders: dict[str, str] = dict.fromkeys(expected, "unmasked")
    for found in expected.values():
        for column, (exposure, _) in found.reached.items():
            holders[column] = min(holders.get(column, exposure), exposure, key=tuple(CONFIDENCE).index)
    wanted = {(user, column): (number, holders[column]) for user, column, number in reads if column in holders}
    total.readers += len(wanted)
    try:
        audit = audit_access(store, report)
    except NoLogError:
        if reads:
            yield "reader: no log"
        return
    given = {
        (one.user, _name(one.key)): (one.queries, str(one.exposure)) for one in audit.accesses if one.user in _USERS
    }
    yield from (f"reader: {one}" for one in _of_dicts(given, wanted))


def _of_dicts(found: Mapping[Any, object], expected: Mapping[Any, object]) -> Iterator[str]:
    for key in sorted({*found, *expected}, key=str):
        if found.get(key) != expected.get(key):
            yield f"{key}: found {found.get(key)}, expected {expected.get(key)}"


def _of_sets(what: str, found: Iterable[str], expected: Iterable[str]) -> Iterator[str]:
    have, want = set(found), set(expected)
    yield from (f"{what}: found {one}" for one in sorted(have - want))
    yield from (f"{what}: expected {one}" for one in sorted(want - have))


def _name(key: str) -> str:
    dataset, path = split_column_key(key)
    return f"{split_dataset_key(dataset)[1]}.{path}"


def _influenced(key: str) -> str:
    return _name(key) if "#" in key else f"{split_dataset_key(key)[1]} (rows)"


# The command


def _parts(numbers: range, seed: int, shrink_seconds: float, jobs: int) -> Iterator[Campaign]:
    parts = [range(at, min(at + 5, numbers.stop)) for at in range(numbers.start, numbers.stop, 5)]
    if jobs == 1:
        yield from (run(part, seed, shrink_seconds) for part in parts)
        return
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        for done in as_completed([pool.submit(run, part, seed, shrink_seconds) for part in parts]):
            yield done.result()


def main() -> int:
    """Check the warehouses that the command line asks for, and print what differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.governance.warehouses", description=__doc__)
    parser.add_argument("warehouses", type=int, help="how many")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same warehouses")
    parser.add_argument("--first", type=int, default=0, help="the number of the first warehouse")
    parser.add_argument("--shrink", type=float, default=60.0, help="seconds to shrink a failure, 0: not at all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one per core)")
    given = parser.parse_args()
    total = Campaign()
    began = perf_counter()
    numbers = range(given.first, given.first + given.warehouses)
    for part in _parts(numbers, given.seed, given.shrink, given.jobs):
        total.add(part)
        for failure in part.failures:
            print(f"\n{failure}", flush=True)
        print(f"\r{total.warehouses:,} of {given.warehouses:,}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(f"{total}; {perf_counter() - began:.0f} s")
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main())
