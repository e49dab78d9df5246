"""What does not grow: a worker's memory over 100,000 distinct statements, the share of a huge statement that is ours,
and a chain of CTEs that each read the one before twice.

The first runs in a process of its own, which is what a worker is.
"""

from __future__ import annotations

import gc
import json
import random
import re
import resource
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp

from lineage import Catalog, extract
from tests.truth.compare import DATA, DEMO

STATEMENTS = 100_000
ROUNDS = 7
CTES, COLUMNS, LINES = 300, 2_000, 5_000
CHAINS = (50, 100, 200)
_SPARK_SHARE = 0.6


def run() -> dict[str, Any]:
    return {**_memory(), **_huge(), **_chains()}


def _memory() -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.benchmarks.scale", str(STATEMENTS)]
    root = Path(__file__).parents[2]
    ended = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
    figures: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return figures


def work(number: int) -> dict[str, Any]:
    """Extract so many distinct statements, as a worker does, and return its memory."""
    catalogs = {"spark": Catalog.from_json(DATA / "tpcds" / "schema.json", "spark")}
    catalogs["postgres"] = Catalog.from_ddl(DEMO / "create.sql", "postgres")
    figures: dict[str, Any] = {}
    seen: set[int] = set()
    characters = 0
    began = time.perf_counter()
    for position, (dialect, text) in enumerate(distinct_statements(number)):
        extract(text, dialect, catalogs[dialect])
        seen.add(hash(text))
        characters += len(text)
        if position + 1 in (1_000, 10_000):
            figures[f"rss_mb_after_{position + 1}"] = _rss()
    figures[f"rss_mb_after_{number}"] = _rss()
    figures["rss_peak_mb"] = _peak()
    figures["distinct_statements"] = len(seen)
    figures["distinct_megabytes"] = round(characters / 1e6)
    figures["distinct_seconds"] = round(time.perf_counter() - began)
    return figures


def distinct_statements(number: int) -> Iterator[tuple[str, str]]:
    """Yield statements that all differ in shape: the queries and sub-queries of TPC-DS and MIMIC-IV, under other names.

    Every second one keeps the names of the catalog's tables and columns, and differs by columns that it adds.
    """
    shapes = {
        "spark": _queries(sorted((DATA / "tpcds").glob("*.sql")), "spark"),
        "postgres": _queries(sorted((DEMO / "concepts").glob("*/*.sql")), "postgres"),
    }
    rng = random.Random(1)
    for position in range(number):
        dialect = "spark" if rng.random() < _SPARK_SHARE else "postgres"
        text, names = rng.choice(shapes[dialect])
        if position % 2 and names:
            text = re.sub(rf"\b({'|'.join(names)})\b", rf"\1_{position}", text)
            yield dialect, text
        else:
            added = ", ".join(f"1 + {position} AS added_{position}_{i}" for i in range(1 + position % 5))
            yield dialect, f"SELECT q{position}.*, {added} FROM ({text}) AS q{position}"


def _queries(files: list[Path], dialect: str) -> list[tuple[str, list[str]]]:
    """Return the text of every query block in some files, each with the names of its tables and columns."""
    found: dict[str, list[str]] = {}
    for path in files:
        for tree in sqlglot.parse(path.read_text(encoding="utf-8"), dialect=dialect):
            for select in tree.find_all(exp.Select) if tree is not None else ():
                names = {i.name for i in select.find_all(exp.Identifier) if not i.args.get("quoted")}
                found[select.sql(dialect=dialect, comments=False)] = sorted(n for n in names if n.isidentifier())
    return [(text, names) for text, names in found.items() if len(text) < 4_000]


def _peak() -> int:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return round(int(status.partition("VmHWM:")[2].split()[0]) / 1024)


def _rss() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return round(pages * resource.getpagesize() / 2**20)


_CASE = "CASE WHEN b.c{i} > {n} THEN b.c{i} + p.c{next} ELSE p.c{i} END"
_MIXED = ("p.c{i}", "b.c{i} + p.c{i}", _CASE)


def _huge() -> dict[str, Any]:
    """Return the figures of a statement of columns that are handed on, summed and chosen, and of one of CASEs only."""
    return {**_measured("huge", _MIXED), **_measured("huge_of_cases", (_CASE,))}


def _measured(name: str, forms: tuple[str, ...]) -> dict[str, Any]:
    text = huge_statement(CTES, COLUMNS, LINES, forms)
    catalog = Catalog.from_dict({"base": [f"c{i}" for i in range(COLUMNS // CTES + 1)]}, "postgres")
    [statement] = extract(text, "postgres", catalog)
    pairs = []
    for _ in range(ROUNDS):
        gc.collect()
        began = time.process_time()
        sqlglot.parse(text, dialect="postgres")
        parsed = time.process_time()
        extract(text, "postgres", catalog)
        pairs.append((parsed - began, time.process_time() - parsed))
    return {
        f"{name}_lines": text.count("\n") + 1,
        f"{name}_output_columns": len(statement.output_columns),
        f"{name}_edges": len(statement.edges),
        f"{name}_completeness": statement.completeness,
        f"{name}_parse_seconds": round(statistics.median(parse for parse, _ in pairs), 3),
        f"{name}_total_to_parse": round(statistics.median(whole / parse for parse, whole in pairs), 2),
    }


def huge_statement(ctes: int, columns: int, lines: int, forms: tuple[str, ...]) -> str:
    """Return a statement of many CTEs, each over the one before and the base table, that shows all their columns.

    `forms` are what the CTEs compute, in turn.
    """
    each = columns // ctes + 1
    parts = []
    for number in range(ctes):
        before = f"m{number - 1}" if number else "base"
        listed = ",\n".join(
            f"    {forms[i % len(forms)].format(i=i, next=(i + 1) % each, n=number)} AS c{i}" for i in range(each)
        )
        parts.append(
            f"m{number} AS (SELECT\n{listed}\n  FROM base AS b JOIN {before} AS p ON p.c0 = b.c0\n"
            f"  WHERE b.c1 IS NOT NULL AND b.c2 <> {number})"
        )
    shown = ",\n".join(f"  m{at % ctes}.c{at // ctes} AS o{at}" for at in range(columns))
    joins = " ".join(f"JOIN m{number} ON m{number}.c0 = m0.c0" for number in range(1, ctes))
    text = f"WITH {', '.join(parts)}\nSELECT\n{shown}\nFROM m0 {joins}\nWHERE m0.c0 > 0"
    return text + "".join(f"\n  AND m{line % ctes}.c1 <> {line}" for line in range(lines - text.count("\n") - 1))


def _chains() -> dict[str, Any]:
    """Return time and memory of chains of several lengths, against those of the shortest."""
    figures: dict[str, Any] = {}
    first: tuple[float, float] | None = None
    for length in CHAINS:
        text = chain(length)
        extract(text, "postgres")
        seconds = min(_seconds(text) for _ in range(ROUNDS))
        gc.collect()
        tracemalloc.start()
        extract(text, "postgres")
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        first = first or (seconds, peak)
        figures[f"chain_{length}_ms"] = round(seconds * 1e3, 2)
        figures[f"chain_{length}_peak_mb"] = round(peak, 2)
        figures[f"chain_{length}_time_to_length"] = round(seconds / first[0] / (length / CHAINS[0]), 2)
        figures[f"chain_{length}_memory_to_length"] = round(peak / first[1] / (length / CHAINS[0]), 2)
    return figures


def chain(length: int) -> str:
    """Return a chain of CTEs that each read the one before twice: 2 to the power of its length paths to the base."""
    parts = ["s0 AS (SELECT a, b FROM t)"]
    parts += [f"s{i} AS (SELECT a + b AS a, a - b AS b FROM s{i - 1})" for i in range(1, length)]
    return f"WITH {', '.join(parts)} SELECT a, b FROM s{length - 1}"


def _seconds(text: str) -> float:
    began = time.process_time()
    extract(text, "postgres")
    return time.process_time() - began


if __name__ == "__main__":
    print(json.dumps(work(int(sys.argv[1]))))
