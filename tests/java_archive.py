"""An archive of the classes of Spark, as Java has loaded and verified them: with it Spark starts in half the time.

python -m tests.java_archive FILE

Java writes it at the end of a process that was told to, and takes it if the jars are the same: else it loads classes as
ever. Without the archive tests take longer, and are otherwise the same.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pyspark

from tests.java_options import QUIET, SHORT_LIVED, SMALL_HEAP

_SPARK = Path(pyspark.__file__).parent


def main(archive: Path) -> None:
    """Run a small job, and archive the classes that it used."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    options = (*SHORT_LIVED, SMALL_HEAP, f"-XX:ArchiveClassesAtExit={archive.absolute()}", QUIET)
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder, "job.py")
        job.write_text(_JOB, encoding="utf-8")
        subprocess.run(
            (_SPARK / "bin" / "spark-submit", job, folder),
            check=True,
            capture_output=True,
            cwd=folder,
            env={
                **os.environ,
                "SPARK_HOME": str(_SPARK),
                "PYSPARK_PYTHON": sys.executable,
                "SPARK_SUBMIT_OPTS": " ".join(options),
            },
        )


_JOB = """
import sys
from pyspark.sql import SparkSession, functions as f

folder = sys.argv[1]
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
spark = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
rows = spark.range(9).selectExpr("id % 3 AS part", "cast(id AS string) AS name", "id")
rows = rows.mapInArrow(lambda batches: batches, rows.schema)
rows.write.parquet(folder + "/in")
rows = spark.read.parquet(folder + "/in")
rows.groupBy("part").agg(f.max("name")).join(rows, "part").orderBy("id").write.json(folder + "/out")
spark.stop()
"""


if __name__ == "__main__":
    main(Path(sys.argv[1]))
