"""`lineage diff` of one edit in a project of 2,000 models, as dbt target folders and as folders of SQL files.

Each command is a process of its own, as a pull request runs it. Its time is compared with that of parsing the SQL of
one side.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from lineage.model.dialects import dialect_named
from lineage.sql.budget import Budget
from lineage.sql.parse.statements import parse_statements
from tests.benchmarks._dbt_project import edit_model, make_manifest, write_manifest
from tests.benchmarks.dbt import command_environment
from tests.benchmarks.folder_edits import write_files

MODELS, COLUMNS = 2_000, 20
EDITED = {"mart": 1_900, "intermediate": 1_000, "staging": 50}
"""A model that nobody reads, one that few read, one on which many depend."""


def run() -> dict[str, Any]:
    """Return seconds of the clock and of the processor, their ratio to parsing, and the memory."""
    manifest = make_manifest(MODELS, COLUMNS)
    texts = [node["compiled_code"] for key, node in manifest["nodes"].items() if key.startswith("model.")]
    began = time.process_time()
    for text in texts:
        list(parse_statements(text, dialect_named("postgres"), Budget()))
    parsing = time.process_time() - began
    figures: dict[str, Any] = {"models": MODELS, "parse_cpu_seconds": round(parsing, 2)}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        files = {side: write_files(folder / side, folder / f"{side}.catalog.sql", MODELS) for side in ("old", "new")}
        for name, number in EDITED.items():
            file, before = files["new"][number], files["old"][number].read_text()
            file.write_text(before.replace(" as c1,", " || 'x' as c1,", 1))
            options = ["--base", "old", "--head", "new", "--dialect", "postgres", "--catalog", "old.catalog.sql"]
            figures |= _diff(f"sql_{name}", options, folder, parsing)
            file.write_text(before)
        write_manifest(manifest, folder / "base")
        for name, number in EDITED.items():
            edited = make_manifest(MODELS, COLUMNS)
            edit_model(edited, number)
            write_manifest(edited, folder / "head")
            figures |= _diff(f"dbt_{name}", ["--base", "base", "--head", "head"], folder, parsing)
    return figures


def _diff(name: str, options: list[str], folder: Path, parsing: float) -> dict[str, Any]:
    command = [sys.executable, "-c", "from lineage.cli.main import run; run()", "diff", *options, "--format", "json"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    environment = command_environment(folder / "cache")
    subprocess.run(command, check=True, capture_output=True, env=environment, cwd=folder)
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        f"{name}_seconds": round(seconds, 2),
        f"{name}_cpu_to_parse_cpu": round(cpu / parsing, 1),
        f"{name}_peak_megabytes": round(after.ru_maxrss / 1024),
    }
