"""Ingest a random dbt project again and again beside others, and compare skipping with stating everything.

python -m tests.dbt.random_histories [HISTORIES] [--seed N] [--only NUMBER] [--steps N] [--turns]

One store is ingested into as a user does, the other with `--full`. Between the project's ingests, little or nothing of
it changes; others write files and logs of any time, among them the very moments of the project's ingests, rename tables
and give them further keys. After every step both stores must contain the same, with all times that count. With
`--turns`, two projects are ingested in turn: one reads models and sources of the other, and both build one table.
Prints each history that differs; ends with code 1 if any does.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

from lineage import saved_file
from lineage.model.batch import LineageBatch, RunRecord
from lineage.model.names import dataset_key
from lineage.store import GraphStore, open_store
from lineage_ingest import DbtOptions, LogOptions, ingest_dbt, ingest_log, ingest_sql
from lineage_ingest.options import SqlOptions
from tests.benchmarks._dbt_project import edit_model, make_manifest, write_manifest
from tests.ingest.edited_folders import difference, stored_content

__all__ = ["change_project", "comparable_content", "make_reading_project", "run_history"]

STATEMENTS = (
    "DROP TABLE {model}",
    "DROP TABLE {source}",
    "ALTER TABLE {model} DROP COLUMN c2",
    "ALTER TABLE {model} RENAME COLUMN c1 TO c1x",
    "ALTER TABLE {model} RENAME TO earlier",
    "ALTER TABLE {source} RENAME TO earlier",
    "CREATE OR REPLACE VIEW {model} AS SELECT * FROM {source}",
    "INSERT INTO {model} SELECT * FROM {source}",
    "INSERT INTO {model} (c1, extra) SELECT c1, c2 FROM {source}",
    "CREATE TABLE {model} (id int, c1 int, extra text)",
    "CREATE TABLE {source} (id int, c1 int, extra text)",
    "CREATE VIEW reader AS SELECT id, extra FROM {model}",
    "DROP TABLE {model}; CREATE TABLE {model} AS SELECT * FROM {source}",
)
"""What others run: models and sources are dropped, renamed, written and read."""
HOOKS = (
    "",
    "grant select on {{ this }} to reader",
    "insert into audit.built select count(*) from {{ this }}",
    "insert into audit.kept select * from {{ this }}",
    "create table audit.copied as select * from {{ this }}",
    "insert into audit.kept (c1) select c2 from audit.copied",
    "create temporary table staged as select c1, c2 from {{ this }}",
    "insert into audit.kept select c1, c2 from staged",
    "delete from {{ this }} where c2 is null",
)
"""What runs before or after a model; nothing, if it is empty."""
_FIRST = datetime(2026, 3, 1, 6, tzinfo=UTC)
_NAMESPACE = "postgres"
_OF_RUNS = re.compile(r"^\('(Run|OBSERVED|REPORTED|DESCRIBED)'")
_EVERY = 10
_WITH_HOOK = 0.2
"""Share of the models that have a hook at first."""


def comparable_content(store: GraphStore) -> list[str]:
    """Return what a store contains, without what an ingest that skips does not state again.

    These are the runs, with what they observed, and when facts and diagnostics were stated last.
    """
    return sorted(_comparable(text) for text in stored_content(store) if not _OF_RUNS.match(text))


def _comparable(text: str) -> str:
    text = re.sub(r"\('facts', '[^']*'\)", "facts", text)
    if text.startswith("('Diagnostic'"):
        text = re.sub(r"\('(run|last_seen)', ('[^']*'|datetime\.datetime\([^()]*\))\)", "-", text)
    return re.sub(r", facts='[^']*'", "", text)


def change_project(data: dict[str, Any], rng: random.Random) -> None:
    """Change the project: an expression, a column upstream, a model that goes or comes back, a type, a name, a hook."""
    nodes = data["nodes"]
    models = [key for key in nodes if key.startswith("model.")]
    kind = rng.choice(
        ("expression", "column", "gone", "type", "source", "alias", "materialized", "broken", "hook", "hook")
    )
    key = rng.choice(models)
    if kind == "expression":
        edit_model(data, models.index(key))
    elif kind == "column":
        nodes[key]["compiled_code"] = nodes[key]["compiled_code"].replace(" as c3", f" as c3_{rng.randrange(99)}")
    elif kind == "gone" and len(models) > 5:
        del nodes[key]
    elif kind == "type":
        nodes[key]["columns"]["c2"]["data_type"] = f"varchar({rng.randrange(99)})"
    elif kind == "source":
        columns = rng.choice(list(data["sources"].values()))["columns"]
        columns[f"new_{rng.randrange(99)}"] = {"name": "extra", "data_type": "text"}
    elif kind == "alias":
        nodes[key]["relation_name"] = nodes[key]["relation_name"].replace('"."', '"."x_', 2).replace("x_main", "main")
    elif kind == "materialized":
        nodes[key]["config"]["materialized"] = rng.choice(("view", "table", "incremental"))
    elif kind == "hook":
        sql = rng.choice(HOOKS)
        hooks = [{"sql": sql, "transaction": True, "index": None}] if sql else []
        nodes[key]["config"][rng.choice(("pre-hook", "post-hook"))] = hooks
    else:
        nodes[key]["compiled_code"] = "select from where"


def make_reading_project(models: int, columns: int, seed: int) -> dict[str, Any]:
    """Return a project beside one that `make_manifest` makes, with some sources in common.

    One of its sources is a model of that project, and one of its models has the name of one there.
    """
    text = json.dumps(make_manifest(models, columns, seed)).replace("big", "two").replace("main_", "two_")
    for own, shared in (("crm.raw_00001", "main_stg.stg_00001"), ("two_fct.fct_00005", "main_fct.fct_00005")):
        before, after = (json.dumps(f'"{name}"'.replace(".", '"."'))[1:-1] for name in (own, shared))
        text = text.replace(before, after)
    data: dict[str, Any] = json.loads(text)
    return data


def run_history(
    seed: str, steps: int, folder: Path, say: Callable[[str], object] = str, *, turns: bool = False
) -> tuple[str, Counter[str]]:
    """Run a history in a new folder; return how the stores differ, empty if they do not, and counts.

    With `turns`, there are two projects.
    """
    counts: Counter[str] = Counter()
    saved = mock.Mock(user_cache_path=lambda *_, **__: folder / "saved")
    with mock.patch.object(saved_file, "platformdirs", saved):
        for number, step in enumerate(_History(random.Random(seed), folder, counts, turns=turns).steps(steps)):
            say(f"{number}: {step}")
            with open_store(folder / "fast.db") as fast, open_store(folder / "full.db") as full:
                found = difference(comparable_content(fast), comparable_content(full), ("skipping", "full"))
            if found:
                return f"step {number} ({step}){found}", counts
    return "", counts


class _History:
    def __init__(self, rng: random.Random, folder: Path, counts: Counter[str], *, turns: bool) -> None:
        self.rng = rng
        self.folder = folder
        self.counts = counts
        self.projects = [make_manifest(models=6, columns=4, seed=rng.randrange(1_000))]
        if turns:
            self.projects.append(make_reading_project(models=6, columns=4, seed=rng.randrange(1_000)))
        self.data = self.projects[0]
        for project in self.projects:
            for node in project["nodes"].values():
                if node["resource_type"] == "model" and rng.random() < _WITH_HOOK:
                    sql = rng.choice(HOOKS[1:])
                    node["config"]["post-hook"] = [{"sql": sql, "transaction": True, "index": None}]
        self.at = _FIRST
        self.next = _FIRST
        self.ingested: dict[str, datetime] = {}
        """When each project was ingested last."""

    def steps(self, count: int) -> Iterator[str]:
        """Run so many steps; yield what each was."""
        weights = (6, 2, 1.5, 0.4) if len(self.projects) == 1 else (12, 1, 0.7, 0.2)
        for number in range(count):
            first = number < len(self.projects)
            kind = "dbt" if first else self.rng.choices(("dbt", "file", "log", "key"), weights)[0]
            self.counts[kind] += 1
            if kind == "dbt":
                yield self._ingest()
            elif kind == "key":
                yield self._give_key(number)
            else:
                yield self._run_others(kind, number)

    def _ingest(self) -> str:
        rng = self.rng
        if len(self.projects) > 1 and rng.random() < 0.8:
            self.projects.reverse()
            self.data = self.projects[0]
        if rng.random() < 0.25:
            change_project(self.data, rng)
        if rng.random() < 0.9:  # else the same manifest, or another one of the same time
            self.at, self.next = self.next, self.next + timedelta(days=1)
        name, at = self.data["metadata"]["project_name"], self.at
        if len(self.projects) > 1 and rng.random() < 0.2:  # older than what another project stated last
            at = max(self.ingested.get(name, _FIRST), self.at - timedelta(hours=rng.choice((1, 24, 36))))
        self.ingested[name] = at
        self.data["metadata"]["generated_at"] = f"{at:%Y-%m-%dT%H:%M:%S}.000000Z"
        write_manifest(deepcopy(self.data), self.folder / "target")
        unchanged = ingest_dbt(self.folder / "target", store=self.folder / "fast.db").unchanged
        ingest_dbt(self.folder / "target", store=self.folder / "full.db", options=DbtOptions(full=True))
        self.counts["skipped"] += unchanged
        self.counts["stated"] += len(self.data["nodes"]) - unchanged
        return f"dbt {name} at {at:%d %H:%M}, {unchanged} unchanged"

    def _any_time(self) -> datetime:
        """Return a time between the ingests, after or before them, or one that the last or the next one has."""
        if self.rng.random() < 0.5:
            return self.rng.choice((self.at, self.next))
        return _FIRST + (self.next - _FIRST) * self.rng.random()

    def _tables(self) -> tuple[str, str]:
        relations = [one["relation_name"] for one in self.data["nodes"].values() if one.get("relation_name")]
        return self.rng.choice(relations), self.rng.choice(list(self.data["sources"].values()))["relation_name"]

    def _run_others(self, kind: str, number: int) -> str:
        model, source = self._tables()
        text = self.rng.choice(STATEMENTS).format(model=model, source=source)
        at = self._any_time()
        for name in ("fast", "full"):
            store = self.folder / f"{name}.db"
            if kind == "file":
                file = self.folder / f"own{number}.sql"
                file.write_text(text, encoding="utf-8")
                options = SqlOptions(dialect="postgres", project="own", project_root=self.folder, observed_at=at)
                ingest_sql(file, store=store, options=options)
            else:
                file = self.folder / f"own{number}.jsonl"
                row = {"query_text": text, "started_at": at.isoformat()}
                file.write_text(f"{json.dumps(row)}\n", encoding="utf-8")
                mapping = {one: one for one in row}
                ingest_log(file, source="generic", store=store, options=LogOptions(dialect="postgres", mapping=mapping))
        return f"{kind} at {at:%d %H:%M}: {text}"

    def _give_key(self, number: int) -> str:
        """Give a table a further key, which is the main one or not."""
        name = self.rng.choice(self._tables()).replace('"', "")
        key, other = dataset_key(_NAMESPACE, name), dataset_key(self.rng.choice(("glue:x", "trino")), name)
        run = RunRecord(f"keys{number}", "openlineage", "events", self._any_time())
        for store in ("fast", "full"):
            with open_store(self.folder / f"{store}.db") as opened:
                opened.apply(LineageBatch(run=run, aliases=((key, other),)))
        return f"key {other} of {key}"


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("histories", nargs="?", type=int, default=60, help="number of histories (default: 60)")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--steps", type=int, default=12, help="steps of a history (default: 12)")
    parser.add_argument("--only", type=int, help="the number of one history, which is then printed")
    parser.add_argument("--turns", action="store_true", help="two projects, mostly in turn")
    given = parser.parse_args()
    numbers = range(given.histories) if given.only is None else [given.only]
    differing, began = 0, time.perf_counter()
    total: Counter[str] = Counter()
    for number in numbers:
        folder = Path(tempfile.mkdtemp())
        say = print if given.only is not None else str
        differs, counts = run_history(f"{given.seed}/{number}", given.steps, folder, say, turns=given.turns)
        shutil.rmtree(folder, ignore_errors=True)
        total += counts
        if differs:
            differing += 1
            print(f"history {number} differs at {differs}", flush=True)
        elif number % _EVERY == _EVERY - 1:
            print(f"{number + 1:,} histories, {time.perf_counter() - began:.0f} s", flush=True)
    print(f"{len(numbers):,} histories, {differing:,} differ, {time.perf_counter() - began:.0f} s")
    print(", ".join(f"{count:,} {kind}" for kind, count in sorted(total.items())))
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
