"""`ingest_sql_files`: a folder of SQL into the graph, in one batch."""

from __future__ import annotations

import hashlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lineage.catalog import Catalog
from lineage.model.batch import DiagnosticRecord, LineageBatch
from lineage.model.diagnostics import Severity
from lineage.model.statement import StatementLineage
from lineage.sql.extractor import ExtractionOptions
from lineage.sql.script import Script
from lineage.store.protocol import AppliedChanges, GraphStore
from lineage_ingest.batching import BatchBuilder, of_files
from lineage_ingest.sql_files.reading import find_sql_files, read_sql_file
from lineage_ingest.stars import opened_stars

__all__ = ["IngestSummary", "ingest_sql_files"]

Progress = Callable[[str, int, int], None]
"""Told a stage's name, how much of it is done, and of how much."""


@dataclass(frozen=True, slots=True)
class IngestSummary:
    """What an ingest read, resolved and changed."""

    batch: LineageBatch
    applied: AppliedChanges
    seconds: float

    @property
    def diagnostics(self) -> tuple[DiagnosticRecord, ...]:
        """Everything that was found on the way."""
        return self.batch.diagnostics

    @property
    def has_errors(self) -> bool:
        """Whether some of the input could not be used."""
        return any(d.diagnostic.severity is Severity.ERROR for d in self.batch.diagnostics)

    def to_dict(self) -> dict[str, int | float]:
        """Return the counts, and the seconds that it took."""
        return {**self.batch.run.counts, "edges_created": self.applied.edges_created, "seconds": round(self.seconds, 2)}


def ingest_sql_files(
    paths: Iterable[Path],
    store: GraphStore,
    options: ExtractionOptions,
    catalog: Catalog | None = None,
    *,
    observed_at: datetime | None = None,
    progress: Progress | None = None,
) -> IngestSummary:
    """Read SQL files, resolve them against each other, the catalog and the store, and store what they say.

    `observed_at` is when the files' definitions held (now, if it is left out).

    Raises:
        NoSqlFilesError: a path does not exist, or a folder holds no SQL file.
        StoreError: the store could not be read or written; nothing is stored then.
    """
    began = time.perf_counter()
    notify = progress or (lambda _stage, _done, _total: None)
    naming = options.naming
    files = [read_sql_file(name, path) for name, path in find_sql_files(paths).items()]
    given = catalog if catalog is not None else Catalog((), naming.dialect)
    learnt = Catalog.from_store(store, naming.dialect, naming.dataset_namespace)
    texts = {file.name: file.text for file in files}
    script = Script(texts, options, learnt.updated(given))
    statements = script.resolve(lambda done, total: notify("resolving", done, total))
    by_file: dict[str, list[StatementLineage]] = defaultdict(list)
    for statement in statements:
        by_file[statement.source or ""].append(statement)
    at = observed_at or datetime.now(UTC)
    builder = BatchBuilder(naming, given, at, of_files(at))
    for file in files:
        for problem in file.problems:
            builder.add_diagnostic(file.name, problem)
        builder.add_file(file.name, file.text, by_file[file.name])
    content = [
        naming.dialect.name,
        naming.dataset_namespace,
        naming.default_database or "",
        naming.default_schema or "",
        *(f"{name}={hashlib.sha256(text.encode()).hexdigest()}" for name, text in sorted(texts.items())),
    ]
    batch = builder.batch("sql", ", ".join(sorted(texts)[:3]), content, time.perf_counter() - began)
    notify("storing", 0, 1)
    applied = store.apply(batch)
    described = (record.key for record in batch.datasets if record.schema_known)
    for opened in opened_stars(store, described, batch.run.at):
        applied += store.apply(opened)
    notify("storing", 1, 1)
    return IngestSummary(batch, applied, time.perf_counter() - began)
