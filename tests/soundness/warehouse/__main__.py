"""`python -m tests.soundness.warehouse N [--seed S] [--without KINDS] …`: N random warehouses, with a summary.

Exit codes: 0 no failure, 1 failures, which are printed as scripts.
"""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter

from lineage_ingest.query_log.pipeline.engines.opening import EngineKind
from tests.neo4j_fixture import first_there_is
from tests.soundness.warehouse.campaign import Campaign, Plan
from tests.soundness.warehouse.check import Settings
from tests.soundness.warehouse.generator import KINDS
from tests.soundness.warehouse.histories import CHANGES
from tests.soundness.warehouse.parts import run_parts

_OTHERS = (
    *("catalog", "parts", "update_from", "use_name", "set_operation", "sub_query", "star", "pivot", "natural", "using"),
    *("ordinal", "column_facet", "order", "window", "group", "from_first", "column_alias"),
)
_CHECKS = ("missed", "invented", "one-way", "again", "order", "past", "fresh", "whole")


def main() -> int:
    """Check the warehouses that the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.soundness.warehouse",
        description="Random warehouses against DuckDB.",
        epilog=f"Kinds of statement: {', '.join(KINDS)}. Changes of files: {', '.join(CHANGES)}. "
        f"What else can be left out: {', '.join(_OTHERS)}.",
    )
    parser.add_argument("warehouses", type=int, help="how many")
    parser.add_argument("--seed", type=int, default=1, help="which ones: the same seed gives the same warehouses")
    parser.add_argument("--first", type=int, default=0, help="the number of the first warehouse")
    parser.add_argument("--way", choices=("files", "log", "events"), default="", help="one way in only")
    parser.add_argument("--without", default="", help="kinds to leave out, with commas")
    parser.add_argument("--model", action="store_true", help="ask no store: hold what this test knows against DuckDB")
    parser.add_argument("--ignore", default="", help=f"checks to leave out, of {', '.join(_CHECKS)}")
    parser.add_argument("--engine", choices=("local", "spark"), default="local", help="what reads query logs")
    parser.add_argument("--store", choices=("embedded", "neo4j"), default="embedded", help="what is ingested into")
    parser.add_argument("--shrink", type=float, default=120.0, help="seconds to shrink a failure, 0: not at all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one per core)")
    parser.add_argument("--to", type=Path, help="folder that gets a file for each failure")
    options = parser.parse_args()
    without = {name for name in options.without.split(",") if name}
    if unknown := without - {*KINDS, *CHANGES, *_OTHERS}:
        parser.error(f"no such kind: {', '.join(sorted(unknown))}")
    ignored = frozenset(name for name in options.ignore.split(",") if name)
    with ExitStack() as stack:
        address = first_there_is(stack) if options.store == "neo4j" else None
        settings = Settings(asked=not options.model, engine=EngineKind(options.engine), store=address, ignored=ignored)
        return _check(options, frozenset(without), settings)


def _check(options: argparse.Namespace, without: frozenset[str], settings: Settings) -> int:
    """Check the warehouses and print what fails; return the exit code."""
    jobs = 1 if settings.store is not None else options.jobs  # it is one database
    plan = Plan(options.seed, options.way, without, settings, options.shrink)
    total = Campaign(plan)
    began = perf_counter()
    for part in run_parts(plan, range(options.first, options.first + options.warehouses), jobs):
        total.add(part)
        total.seconds = perf_counter() - began
        for failure in part.failures:
            print(f"\n{failure}", flush=True)
            if options.to is not None:
                options.to.mkdir(parents=True, exist_ok=True)
                name = f"{failure.plan.seed}-{failure.number}-{failure.finding.kind}.sql"
                (options.to / name).write_text(f"{failure}\n", encoding="utf-8")
        print(f"\r{_progress(total)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(_progress(total))
    print("statements:", ", ".join(f"{kind} {number}" for kind, number in total.statements.most_common()))
    for reason, number in total.rejected.most_common(10):
        print(f"{number:8d} rejected: {reason}")
    return 1 if total.failures else 0


def _progress(campaign: Campaign) -> str:
    rate = campaign.warehouses / campaign.seconds if campaign.seconds else 0.0
    return (
        f"{campaign.warehouses} warehouses, {campaign.experiments} experiments, {campaign.asked} times asked, "
        f"{len(campaign.failures)} failed, {campaign.rejected.total()} rejected, {rate:.2f} warehouses/s"
    )


if __name__ == "__main__":
    sys.exit(main())
