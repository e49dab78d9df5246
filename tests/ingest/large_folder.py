"""Ingest a large generated folder again and again while files are edited, deleted, moved and renamed.

python -m tests.ingest.large_folder [FILES] [--seed N]

After each ingest, the live edges of the embedded store must be exactly those that the ingest stated, whether they are
read by job or by dataset. Prints a line for each; ends with code 1 if any differ.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lineage import Catalog
from lineage.model.batch import EdgeRecord
from lineage.store import open_store
from lineage.store.values import StoredEdge
from lineage_ingest import SqlOptions, ingest_sql
from tests.benchmarks.folder_edits import write_files

_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def differences(files: int, seed: int, folder: Path, say: Callable[[str], object] = print) -> int:
    """Return the number of edges that differ, over all ingests of a folder of so many files."""
    rng = random.Random(seed)
    models = folder / "models"
    written = write_files(models, folder / "catalog.sql", files)
    catalog = Catalog.from_ddl(folder / "catalog.sql", "postgres")
    found = 0
    for hour, what in enumerate(_edits(written, rng)):
        began = time.perf_counter()
        options = SqlOptions(
            dialect="postgres",
            catalog=catalog,
            project="p",
            project_root=models,
            observed_at=_BEGIN + timedelta(hours=hour),
            retire_most=True,
        )
        summary = ingest_sql(models, store=folder / "store.db", options=options)
        stated = sorted(_facts(summary.batch.edges))
        with open_store(folder / "store.db") as store:
            by_job = sorted(_facts(store.edges_of(store.job_keys())))
            by_dataset = sorted(_facts(store.edges_into(store.dataset_keys())))
        differing = len({*by_job} ^ {*stated}) + len({*by_dataset} ^ {*stated})
        differing += abs(len(by_job) - len(stated)) + abs(len(by_dataset) - len(stated))
        found += differing
        seconds = time.perf_counter() - began
        say(f"{what}: {len(stated):,} edges, {differing:,} differ, {seconds:.1f} s")
    return found


def _edits(files: list[Path], rng: random.Random) -> Iterator[str]:
    """Edit the files before each value, which says what was edited."""
    yield "first"
    for _ in range(2):
        for file in rng.sample(files, 10):
            file.write_text(file.read_text().replace(" as c1,", " || 'x' as c1,", 1))
        yield "10 expressions edited"
    gone = {*rng.sample(files, 8)}
    for file in gone:
        file.unlink()
    files = [file for file in files if file not in gone]
    yield "8 files deleted"
    for file in rng.sample(files, len(files) // 2):
        file.write_text(f"-- moved by a line\n{file.read_text()}")
    yield "half of the texts moved"
    for file in rng.sample(files, len(files) // 3):
        file.write_text(file.read_text().replace(" as c2,", " as c2b,", 1))
    yield "a column renamed in a third of the files"
    yield "nothing edited"


def _facts(edges: Iterable[EdgeRecord | StoredEdge]) -> Iterator[tuple[str, ...]]:
    for one in edges:
        if not isinstance(one, StoredEdge) or one.live:
            yield one.job, one.source, one.target, *map(str, (one.kind, one.spans, one.subtypes))


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="?", type=int, default=2_000, help="number of files (default: 2000)")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(bool(differences(given.files, given.seed, Path(folder))))


if __name__ == "__main__":
    main()
