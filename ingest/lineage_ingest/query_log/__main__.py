"""`python -m lineage_ingest.query_log PATHS …`, and for `spark-submit`: the command `lineage ingest log`."""

from __future__ import annotations

import typer

from lineage_ingest.cli.log import log

if __name__ == "__main__":
    typer.run(log)
