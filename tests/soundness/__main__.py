"""`python -m tests.soundness N [--seed S]`: N random queries, with a line of progress and a summary.

Exit codes: 0 no failure, 1 failures, which are printed as cases for tests/cases.
"""

from __future__ import annotations

import argparse
import sys

from tests.soundness.campaign import Campaign

_CHUNK = 250


def main() -> int:
    """Run the queries that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.soundness", description="random queries against DuckDB")
    parser.add_argument("queries", type=int, help="how many")
    parser.add_argument("--seed", type=int, default=1, help="which ones: the same seed gives the same queries")
    parser.add_argument("--first", type=int, default=0, help="the number of the first query")
    parser.add_argument("--ways", type=int, default=None, help="how often each column is changed (default: every way)")
    options = parser.parse_args()
    campaign = Campaign(options.seed, options.ways)
    last = options.first + options.queries
    for start in range(options.first, last, _CHUNK):
        campaign.run(range(start, min(start + _CHUNK, last)))
        print(f"\r{_progress(campaign)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for failure in campaign.failures:
        print(f"\n# {failure.finding.kind}: {'; '.join(failure.finding.details)}\n{failure.case}")
    print(_progress(campaign))
    for reason, number in campaign.rejected.most_common(10):
        print(f"{number:8d} rejected: {reason}")
    campaign.close()
    return 1 if campaign.failures else 0


def _progress(campaign: Campaign) -> str:
    rate = campaign.queries / campaign.seconds if campaign.seconds else 0.0
    rejected = campaign.rejected.total()
    return (
        f"{campaign.queries} queries, {campaign.experiments} runs, {len(campaign.failures)} failed, "
        f"{rejected} rejected ({rejected / max(1, campaign.queries):.1%}), {rate:.0f} queries/s"
    )


if __name__ == "__main__":
    sys.exit(main())
