"""What is ingested: a small estate as each kind of ingest reads it, and the command that ingests it."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from tests.benchmarks._dbt_project import make_manifest, write_manifest
from tests.faults.injector import injected
from tests.faults.places import Store
from tests.query_logs.make import make, runs
from tests.service.events_of_runs import events_of

__all__ = ["KINDS", "RUNS", "Estate", "Ran"]

LINEAGE = str(Path(sys.executable).with_name("lineage"))
KINDS = ("sql", "log", "dbt", "duckdb", "bi", "openlineage")
RUNS = 60
"""Of the OpenLineage events: each is a START and a COMPLETE."""
_AT = ("--observed-at", "2026-03-01")
_SUPERSET = Path(__file__).parent.parent / "data" / "bi" / "superset"


@dataclass(frozen=True)
class Ran:
    """How a command ended, and what it said on standard error."""

    code: int
    said: str

    @property
    def killed(self) -> bool:
        """Whether SIGKILL ended it."""
        return self.code == -9

    @property
    def done(self) -> bool:
        """Whether the input is ingested; 1 is for errors in it, which are listed."""
        return self.code in (0, 1)

    @property
    def first_line(self) -> str:
        """Its error, without what the screen adds."""
        lines = [line.strip() for line in self.said.splitlines() if line.strip()]
        return next((line for line in lines if line.startswith("error:")), lines[0] if lines else "")


class Estate:
    """Files in a folder, and commands that ingest them."""

    def __init__(self, folder: Path, models: int = 40) -> None:
        self.folder, self.cache = folder, folder / "cache"
        self._make_sql(models)
        make(folder / "log", "postgres_json", runs("postgres_json", 12 * models, models // 2, 1), "jsonl")
        write_manifest(make_manifest(models=models, columns=8), folder / "dbt")
        with duckdb.connect(folder / "duckdb") as database:
            database.execute("create table t0 (a int, b int, c int)")
            for number in range(1, models):
                database.execute(f"create view t{number} as select a, b + 1 as b, c from t{number // 2}")
        shutil.copytree(_SUPERSET, folder / "bi")
        lines = [json.dumps(one) for run in range(1, RUNS + 1) for one in events_of(run)]
        (folder / "openlineage").mkdir()
        (folder / "openlineage" / "events.ndjson").write_text("\n".join(lines))

    def _make_sql(self, models: int) -> None:
        chance = random.Random(1)
        (self.folder / "sql").mkdir(parents=True)
        for number in range(models):
            sources = chance.sample(range(max(1, number)), min(2, max(1, number)))
            tables = [f"m{one}" if one else "base" for one in sources]
            columns = ", ".join(f"{tables[place % len(tables)]}.c{place}" for place in range(8))
            text = f"create view m{number or 'first'} as select {columns} from {tables[0]}"
            text += f" join {tables[1]} on {tables[0]}.c0 = {tables[1]}.c0" if len(tables) > 1 else ""
            (self.folder / "sql" / f"m{number}.sql").write_text(f"{text};")

    def command(self, kind: str, address: str) -> list[str]:
        """Return the command of an ingest into a store."""
        path, store = str(self.folder / kind), ("--store", address)
        options: Mapping[str, Sequence[str]] = {
            "sql": ("--dialect", "postgres", "--project", "shop", "--jobs", "1", *_AT),
            "log": ("--source", "postgres_json", "--engine", "local", *_AT),
            "dbt": _AT,
            "duckdb": ("--jobs", "1"),
            "bi": ("--server", "bi.example", "--dialect", "postgres", *_AT),
            "openlineage": (),
        }
        words = ("superset", path) if kind == "bi" else (path,)
        return [LINEAGE, "ingest", kind, *words, *options[kind], *store]

    def ingest(self, kind: str, store: Store, *, address: str = "", **faults: object) -> Ran:
        """Run an ingest to its end, with faults of injector.c."""
        return self.run(self.command(kind, address or store.address), store, **faults)

    def run(self, command: Sequence[str], store: Store, **faults: object) -> Ran:
        """Run a command to its end."""
        process = self.start(command, store, **faults)
        _, said = process.communicate(timeout=300)
        return Ran(process.returncode, said)

    def start(self, command: Sequence[str], store: Store, **faults: object) -> subprocess.Popen[str]:
        """Start a command. What it saves for later runs is kept below the estate."""
        own = {"XDG_CACHE_HOME": str(self.cache), "PYTHONDONTWRITEBYTECODE": "1"}
        environment = {**os.environ, **own, **store.environment, **(injected(**faults) if faults else {})}
        return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def forget_saved(self) -> None:
        """Remove what earlier runs saved, so that the next one does all of the work."""
        shutil.rmtree(self.cache, ignore_errors=True)
