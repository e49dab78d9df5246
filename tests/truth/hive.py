"""Compares column lineage with what Hive wrote for the same statement: see tests/data/hive_lineage/README.md.

`python -m tests.truth.hive` prints the figures; with `--all`, every statement that differs too.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache
from typing import Any

from lineage import Catalog, extract
from lineage.model.influence.transformations import EdgeKind
from lineage.model.statement import ColumnRef, StatementLineage
from tests.truth.compare import DATA

_PARTITION = re.compile(r"\bPARTITION\s*\(([^)]*)\)", re.IGNORECASE)


@dataclass(frozen=True)
class Compared:
    """A statement, its worst completeness, and where it differs from Hive."""

    sql: str
    completeness: str
    differences: tuple[str, ...]


@cache
def compared() -> dict[str, Compared]:
    """Return every statement by the name of its file and its number in it."""
    numbers: Counter[str] = Counter()
    found = {}
    for line in (DATA / "hive_lineage" / "truth.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        file = one["file"].removesuffix(".q.out")
        numbers[file] += 1
        statements = extract(one["sql"], "hive", Catalog.from_dict(one["schema"], "hive"))
        worst = "full" if {s.completeness for s in statements} == {"full"} else "less"
        found[f"{file} {numbers[file]}"] = Compared(one["sql"], worst, tuple(_differences(statements, one)))
    return found


def _differences(statements: list[StatementLineage], one: dict[str, Any]) -> list[str]:
    reported: dict[str, set[str]] = defaultdict(set)
    contributing: dict[str, set[str]] = defaultdict(set)
    for edge in (edge for statement in statements for edge in statement.edges):
        if isinstance(edge.target, ColumnRef):
            target = _name(edge.target)
            source = ".".join(_name(edge.source).split(".")[:2])  # Hive gives the column, not its field
            reported[target].add(source)
            if edge.kind is EdgeKind.CONTRIBUTES:
                contributing[target].add(source)
    found = []
    truth = {name.lower(): {source.lower() for source in sources} for name, (_, sources) in one["truth"].items()}
    for name, sources in truth.items():
        found += [f"{name}: {source} is missing" for source in sorted(sources - reported[name])]
        found += [f"{name}: {source} is too much" for source in sorted(contributing[name] - sources)]
    partitions = {  # Hive writes no lineage for partition columns
        item.split("=")[0].strip(" `\n").lower()
        for group in _PARTITION.findall(one["sql"])
        for item in group.split(",")
    }
    more = {name for name in contributing if name not in truth and name.partition(".")[2] not in partitions}
    return found + [f"{name} is not a target" for name in sorted(more) if contributing[name]]


def _name(column: ColumnRef) -> str:
    table = str(column.table).rpartition(".")[2]
    return f"{table}.{column.column}".replace('"', "").lower()


def main() -> None:
    """Print how many statements agree, and how many differ, by completeness."""
    counts = Counter((one.completeness, bool(one.differences)) for one in compared().values())
    for (completeness, differs), count in sorted(counts.items()):
        print(f"{count:4} {'differ' if differs else 'agree'}, {'full' if completeness == 'full' else 'not full'}")
    if "--all" in sys.argv:
        for name, one in compared().items():
            if one.differences:
                print(f"\n{name} [{one.completeness}]\n{one.sql}", *one.differences, sep="\n    ")


if __name__ == "__main__":
    main()
