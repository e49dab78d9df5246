"""Where the time of a test run goes, by the report that `make test` writes: by folder, by server, by file.

`python -m tests.project.durations [build/junit.xml]`
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

_REPORT = Path(__file__).parents[2] / "build" / "junit.xml"
_SERVERS = {
    "Neo4j": ("neo4j",),
    "Spark": ("spark", "streams", "row_changes", "lakehouse"),
    "PostgreSQL, MariaDB": ("postgres", "mariadb", "referee_servers"),
    "Kafka": ("kafka",),
    "dbt": ("built",),
}
_DEAREST = 25


class Duration(NamedTuple):
    """A test and its seconds, set-up and tear-down among them."""

    module: str
    name: str
    seconds: float

    @property
    def folder(self) -> str:
        """Its folder under `tests`, or the package whose doctest it is."""
        first, _, rest = self.module.partition(".")
        return rest.partition(".")[0] if first == "tests" else f"doctests of {first}"

    @property
    def server(self) -> str:
        """The server that it waits for."""
        about = f"{self.name} {self.module}".lower()
        return next((server for server, words in _SERVERS.items() if any(word in about for word in words)), "none")


def durations(report: Path) -> Iterator[Duration]:
    """Yield the tests of a JUnit report."""
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        yield Duration(str(case.get("classname")), str(case.get("name")), float(case.get("time") or 0))


def main(report: Path) -> None:
    """Print the tables, as Markdown."""
    listed = list(durations(report))
    for title, of in (("folder", "folder"), ("server", "server"), (f"dearest {_DEAREST} files", "module")):
        seconds: defaultdict[str, float] = defaultdict(float)
        numbers: Counter[str] = Counter()
        for one in listed:
            seconds[getattr(one, of)] += one.seconds
            numbers[getattr(one, of)] += 1
        shown = sorted(seconds.items(), key=lambda one: -one[1])[:_DEAREST]
        print(f"| {title} | seconds | tests |\n|---|---:|---:|")
        for name, spent in shown:
            print(f"| `{name}` | {spent:,.0f} | {numbers[name]:,} |")
        print(f"| all | {sum(seconds.values()):,.0f} | {numbers.total():,} |\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else _REPORT)
