"""Runs the command `lineage follow log` by `python -m lineage_ingest.query_log.streaming PATHS …` or `spark-submit`."""

from __future__ import annotations

import typer

from lineage_ingest.cli.follow import log

if __name__ == "__main__":
    typer.run(log)
