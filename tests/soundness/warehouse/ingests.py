"""The ways into a store, and the questions to it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lineage import Catalog
from lineage.model.diagnostics import DiagnosticCode
from lineage.sql.extraction import options_for
from lineage.store.protocol import GraphStore
from lineage.store.values import GraphDump
from lineage.traversal import TraversalOptions, UnknownNameError, broken_reads, impact, resolve_column, root_cause
from lineage.traversal.answer import Answer
from lineage_ingest.openlineage.ingest import EventIngest
from lineage_ingest.query_log import source_named
from lineage_ingest.query_log.ingest import ingest_log_rows
from lineage_ingest.query_log.pipeline.engines.opening import EngineKind, SparkOptions, open_engine
from lineage_ingest.query_log.pipeline.extraction import LogContext
from lineage_ingest.query_log.pipeline.log_input import LogInput
from lineage_ingest.sql_files import ingest_sql_files
from tests.soundness.warehouse.events import events_of
from tests.soundness.warehouse.render import sql_of
from tests.soundness.warehouse.tree import HOME, CreateTable, File, Part, Run, State, Warehouse
from tests.soundness.warehouse.world import Lineage, World

__all__ = ["Answers", "Ingester", "ask", "day_of", "frozen"]

_FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
_MOVES = {"last_seen", "observations", "observed_at", "seconds"}
DIALECT = "duckdb"
_CAUSES = 8
"""The root causes of about so many columns are asked for."""


def day_of(number: int) -> datetime:
    """Return when a state of files held, or a part of a log began."""
    return _FIRST_DAY + timedelta(days=number)


class Ingester:
    """Brings a warehouse into a store, one state or part at a time."""

    def __init__(self, warehouse: Warehouse, store: GraphStore, folder: Path, engine: EngineKind) -> None:
        self._warehouse = warehouse
        self._store = store
        self._folder = folder
        self._engine = engine
        self._catalog = catalog_of(warehouse)

    def state(self, number: int, *, everything: bool = False) -> None:
        """Write the files of a state, and ingest what is ingested then, or all projects."""
        state = self._warehouse.states[number]
        self._write(state)
        options = options_for(DIALECT, default_schema=HOME)
        projects = dict.fromkeys(file.project for file in state.files) if everything else state.ingested
        paths = [self._folder / path for path in projects]
        # Projects together, or one after the other.
        for some in [paths] if number % 2 else [[path] for path in paths]:
            ingest_sql_files(some, self._store, options, self._catalog, observed_at=day_of(number), retire_most=True)

    def part(self, number: int) -> None:
        """Ingest a part of the log."""
        self._log([number])

    def whole(self) -> None:
        """Ingest all parts of the log as one file."""
        self._log(range(len(self._warehouse.parts)))

    def _log(self, numbers: Sequence[int]) -> None:
        number = numbers[-1]
        path = self._folder / f"log{number}.jsonl"
        lines = [json.dumps(row) for each in numbers for row in self._rows(self._warehouse.parts[each], each)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        given = LogInput(source_named("generic", dialect=DIALECT), (str(path),))
        with open_engine(given, self._engine, SparkOptions()) as engine:
            context = LogContext(given.name, day_of(number) + timedelta(hours=22), schema=HOME)
            ingest_log_rows(engine, self._store, context, self._catalog)

    def events(self, number: int) -> None:
        """Take the events of a part's statements."""
        part = self._warehouse.parts[number]
        world = World()
        for before in self._warehouse.parts[:number]:
            for run in before.runs:
                world.apply(run.session, run.step)
        outcomes = EventIngest(self._store).take(
            list(events_of(world, part.runs, day_of(number), facets_too=self._warehouse.facets_too))
        )
        refused = [outcome for outcome in outcomes if not outcome.accepted or outcome.warnings]
        if refused:
            raise ValueError(f"an event was refused: {refused[0]}")

    def _rows(self, part: Part, number: int) -> Iterator[dict[str, object]]:
        for minute, run in enumerate(part.runs):
            if self._is_written(run):
                yield {
                    "query_text": sql_of(run.step),
                    "started_at": (day_of(number) + timedelta(minutes=minute)).isoformat(),
                    "session": f"session {number}.{run.session}",
                    "user": "ann",
                }

    def _write(self, state: State) -> None:
        wanted = {self._folder / file.project / file.path: self._text(file) for file in state.files}
        for old in self._folder.rglob("*.sql"):
            if old not in wanted:
                old.unlink()
        for path, text in wanted.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        for project in {file.project for file in state.files}:
            (self._folder / project / "dbt_project.yml").write_text(f"name: {project}\n", encoding="utf-8")

    def _text(self, file: File) -> str:
        return "".join(f"{sql_of(run.step)};\n" for run in file.runs if self._is_written(run)) or "SELECT 1;\n"

    def _is_written(self, run: Run) -> bool:
        return self._warehouse.known == "input" or not isinstance(run.step, CreateTable)


def catalog_of(warehouse: Warehouse) -> Catalog | None:
    """Return the catalog that is given beside the input; None where all is in the input."""
    if warehouse.known == "input":
        return None
    runs: list[Run] = [run for part in warehouse.parts for run in part.runs]
    runs += [run for state in warehouse.states for file in state.files for run in file.runs]
    steps = [run.step for run in runs if isinstance(run.step, CreateTable)]
    # They are made first of all, where every session begins.
    tables = {step.name if "." in step.name else f"{HOME}.{step.name}": step.columns for step in steps}
    return Catalog.from_dict({table: [name for name, _ in columns] for table, columns in tables.items()}, DIALECT)


_NO_COLUMN = re.compile(r"no column `(?P<column>[^`]+)` in (?P<table>\S+)")


@dataclass(frozen=True, slots=True)
class Answers:
    """What impact and root cause answer, as names of columns; None where the start is unknown."""

    impact: dict[str, frozenset[str] | None]
    causes: dict[str, frozenset[str] | None]
    unknown: frozenset[str] = frozenset()
    """Columns that a query names and a known table does not have: a diagnostic or a note of the answer names them."""


def ask(store: GraphStore, lineage: Lineage, as_of: datetime | None = None, *, both: bool = True) -> Answers:
    """Return the answers about the columns of base tables, and about all that must be reached."""
    options = TraversalOptions(as_of=as_of, max_hops=60)
    outputs = sorted({output for reached in lineage.must.values() for output in reached}) if both else []
    outputs = outputs[:: max(1, len(outputs) // _CAUSES)]
    return Answers(
        {base: _asked(store, base, options, impact) for base in lineage.must},
        {output: _asked(store, output, options, root_cause) for output in outputs},
        frozenset(_unknown(store)).union(read.name for read in broken_reads(store, store.dataset_keys())),
    )


def _unknown(store: GraphStore) -> Iterator[str]:
    """Yield the columns of which a diagnostic says that their table lacks them, by what that is called today too."""
    datasets = store.datasets()
    inferred = [(one.dataset, one.path) for one in store.columns([d.key for d in datasets]) if one.inferred]
    names = {dataset.key: dataset.name for dataset in datasets}
    renamed = [(alias, dataset.name) for dataset in datasets for alias in dataset.aliases]
    for one in store.diagnostics():
        if one.diagnostic.code is DiagnosticCode.UNKNOWN_COLUMN and (match := _NO_COLUMN.match(one.diagnostic.message)):
            yield f"{match['table']}.{match['column']}"
            yield from (f"{name}.{match['column']}" for alias, name in renamed if alias == match["table"])
            if match["table"] not in names.values():  # a log renamed what it made: that has its last name only
                yield from (f"{names[key]}.{path}" for key, path in inferred if path == match["column"])


def _asked(store: GraphStore, name: str, options: TraversalOptions, question) -> frozenset[str] | None:  # type: ignore[no-untyped-def]
    try:
        answer: Answer = question(store, resolve_column(store, name), options)
    except UnknownNameError:
        return None
    return frozenset(f"{each.table}.{each.key.rpartition('#')[2]}" for each in answer.outlines)


def frozen(dump: GraphDump) -> tuple[Sequence[object], Sequence[object]]:
    """Return a graph as it can be compared: without what every ingest moves."""
    nodes = [
        (label, key, {k: v for k, v in properties.items() if k not in _MOVES}) for label, key, properties in dump.nodes
    ]
    relationships = [
        (kind, start, end, {k: v for k, v in properties.items() if k not in _MOVES})
        for kind, start, end, properties in dump.relationships
    ]
    return nodes, relationships
