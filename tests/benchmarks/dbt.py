"""A generated dbt project of 2,000 models and 40,000 columns: the first ingest against parsing its SQL, then one edit.

Each command is a process of its own, as a user runs it: with its start, reading the artifacts, and storing. `bare` is a
process that only does what no ingest can leave out: it reads the manifest, parses the SQL, and copies in rows that it
was given.
"""

from __future__ import annotations

import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from lineage.model.dialects import dialect_named
from lineage.sql.budget import Budget
from lineage.sql.parse.statements import parse_statements
from tests.benchmarks import _bare_dbt_ingest
from tests.benchmarks._bare_dbt_ingest import save_rows
from tests.benchmarks._dbt_project import edit_model, make_manifest, set_hook, write_manifest

MODELS, COLUMNS = 2_000, 20
EDITED = (1_900, 1_000, 50)
"""A mart, an intermediate model, a staging model."""
HOOKS = {
    "grants": "grant select on {{ this }} to reader",
    "logging": "insert into audit.built select count(*) from {{ this }}",
}
"""What projects run after each model, by a setting for all of them."""


def run() -> dict[str, Any]:
    """Return seconds of processor time and of the clock, their ratios, and the memory."""
    manifest = make_manifest(MODELS, COLUMNS)
    texts = [node["compiled_code"] for key, node in manifest["nodes"].items() if key.startswith("model.")]
    parsing = min(_parse(texts) for _ in range(3))
    figures: dict[str, Any] = {
        "models": MODELS,
        "columns": MODELS * COLUMNS,
        "sql_megabytes": round(sum(map(len, texts)) / 1e6, 1),
        "parse_cpu_seconds": round(parsing, 2),
    }
    with tempfile.TemporaryDirectory() as folder:
        _compile_modules(Path(folder) / "first")
        target = Path(folder) / "target"
        write_manifest(manifest, target)
        figures["manifest_megabytes"] = round((target / "manifest.json").stat().st_size / 1e6, 1)
        first = _ingest(target)
        figures |= {f"first_{name}": value for name, value in first.items()}
        figures["first_cpu_to_parse_cpu"] = round(first["cpu_seconds"] / parsing, 1)
        bare = _bare(target / "manifest.json", Path(folder))
        figures["bare_cpu_seconds"] = round(bare, 2)
        figures["bare_cpu_to_parse_cpu"] = round(bare / parsing, 1)
        again = []
        for number in EDITED:
            edit_model(manifest, number)
            write_manifest(manifest, target)
            again.append(_ingest(target))
        figures["after_an_edit_seconds"] = statistics.median(one["seconds"] for one in again)
        figures["after_an_edit_cpu_seconds"] = statistics.median(one["cpu_seconds"] for one in again)
        figures["after_an_edit_models"] = [MODELS - one["unchanged"] for one in again]
        for name, hook in HOOKS.items():
            set_hook(manifest, hook)
            write_manifest(manifest, target)
            _ingest(target)
            edit_model(manifest, EDITED[0])
            write_manifest(manifest, target)
            figures[f"after_an_edit_with_{name}_seconds"] = _ingest(target)["seconds"]
    return figures


def _parse(texts: list[str]) -> float:
    began = time.process_time()
    for text in texts:
        list(parse_statements(text, dialect_named("postgres"), Budget()))
    return time.process_time() - began


def _bare(manifest: Path, folder: Path) -> float:
    """Return the processor seconds that reading, parsing and copying alone take; the store is filled."""
    save_rows(folder / "store.db", folder / "rows")
    command = [sys.executable, "-m", _bare_dbt_ingest.__name__, str(manifest), str(folder / "rows")]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*command, str(folder / "bare.db")], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def command_environment(cache: Path) -> dict[str, str]:
    """Return the environment of a command: as installed, with compiled modules."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "XDG_CACHE_HOME": str(cache)}


def _compile_modules(folder: Path) -> None:
    """Ingest a small project, which compiles every module that a first ingest imports."""
    write_manifest(make_manifest(400, COLUMNS), folder / "small")
    _ingest(folder / "small")


def _ingest(target: Path) -> dict[str, Any]:
    """Run the command in a process of its own; return its time, processor time, memory and the unchanged models."""
    command = [sys.executable, "-c", "from lineage.cli.main import run; run()", "ingest", "dbt", str(target),
               "--store", str(target.parent / "store.db"), "--format", "json"]  # fmt: skip
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    environment = command_environment(target.parent / "cache")
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    printed = json.loads(re.sub(r"^[^{]*", "", done.stdout))
    return {
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu, 2),
        "peak_megabytes": round(after.ru_maxrss / 1024),
        "unchanged": printed["unchanged"],
    }
