"""Serve a graph, ask it and send it events at a fixed rate, and write down what happens each minute.

Each second has so many requests: 60 % impact, 25 % search, 15 % events (START and COMPLETE of a run). A request's time
counts from when it was due. A minute is a line of soak.csv; soak.html has the curves. With --find-limit the rate is
raised by half until 5 % of the answers take longer than a second, or 1 % fail, and the report names what gives first.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path
from subprocess import Popen

from tests.benchmarks._layered_graph import LayeredGraph
from tests.benchmarks._layered_stores import embedded_path, running_neo4j
from tests.cli.test_serve_command import served
from tests.soak.limit import Limit, find_limit
from tests.soak.load import Load
from tests.soak.minutes import Minute, Watch, write_csv
from tests.soak.report import write_report

_SMALL = LayeredGraph(layers=10, width=100, edges=100_000, hubs=20)
_SHOWN = "{0.minute:5.1f} min {0.requests_per_second:6.1f}/s  p50 {0.all_p50:5.0f}  p95 {0.all_p95:5.0f} ms"
_ALSO = "  {0.errors:3d} errors  {0.service_mb:6.0f} MB, store {0.store_mb:6.0f} MB  {0.processors:4.2f} processors"


def main() -> int:
    """Do what the command line asks for."""
    options = _options()
    graph = LayeredGraph() if options.large else _SMALL
    output: Path = options.output
    output.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        address, store, login = _store(stack, graph, neo4j=options.store == "neo4j")
        arguments = ("--store", address, *(part for one in options.limit for part in ("--limit", one)))
        url, process = stack.enter_context(served(*arguments, environment=login, seconds=180))
        threading.Thread(target=_swallow, args=(process,), daemon=True).start()
        watch = Watch(process.pid, store)
        load = Load(url, graph.column_keys()[: graph.datasets * graph.columns // 2], watch.note)
        stack.callback(load.close)
        load.run(options.rate, 5)  # it loads the graph and its code
        watch.begin()
        minutes, limit = [], None
        if options.find_limit:
            limit = _limit(load, watch, options.rate, options.seconds)
        else:
            minutes = _soak(load, watch, options.rate, options.minutes, output / "soak.csv")
    columns = f"{graph.datasets * graph.columns:,} columns, {graph.edges:,} edges"
    title = f"lineage serve, {options.store} store of {columns}, {options.rate:g} requests a second"
    write_report(output / "soak.html", title, minutes, limit)
    print(f"written to {output}")
    failed = sum(one.errors for one in minutes)
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rate", type=float, default=20, help="requests a second (20); the first, with --find-limit")
    parser.add_argument("--store", choices=("embedded", "neo4j"), default="embedded")
    parser.add_argument("--large", action="store_true", help="1,000,000 columns and 5,000,000 edges, not 25,000")
    parser.add_argument("--find-limit", action="store_true")
    parser.add_argument("--seconds", type=float, default=30, help="of each rate that --find-limit tries (30)")
    parser.add_argument("--limit", action="append", default=[], metavar="NAME=NUMBER", help="for lineage serve")
    parser.add_argument("--output", type=Path, default=Path("build/soak"))
    return parser.parse_args()


def _store(stack: ExitStack, graph: LayeredGraph, *, neo4j: bool) -> tuple[str, Path | None, dict[str, str]]:
    """Return the address of a store that has the graph, its file, and the login."""
    if neo4j:
        server = stack.enter_context(running_neo4j(graph))
        login = {"LINEAGE_NEO4J_USER": server.user, "LINEAGE_NEO4J_PASSWORD": server.password}
        return server.bolt_uri, None, login
    path = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "store.db"
    shutil.copy(embedded_path(graph), path)
    return str(path), path, {}


def _soak(load: Load, watch: Watch, rate: float, minutes: float, file: Path) -> list[Minute]:
    done: list[Minute] = []
    left = minutes
    while left > 0:
        load.run(rate, 60 * min(1.0, left))
        done.append(watch.minute())
        print((_SHOWN + _ALSO).format(done[-1]), done[-1].error_kinds, flush=True)
        write_csv(file, done)
        left -= 1
    return done


def _limit(load: Load, watch: Watch, rate: float, seconds: float) -> Limit:
    def measure(tried: float) -> Minute:
        load.run(tried, seconds)
        found = watch.minute()
        print(f"{tried:6.1f}/s:", (_SHOWN + _ALSO).format(found), found.error_kinds, flush=True)
        return found

    limit = find_limit(measure, rate, lambda tried: int(tried * seconds))
    print(f"It holds {limit.held:g} requests a second, not {limit.broken:g}: {limit.first.broken}.")
    return limit


def _swallow(process: Popen[bytes]) -> None:
    while process.stderr is not None and process.stderr.read(65_536):
        pass


if __name__ == "__main__":
    sys.exit(main())
