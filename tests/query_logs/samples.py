"""The samples of tests/data/query_logs, and their rows as the expected files spell them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lineage_ingest.query_log import SOURCES, Source, normalize_rows, read_log, source_named

__all__ = ["FOLDER", "expected_rows", "normalised_rows", "sample", "spelled"]

FOLDER = Path(__file__).parents[1] / "data" / "query_logs"
_EXPECTED = ".expected.jsonl"


def sample(name: str) -> tuple[Source, Path]:
    """Return a source, set as its sample needs it, and the sample."""
    [file] = [p for p in FOLDER.glob(f"{name}.*") if not p.name.endswith((_EXPECTED, ".options.json"))]
    options = FOLDER / f"{name}.options.json"
    return source_named(name, **(json.loads(options.read_text()) if options.exists() else {})), file


def normalised_rows(source: Source, batches: Iterable[Any], *, clustered: bool = False) -> list[dict[str, Any]]:
    return [
        spelled(row, source)
        for batch in normalize_rows(batches, source, clustered=clustered)
        for row in batch.to_pylist()
    ]


def spelled(row: dict[str, Any], source: Source) -> dict[str, Any]:
    """Return a row of the log schema without what goes without saying."""
    unsaid = {"runs": 1, "truncated": False, "is_script": False, "dialect": source.dialect}
    said = {name: value for name, value in row.items() if value is not None and unsaid.get(name, ...) != value}
    if "started_at" in said:
        said["started_at"] = said["started_at"].isoformat().replace("+00:00", "Z")
    if "session" in said:  # some have their file's name in theirs
        said["session"] = said["session"].replace(f"{FOLDER}/", "")
    return said


def expected_rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{name}{_EXPECTED}").read_text().splitlines()]


def main() -> None:
    """Write the expected rows of every sample anew, to be proof-read as a diff."""
    for name in SOURCES:
        source, file = sample(name)
        rows = normalised_rows(source, read_log(source, [file]))
        lines = (json.dumps(row, ensure_ascii=False) for row in rows)
        (FOLDER / f"{name}{_EXPECTED}").write_text("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main()
