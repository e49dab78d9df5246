"""The daemon process from which Spark forks its Python workers; it imports once what all workers need.

A worker that does its own imports needs several seconds and 100 MB; forked workers share both.
"""

from __future__ import annotations

import gc

from pyspark.daemon import manager

from lineage.model.dialects import DIALECTS
from lineage.sql.procedural.text.tokens import parser_of
from lineage_ingest.query_log.pipeline.engines import workers

__all__ = ["workers"]


def _serve() -> None:
    for dialect in DIALECTS.values():
        parser_of(dialect)
    gc.freeze()  # keeps memory pages shared with the workers: the garbage collector would write to each object
    manager()


if __name__ == "__main__":
    _serve()
