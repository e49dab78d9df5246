"""The process that Spark forks its Python workers from, with what all of them need imported once.

A worker that imports by itself takes some seconds and 100 MB that forked ones share.
"""

from __future__ import annotations

import gc

from pyspark.daemon import manager

from lineage.model.dialects import DIALECTS
from lineage.sql.parse.guard import parser_named
from lineage_ingest.query_log.pipeline import workers

__all__ = ["workers"]


def _serve() -> None:
    for dialect in DIALECTS.values():
        parser_named(dialect)
    gc.freeze()  # what is shared stays shared: the collector would write into each object
    manager()


if __name__ == "__main__":
    _serve()
