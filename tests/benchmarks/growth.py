"""Extraction, ingest, propagation of tags, traversal and the service at 1, 10 and 100 times 20,000 columns.

The estate is generated (`_estate`): SQL in projects of 1,200 files, which are ingested one after the other, as teams
do. Everything is measured in processes of their own: seconds of the clock and of the processor, peak memory. What is
measured is kept in `build/growth`, so that a run that was stopped goes on; `docs/growth.md` and its picture are written
from it. LINEAGE_BENCHMARK_CACHE names the folder of estates and stores; 100 times takes 2 GB, and 6 GB of disk.

python -m tests.benchmarks.growth           all that is not measured yet
python -m tests.benchmarks.growth 1 10      these scales only
python -m tests.benchmarks.growth --again   measure all anew
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks._estate import DATABASE, DIALECT, NAMESPACE, Estate
from tests.benchmarks._growth_page import write_page
from tests.benchmarks._layered_stores import cache_folder, embedded_path

ON_REQUEST = True

SCALES = (1, 10, 100)
INGESTED = 10
"""Larger estates are loaded directly, and one more project is ingested into them: all would take an hour or more."""
ROOT = Path(__file__).parents[2]
KEPT = ROOT / "build" / "growth"
LINEAGE = str(Path(sys.executable).with_name("lineage"))
STAGES = ("extraction", "ingest", "traversal", "propagation", "service")
Figures = dict[str, Any]


def run(scales: Sequence[int] = SCALES, measure: bool = True) -> Figures:
    """Measure what is not measured yet; return all figures that are known, by scale."""
    KEPT.mkdir(parents=True, exist_ok=True)
    measured: Figures = {}
    for scale in scales:
        estate = Estate(scale, cache_folder() / f"estate{scale}")
        for stage in STAGES:
            kept = KEPT / f"{stage}{scale}.json"
            if measure and not kept.exists():
                print(f"{stage}, {estate.columns:,} columns", flush=True)
                if stage == "extraction" or scale <= INGESTED:
                    estate.write()
                kept.write_text(json.dumps(_measure(stage, estate), indent=2) + "\n", encoding="utf-8")
            sizes = {"scale": scale, "columns": estate.columns, "edges": estate.graph.edges}
            figures = measured.setdefault(str(scale), sizes)
            if kept.exists():
                figures[stage] = json.loads(kept.read_text(encoding="utf-8"))
    return measured


def _measure(stage: str, estate: Estate) -> Figures:
    if stage == "extraction":
        return _child(stage, estate)
    ingested = estate.scale <= INGESTED
    store = cache_folder() / f"estate{estate.scale}.db" if ingested else embedded_path(estate.graph)
    if stage == "ingest":
        return _ingested(estate, store) if ingested else _one_more(estate, store)
    return _child(stage, estate, str(store))


def _child(stage: str, estate: Estate, *stores: str) -> Figures:
    command = [sys.executable, "-m", "tests.benchmarks._growth_stages", stage, str(estate.scale), str(estate.folder)]
    done = subprocess.run([*command, *stores], check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def _ingested(estate: Estate, store: Path) -> Figures:
    """Ingest each project into one store, in turn; the first and the last tenth show whether it takes longer."""
    for file in store.parent.glob(f"{store.name}*"):
        file.unlink()
    sources, *runs = _runs(estate.projects, store, DATABASE)
    tenth = max(1, len(runs) // 10)
    return {
        "runs": len(runs),
        "seconds": sum(one["seconds"] for one in (sources, *runs)),
        "cpu_seconds": sum(one["cpu_seconds"] for one in (sources, *runs)),
        "peak_mb": max(one["peak_mb"] for one in (sources, *runs)),
        "first_run_cpu_seconds": sum(one["cpu_seconds"] for one in runs[:tenth]) / tenth,
        "last_run_cpu_seconds": sum(one["cpu_seconds"] for one in runs[-tenth:]) / tenth,
        "store_mb": _size(store),
    }


def _one_more(estate: Estate, store: Path) -> Figures:
    """Ingest one more project into a copy of a store that was loaded; the others would have taken as long, at most."""
    one = Estate(1, cache_folder() / "estate1")
    one.write()
    copy = store.with_name("copy.db")
    shutil.copyfile(store, copy)
    try:
        _, run = _runs(one.projects, copy, "another")
    finally:
        for file in copy.parent.glob(f"{copy.name}*"):
            file.unlink()
    return {
        "runs": 1,
        "seconds": run["seconds"] * estate.scale,
        "cpu_seconds": run["cpu_seconds"] * estate.scale,
        "peak_mb": run["peak_mb"],
        "last_run_cpu_seconds": run["cpu_seconds"],
        "store_mb": _size(store),
    }


def _runs(projects: Sequence[Path], store: Path, database: str) -> list[dict[str, float]]:
    names = ("--dialect", DIALECT, "--namespace", NAMESPACE, "--default-database", database, "--jobs", "1")
    runs = []
    for project in projects:
        own = ("--project", f"{database}.{project.name}", "--project-root", str(project), "--store", str(store))
        runs.append(_command("ingest", "sql", str(project), *names, *own))
        print(f"  {project.name}: {runs[-1]['seconds']:.0f} s, {runs[-1]['peak_mb']:.0f} MB", flush=True)
    return runs


def _size(store: Path) -> float:
    return sum(file.stat().st_size for file in store.parent.glob(f"{store.name}*")) / 1e6


def _command(*arguments: str) -> dict[str, float]:
    """Run a command; return its seconds and its memory.

    Raises:
        RuntimeError: it fails.
    """
    began = time.perf_counter()
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache_folder() / "cache")}
    process = subprocess.Popen(
        [LINEAGE, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
    )
    said = process.stderr.read().decode() if process.stderr is not None else ""
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"lineage {' '.join(arguments)}: {said[-2_000:]}")
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "cpu_seconds": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1024}


def main(arguments: list[str]) -> None:
    """Measure what the command line asks for, and write the page if all is known."""
    parser = argparse.ArgumentParser("python -m tests.benchmarks.growth", description=__doc__)
    parser.add_argument("scales", nargs="*", type=int, metavar="SCALE", help="how many times 20,000 columns")
    parser.add_argument("--again", action="store_true", help="measure anew what is measured already")
    parser.add_argument("--page", action="store_true", help="measure nothing: write the page from what is known")
    options = parser.parse_args(arguments)
    if options.again:
        shutil.rmtree(KEPT, ignore_errors=True)
    print(write_page(run(options.scales or SCALES, not options.page)))


if __name__ == "__main__":
    main(sys.argv[1:])
