"""The samples of tests/data/query_logs/forms: each form that a product writes its log in, and what is read of it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from lineage.store import open_store
from lineage_ingest.query_log import normalised, read_log, source_named
from lineage_ingest.query_log.ingest import ingest_log
from lineage_ingest.query_log.pipeline.extraction import Setting
from lineage_ingest.query_log.pipeline.opening import EngineKind, LogInput, SparkOptions, open_engine
from tests.query_logs.samples import spelled

__all__ = ["FOLDER", "Form", "forms", "read_edges", "read_rows"]

FOLDER = Path(__file__).parents[1] / "data" / "query_logs" / "forms"


class Form(NamedTuple):
    """A sample of a source in one of its forms: a file, or a folder of files that belong together."""

    source: str
    path: Path
    title: str
    page: str

    @property
    def expected_rows(self) -> list[dict[str, Any]]:
        own = self.path.parent / f"{self.path.name.partition('.')[0]}.rows.jsonl"
        text = (own if own.exists() else self.path.parent / "rows.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    @property
    def expected_edges(self) -> list[str]:
        return (self.path.parent / "edges.txt").read_text().splitlines()


def forms() -> list[Form]:
    """Return all samples, as forms.toml lists them."""
    listed = tomllib.loads((FOLDER / "forms.toml").read_text())
    return [
        Form(source, FOLDER / source / name, about["title"], about["page"])
        for source, samples in listed.items()
        for name, about in samples.items()
    ]


def read_rows(form: Form, path: Path | None = None) -> list[dict[str, Any]]:
    """Return what is read of a sample, in the order in which the statements of a session follow each other.

    MySQL's sessions are named by their files, which is left out.
    """
    source = source_named(form.source)
    batches = normalised(read_log(source, [path or form.path]), source)
    found = [spelled(row, source) for batch in batches for row in batch.to_pylist()]
    if form.source == "mysql":
        for row in found:
            row.pop("session", None)
    return sorted(found, key=lambda row: (row.get("started_at", ""), row.get("position", 0)))


def read_edges(form: Form, store: Path) -> list[str]:
    """Return the edges between columns that the graph has after a sample was ingested, one a line."""
    given = LogInput(source_named(form.source), (str(form.path),))
    at = datetime(2026, 3, 1, tzinfo=UTC)
    with open_store(store) as opened, open_engine(given, EngineKind.LOCAL, SparkOptions()) as engine:
        ingest_log(engine, opened, Setting(given.name, at))
        edges = opened.edges_of(opened.job_keys())
    return sorted({f"{_name(e.source)} -> {_name(e.target)}" for e in edges if e.kind == "CONTRIBUTES"})


def _name(key: str) -> str:
    return key.partition("/")[2].replace("#", ".")


def listed_files() -> Iterator[Path]:
    """Yield the samples that lie in the folders of sources."""
    for folder in filter(Path.is_dir, FOLDER.iterdir()):
        yield from (p for p in folder.iterdir() if not p.name.endswith("rows.jsonl") and p.name != "edges.txt")
