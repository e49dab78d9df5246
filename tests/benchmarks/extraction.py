"""Extraction against parsing alone: the whole of it (edges, spans, diagnostics) ÷ sqlglot's parse of the same text.

Both run in this process, turn by turn, under the same garbage collector settings; the median of the ratios counts.
The processor's time is taken, not the clock's: other work on the machine counts less.
"""

from __future__ import annotations

import gc
import resource
import statistics
import time
from collections.abc import Callable
from typing import Any

import sqlglot

from lineage import Catalog, extract
from tests.truth.compare import DATA, DEMO

ROUNDS = 41


def run() -> dict[str, Any]:
    mimic = [path.read_text(encoding="utf-8") for path in sorted(DEMO.glob("concepts/*/*.sql"))]
    tpcds = [path.read_text(encoding="utf-8") for path in sorted((DATA / "tpcds").glob("*.sql"))]
    return {
        **_measure("mimic_iv", mimic, "postgres", Catalog.from_ddl(DEMO / "create.sql", "postgres")),
        **_measure("tpcds", tpcds, "spark", Catalog.from_json(DATA / "tpcds" / "schema.json", "spark")),
        "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def _measure(name: str, texts: list[str], dialect: str, catalog: Catalog) -> dict[str, Any]:
    def parse() -> None:
        for text in texts:
            sqlglot.parse(text, dialect=dialect)

    def whole() -> None:
        for text in texts:
            extract(text, dialect, catalog)

    for warm_up in (parse, whole):
        warm_up()
    pairs = [(_seconds(parse), _seconds(whole)) for _ in range(ROUNDS)]
    statements = sum(len(extract(text, dialect, catalog)) for text in texts)
    parsing, total = (statistics.median(column) for column in zip(*pairs, strict=True))
    return {
        f"{name}_total_to_parse": round(statistics.median(whole / parse for parse, whole in pairs), 3),
        f"{name}_statements_per_second": round(statements / total),
        f"{name}_parse_seconds": round(parsing, 4),
    }


def _seconds(call: Callable[[], None]) -> float:
    gc.collect()
    began = time.process_time()
    call()
    return time.process_time() - began
