"""Run a PySpark job with lineage, without a change to its code.

    python -m lineage_ingest.spark_plan job.py ARGUMENTS
    spark-submit $(python -m lineage_ingest.spark_plan --path) job.py ARGUMENTS

Or a Spark Connect server, with lineage of what its clients write:

    spark-submit $(python -m lineage_ingest.spark_plan --path) --connect-server

The target is the conf `spark.lineage.target`, else LINEAGE_SPARK_TARGET.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

__all__ = ["run_job"]

_USAGE = """usage: python -m lineage_ingest.spark_plan JOB.py [ARGUMENTS …]
       spark-submit $(python -m lineage_ingest.spark_plan --path) JOB.py [ARGUMENTS …]
       spark-submit $(python -m lineage_ingest.spark_plan --path) --connect-server

Runs a PySpark job with lineage of what it writes, or a Spark Connect server with
lineage of what its clients write. The target (a store, an OpenLineage
endpoint, a file or a Kafka topic) is the conf spark.lineage.target, else the environment
variable LINEAGE_SPARK_TARGET. --path prints the path of this program, for spark-submit."""


def run_job(job: str, arguments: list[str]) -> None:
    """Run the file of a job as `__main__`; lineage is enabled as soon as the job has a Spark session."""
    _enable_with_session()
    sys.argv = [job, *arguments]
    sys.path.insert(0, str(Path(job).resolve().parent))
    runpy.run_path(job, run_name="__main__")


def _enable_with_session() -> None:
    from pyspark.sql import SparkSession  # noqa: PLC0415  Spark is an extra

    from lineage_ingest.spark_plan.listener.spark_lineage import enable  # noqa: PLC0415

    original = SparkSession.Builder.getOrCreate

    def get_or_create(builder: Any) -> SparkSession:
        spark = original(builder)
        if hasattr(spark, "_jsparkSession"):  # Spark Connect has no JVM here
            enable(spark)
        return spark

    setattr(SparkSession.Builder, "getOrCreate", get_or_create)  # noqa: B010  typed as a property


def _main(arguments: list[str]) -> int:
    if arguments[:1] == ["--path"]:
        print(Path(__file__).resolve())
        return 0
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_USAGE, file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    if arguments[0] == "--connect-server":
        from lineage_ingest.spark_plan.listener.connect_server import serve_connect  # noqa: PLC0415  a job needs none

        serve_connect()
        return 0
    run_job(arguments[0], arguments[1:])
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
