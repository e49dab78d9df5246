"""`python -m tests.soundness N [--dialect D] [--seed S] [--jobs J]`: N random queries, with their progress.

Exit codes: 0 no failure, 1 failures, which are printed as cases for tests/cases.
"""

from __future__ import annotations

import argparse
import os
import sys
from time import perf_counter

from tests.soundness.campaign import Campaign
from tests.soundness.grammar import GRAMMARS
from tests.soundness.parts import run_parts


def main() -> int:
    """Run the queries that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.soundness", description="random queries against engines")
    parser.add_argument("queries", type=int, help="how many")
    parser.add_argument("--dialect", choices=sorted(GRAMMARS), default="duckdb", help="which engine (default: duckdb)")
    parser.add_argument("--seed", type=int, default=1, help="which ones: the same seed gives the same queries")
    parser.add_argument("--first", type=int, default=0, help="the number of the first query")
    parser.add_argument("--ways", type=int, default=1, help="DuckDB: how often each column is changed (default: 1)")
    parser.add_argument("--jobs", type=int, help="processes (default: one per core; of Spark one)")
    options = parser.parse_args()
    jobs = options.jobs or (1 if options.dialect == "spark" else os.cpu_count() or 1)
    total = Campaign(options.seed, options.ways, options.dialect)
    begun = perf_counter()
    numbers = range(options.first, options.first + options.queries)
    for part in run_parts(options.seed, options.ways, numbers, jobs, options.dialect):
        total.add(part)
        total.seconds = perf_counter() - begun
        for failure in part.failures:
            print(f"\n{failure}", flush=True)
        print(f"\r{_progress(total)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(_progress(total))
    for reason, number in total.rejected.most_common(10):
        print(f"{number:8d} rejected: {reason}")
    return 1 if total.failures else 0


def _progress(campaign: Campaign) -> str:
    rate = campaign.queries / campaign.seconds if campaign.seconds else 0.0
    rejected = campaign.rejected.total()
    return (
        f"{campaign.queries} queries, {campaign.experiments} runs, {len(campaign.failures)} failed, "
        f"{rejected} rejected ({rejected / max(1, campaign.queries):.1%}), {rate:.0f} queries/s"
    )


if __name__ == "__main__":
    sys.exit(main())
