"""A folder of 2,000 SQL files: a first run, and one after an edit of one file, of `lineage extract` and `ingest sql`.

Each command is a process of its own, as a user runs it: with its start, reading the files, and the output or the store.
"""

from __future__ import annotations

import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.benchmarks._dbt_project import make_manifest
from tests.benchmarks.dbt import command_environment

FILES, COLUMNS = 2_000, 20
EDITED = (1_900, 1_000, 50)
"""A table that is read by few, one in the middle, a view on a base table."""


def run() -> dict[str, Any]:
    """Return seconds of the clock and of the processor, their ratios, and the memory."""
    figures: dict[str, Any] = {"files": FILES, "columns": FILES * COLUMNS}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        files = write_files(root / "models", root / "catalog.sql", FILES)
        options = ["--dialect", "postgres", "--catalog", "catalog.sql"]
        commands = {
            "extract": ["extract", *options, "--format", "json", *(f"models/{one.name}" for one in files)],
            "ingest_sql": ["ingest", "sql", "models", *options, "--project", "p", "--project-root", "models"],
        }
        for name, command in commands.items():
            first = _run(command, root)
            again = []
            for number in EDITED:
                files[number].write_text(files[number].read_text().replace(" as c1,", " || 'x' as c1,", 1))
                again.append(_run(command, root))
            seconds, cpu = (statistics.median(one[what] for one in again) for what in ("seconds", "cpu_seconds"))
            figures |= {f"{name}_first_{what}": value for what, value in first.items()}
            figures |= {
                f"{name}_after_an_edit_seconds": seconds,
                f"{name}_after_an_edit_cpu_seconds": cpu,
                f"{name}_after_an_edit_peak_megabytes": max(one["peak_megabytes"] for one in again),
                f"{name}_after_an_edit_resolved": [one["resolved"] for one in again],
                f"{name}_first_to_after_an_edit": round(first["seconds"] / seconds, 1),
                f"{name}_first_to_after_an_edit_by_cpu": round(first["cpu_seconds"] / cpu, 1),
            }
    return figures


def write_files(folder: Path, catalog: Path, files: int) -> list[Path]:
    """Write a file for each model of a generated project, and the DDL of its sources; return the files in order."""
    manifest = make_manifest(files, COLUMNS)
    folder.mkdir()
    written = []
    for key, node in manifest["nodes"].items():
        if key.startswith("model."):
            kind = str(node["config"]["materialized"]).upper()
            written.append(folder / f"{node['name']}.sql")
            written[-1].write_text(f"CREATE {kind} {node['relation_name']} AS\n{node['compiled_code']};\n")
    tables = []
    for source in manifest["sources"].values():
        columns = ", ".join(f"{name} {column['data_type']}" for name, column in source["columns"].items())
        tables.append(f"CREATE TABLE {source['relation_name']} ({columns});")
    catalog.write_text("\n".join(tables))
    return written


def _run(command: list[str], folder: Path) -> dict[str, Any]:
    program = [sys.executable, "-c", "from lineage.cli.main import run; run()", *command]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    environment = command_environment(folder / "cache")
    done = subprocess.run(program, check=True, capture_output=True, text=True, env=environment, cwd=folder)
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    resolved = re.search(r"^([\d,]+) of [\d,]+ files resolved", done.stdout[-2_000:] + done.stderr, re.MULTILINE)
    return {
        "seconds": round(seconds, 2),
        "cpu_seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2),
        "peak_megabytes": round(after.ru_maxrss / 1024),
        "resolved": int(resolved.group(1).replace(",", "")) if resolved is not None else FILES,
    }
