"""`python -m tests.store.kills KILLS [--seed S]`: kill what works on one store, and look whether it is whole.

In turn: a writer of batches, two of them at once, an ingest of SQL files, a service that is sent events, a backup, and
a compaction, each killed (SIGKILL) after a random time. After each kill the store is verified (pages, references,
counts), everything that was acknowledged must be in it once, and a backup is the whole store or not there. At the end
the SQL files are ingested again: the store has the lineage of a fresh one. Exit status 1 if something is wrong, which
is printed.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx

from lineage.store import StoreError, open_store
from lineage.store.moving import miscounted
from lineage.store.sqlite.maintenance import find_damage
from tests.cli.test_serve_command import LINEAGE, served
from tests.events.event_builders import event

KINDS = ("batches", "two writers", "sql files", "events", "backup", "compact")


class Campaign:
    """A store that is worked on, and what was acknowledged."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.path, self.models = folder, folder / "store.db", folder / "models"
        self.chance = random.Random(seed)
        self.numbers: dict[str, int] = {"one": 0, "two": 0}
        self.runs: list[int] = []
        self.next_run = itertools.count(1)
        self.copies = itertools.count(1)
        self.wrong: list[str] = []
        self.kills: Counter[str] = Counter()
        self.models.mkdir()
        self.edit(range(60))

    def edit(self, numbers: Iterator[int] | range) -> None:
        """Write SQL files."""
        for number in numbers:
            other = self.chance.randrange(1_000)
            text = f"create view m{number} as select a + {other} as a, b from base{number % 7};"
            (self.models / f"m{number}.sql").write_text(text)

    def run(self, kind: str) -> None:
        """Kill one of a kind, and look at the store."""
        self.kills[kind] += 1
        if kind == "batches":
            self.writers(["one"])
        elif kind == "two writers":
            self.writers(["one", "two"])
        elif kind == "sql files":
            self.edit(iter(self.chance.sample(range(60), 5)))
            self.command("ingest", "sql", str(self.models), "-d", "postgres", "--project", "shop")
        elif kind == "events":
            self.events()
        elif kind == "backup":
            copy = self.folder / f"copy{next(self.copies)}.db"
            self.command("store", "backup", str(copy))
            if copy.exists():
                self.check(copy, "a backup that was left")
        else:
            self.command("store", "compact")
        self.check(self.path, f"after {kind}")
        self.check_acknowledged(kind)

    def writers(self, names: list[str]) -> None:
        """Kill writers, each of batches of its own."""
        command = [sys.executable, "-m", "tests.store.again_writer", str(self.path)]
        processes = [
            subprocess.Popen([*command, str(self.numbers[name] + 1), name], stdout=subprocess.PIPE, text=True)
            for name in names
        ]
        first = processes[0].stdout
        assert first is not None
        lines = [first.readline()]  # it has begun
        time.sleep(self.chance.random() / 2)
        for process, name in zip(processes, names, strict=True):
            process.kill()
            rest, _ = process.communicate()
            said = [*map(int, "".join((*lines, rest)).split())]
            self.numbers[name] = max([self.numbers[name], *said])
            lines = []

    def command(self, *arguments: str) -> None:
        """Kill a command."""
        process = subprocess.Popen(
            [LINEAGE, *arguments, "--store", str(self.path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            process.wait(0.3 + self.chance.random() * 1.5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def events(self) -> None:
        """Kill a service that four clients send events to."""
        with served("--store", str(self.path)) as (address, process):

            def send() -> None:
                while True:
                    number = next(self.next_run)
                    one = {"run": number, "at": 3, "job": f"etl/job{number}", "inputs": ["pg.src"], "type": "COMPLETE"}
                    try:
                        body = event({**one, "outputs": {f"pg.out{number}": {}}})
                        answer = httpx.post(f"{address}/api/v1/lineage", json=body, timeout=10)
                    except httpx.HTTPError:
                        return
                    if answer.status_code < 300:
                        self.runs.append(number)

            clients = [threading.Thread(target=send) for _ in range(4)]
            for client in clients:
                client.start()
            told = len(self.runs)
            while len(self.runs) == told:
                time.sleep(0.01)
            time.sleep(self.chance.random() / 2)
            process.kill()
            for client in clients:
                client.join()

    def check(self, path: Path, when: str) -> None:
        """Verify a store."""
        try:
            damage = find_damage(path) + miscounted(str(path), lambda *_: None)[1]
        except StoreError as error:
            damage = [str(error)]
        self.wrong += [f"{when}: {line}" for line in damage]

    def check_acknowledged(self, kind: str) -> None:
        """Look for what was acknowledged, and for what is there twice."""
        with open_store(self.path, read_only=True) as store:
            names = Counter(one.name.removeprefix("db.public.") for one in store.datasets())
        for name, number in self.numbers.items():
            there = sum(f"{name}_new{one}" in names for one in range(1, number + 1))
            if there != number:
                self.wrong.append(f"after {kind}: writer {name} was told of {number} batches, {there} are there")
            while f"{name}_new{self.numbers[name] + 1}" in names:  # committed, and killed before it could say so
                self.numbers[name] += 1
        lost = [number for number in self.runs if f"out{number}" not in names]
        if lost:
            self.wrong.append(f"after {kind}: {len(lost)} acknowledged events are not there, such as {lost[0]}")
        self.wrong += [f"after {kind}: {name} is there {number} times" for name, number in names.items() if number > 1]

    def end(self) -> None:
        """Compare the lineage of the SQL files with that of a fresh store."""
        edges = []
        for path in (self.path, self.folder / "fresh.db"):
            arguments = ("ingest", "sql", str(self.models), "-d", "postgres", "--project", "shop")
            subprocess.run([LINEAGE, *arguments, "--store", str(path)], check=True, capture_output=True)
            with open_store(path, read_only=True) as store:
                listed = store.edges_of([key for key in store.job_keys() if ".sql" in key])
                edges.append(sorted((one.source, one.target, str(one.kind)) for one in listed))
        if edges[0] != edges[1] or not edges[0]:
            self.wrong.append("the SQL files have other lineage than in a fresh store")


def main() -> int:
    """Kill as often as the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.store.kills", description=__doc__)
    parser.add_argument("kills", type=int, help="how many")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    campaign = Campaign(folder, options.seed)
    try:
        campaign.run("batches")
        for number in range(1, options.kills):
            campaign.run(KINDS[number % len(KINDS)])
            print(
                f"\r{number + 1} of {options.kills}, {len(campaign.wrong)} wrong", end="", file=sys.stderr, flush=True
            )
        campaign.end()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(file=sys.stderr)
    print(json.dumps({"kills": dict(campaign.kills), "batches": campaign.numbers, "events": len(campaign.runs)}))
    for line in campaign.wrong:
        print(line)
    return 1 if campaign.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
