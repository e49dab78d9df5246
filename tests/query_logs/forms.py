"""The samples of tests/data/query_logs/forms: each form that a product writes its log in, and what is read of it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from lineage.store import open_store
from lineage_ingest.query_log import SOURCES, Source, read_log, source_named
from lineage_ingest.query_log.ingest import ingest_log_rows
from lineage_ingest.query_log.pipeline.engines.opening import EngineKind, SparkOptions, open_engine
from lineage_ingest.query_log.pipeline.extraction import LogContext
from lineage_ingest.query_log.pipeline.log_input import LogInput
from tests.query_logs.samples import FOLDER as SAMPLES
from tests.query_logs.samples import normalised_rows, sample

__all__ = ["FOLDER", "Form", "forms", "in_order", "listed_files", "read_edges", "read_rows", "usual_forms"]

FOLDER = SAMPLES / "forms"
_AT = datetime(2026, 3, 1, tzinfo=UTC)
_KINDS = {".csv": "CSV", ".jsonl": "JSON lines", ".log": "its own log, as text"}


class Form(NamedTuple):
    """A sample of a source in one of its forms: a file, or a folder of files that belong together."""

    source: str
    path: Path
    title: str
    page: str
    rows: Path
    """What is read of it, written by hand."""
    edges: Path

    @property
    def read_as(self) -> Source:
        """The source, set to what the user says of this log."""
        return sample(self.source)[0] if self.path.parent == SAMPLES else source_named(self.source)

    @property
    def expected_rows(self) -> list[dict[str, Any]]:
        return in_order(self.source, [json.loads(line) for line in self.rows.read_text().splitlines()])

    @property
    def expected_edges(self) -> list[str]:
        return self.edges.read_text().splitlines()


def forms() -> list[Form]:
    """Return all samples of forms.toml."""
    listed = tomllib.loads((FOLDER / "forms.toml").read_text())
    found = []
    for source, samples in listed.items():
        for name, about in samples.items():
            folder = FOLDER / source
            own = folder / f"{name.partition('.')[0]}.rows.jsonl"
            rows = own if own.exists() else folder / "rows.jsonl"
            found.append(Form(source, folder / name, about["title"], about["page"], rows, folder / "edges.txt"))
    return found


def usual_forms() -> list[Form]:
    """Return the samples of tests/data/query_logs, one a source, with the traps of each."""
    return [
        Form(
            name,
            sample(name)[1],
            _KINDS[sample(name)[1].suffix],
            source.documentation[0] if source.documentation else "",
            SAMPLES / f"{name}.expected.jsonl",
            SAMPLES / "edges" / f"{name}.txt",
        )
        for name, source in SOURCES.items()
    ]


def in_order(source: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows in the order of their times and positions. MySQL's sessions have the file's name in theirs."""
    named = [{k: v for k, v in row.items() if source != "mysql" or k != "session"} for row in rows]
    return sorted(named, key=lambda row: (row.get("started_at", ""), row.get("position", 0)))


def read_rows(form: Form, path: Path | None = None) -> list[dict[str, Any]]:
    """Return what is read of a sample, or of the same in another file."""
    source = form.read_as
    return in_order(form.source, normalised_rows(source, read_log(source, [path or form.path])))


def read_edges(form: Form, store: Path) -> list[str]:
    """Return the edges between columns that the graph has after a sample was ingested, one a line."""
    given = LogInput(form.read_as, (str(form.path),))
    dated = any("started_at" in row for row in form.expected_rows)
    context = LogContext(given.name, _AT, observed_at=None if dated else _AT)
    with open_store(store) as opened, open_engine(given, EngineKind.LOCAL, SparkOptions()) as engine:
        ingest_log_rows(engine, opened, context)
        edges = opened.edges_of(opened.job_keys())
    return sorted({f"{_name(e.source)} -> {_name(e.target)}" for e in edges if e.kind == "CONTRIBUTES"})


def _name(key: str) -> str:
    return key.partition("/")[2].replace("#", ".")


def listed_files() -> Iterator[Path]:
    """Yield the samples that lie in the folders of sources."""
    for folder in filter(Path.is_dir, FOLDER.iterdir()):
        yield from (p for p in folder.iterdir() if not p.name.endswith("rows.jsonl") and p.name != "edges.txt")
