"""Ten questions to a store before its upgrade, by the version that wrote it, and after it, by this one.

python -m tests.store.upgrade_speed --before ENV/bin/lineage --store store.db

Each version serves a copy of the store and answers over GraphQL; each question is asked of some columns and tables, and
its slowest answers but 5 % are compared. The versions take turns, and the fastest of the rounds counts: the machine may
be shared. Exit status 1: an answer differs, or is slower than --slower allows. Without --before this version is
compared with itself, which shows how much chance there is; without --store the graph has 100,000 edges.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx

from lineage.store import open_store
from tests.benchmarks._layered_graph import LayeredGraph
from tests.benchmarks._layered_stores import embedded_path
from tests.cli.test_serve_command import LINEAGE, served

ASKED, ROUNDS = 30, 3
_NODE = "node { key hops masked path { steps { sourceKey targetKey kind jobKey } } }"
QUESTIONS = {
    "impact": f"query($c: String!) {{ impact(column: $c, first: 50) {{ totalCount edges {{ {_NODE} }} }} }}",
    "root cause": f"query($c: String!) {{ rootCause(column: $c, first: 50) {{ totalCount edges {{ {_NODE} }} }} }}",
    "impact by value": "query($c: String!) { impact(column: $c, maxReferences: 0) { countsByHop { columns } } }",
    "impact as of": 'query($c: String!) { impact(column: $c, asOf: "2027-01-01T00:00:00Z") { totalCount } }',
    "impact of a table": "query($t: String!) { impact(table: $t, maxHops: 3) { totalCount tables { name columns } } }",
    "a column": "query($k: ID!) { column(key: $k) { name dataType } }",
    "a table": "query($n: String!) { table(name: $n) { name columns(first: 50) { nodes { name } } } }",
    "search": "query($s: String!) { search(text: $s, first: 20) { nodes { __typename } } }",
    "tables": "{ tables(first: 50) { totalCount nodes { name } } }",
    "jobs": "{ jobs(first: 50) { totalCount nodes { key } } }",
}


def main(arguments: list[str]) -> int:
    """Measure and print; return 1 if an answer differs, or takes too long."""
    parser = argparse.ArgumentParser("python -m tests.store.upgrade_speed", description=__doc__)
    parser.add_argument("--before", default=LINEAGE, help="the command `lineage` of the earlier version")
    parser.add_argument("--store", type=Path, help="a store that it wrote")
    parser.add_argument("--slower", type=float, default=1.5, help="how much longer 95 %% may take (default 1.5)")
    options = parser.parse_args(arguments)
    path = options.store or embedded_path(LayeredGraph(layers=10, width=100, edges=100_000, hubs=20))
    with tempfile.TemporaryDirectory() as folder:
        old, new = Path(folder) / "before.db", Path(folder) / "after.db"
        _copy(path, old)
        shutil.copyfile(old, new)
        began = time.perf_counter()
        subprocess.run([LINEAGE, "store", "upgrade", "--store", str(new)], check=True, stdout=subprocess.DEVNULL)
        print(f"{path.name}, {new.stat().st_size / 1e6:.0f} MB: upgraded in {time.perf_counter() - began:.1f} s")
        taken, differing = _asked(old, new, options.before)
    print(f"{'ms, 95 %':20} {'before':>9} {'after':>9} {'ratio':>6}")
    slow = []
    for name in QUESTIONS:
        before, after = (_percentile(one[name]) for one in taken)
        slow += [name] if after > before * options.slower else []
        print(f"{name:20} {before:9.1f} {after:9.1f} {after / before:6.2f}{'  slower' if name in slow else ''}")
    for name in differing:
        print(f"the answer differs: {name}")
    return bool(slow or differing)


def _copy(path: Path, to: Path) -> None:
    """Copy the file with what its log has."""
    for suffix in ("", "-wal"):
        if (source := path.with_name(path.name + suffix)).exists():
            shutil.copyfile(source, to.with_name(to.name + suffix))


def _asked(old: Path, new: Path, before: str) -> tuple[tuple[dict[str, list[float]], ...], list[str]]:
    """Ask both versions in turn; return their times, and the questions with answers that differ."""
    values = _values(new)
    taken: tuple[dict[str, list[float]], ...] = ({}, {})
    differing: set[str] = set()
    with ExitStack() as opened:
        limits = ("--read-only", "--limit", "cost=100000")
        addresses = []
        for path, command in ((old, before), (new, LINEAGE)):
            address, process = opened.enter_context(served("--store", str(path), *limits, command=command))
            addresses.append(address)
            # It waits when nobody reads its log.
            threading.Thread(target=process.stderr.read if process.stderr else None, daemon=True).start()
        client = opened.enter_context(httpx.Client(timeout=60))
        for name, text in QUESTIONS.items():
            for variables in values:
                fastest, answers = [float("inf")] * 2, [None, None]
                for _ in range(ROUNDS):
                    for number, address in enumerate(addresses):
                        start = time.perf_counter()
                        answers[number] = _answer(client, address, text, variables)
                        fastest[number] = min(fastest[number], (time.perf_counter() - start) * 1000)
                differing |= {name} if answers[0] != answers[1] else set()
                for number, one in enumerate(fastest):
                    taken[number].setdefault(name, []).append(one)
    return taken, sorted(differing)


def _values(path: Path) -> list[Mapping[str, str]]:
    """Return the variables of the questions: of columns by chance."""
    chance = random.Random(5)
    with open_store(path, read_only=True) as store:
        keys = chance.sample(sorted(store.dataset_keys()), k=ASKED)
        columns = {one.dataset: one for one in store.columns(keys)}
        names = {one.key: one.name for one in store.datasets(keys)}
    return [
        {
            "c": f"{names[one.dataset]}.{one.path}",
            "t": names[one.dataset],
            "k": one.key,
            "n": names[one.dataset],
            "s": names[one.dataset].rpartition(".")[2],
        }
        for one in columns.values()
    ]


def _answer(client: httpx.Client, address: str, text: str, values: Mapping[str, str]) -> Any:
    used = {name: value for name, value in values.items() if f"${name}:" in text}
    reply = client.post(f"{address}/graphql", json={"query": text, "variables": used}).json()
    if "errors" in reply:
        sys.exit(f"{address} answers {json.dumps(reply['errors'])[:500]}")
    return reply["data"]


def _percentile(taken: list[float]) -> float:
    return statistics.quantiles(taken, n=100)[94]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
