"""A Spark Connect server with lineage: the sessions of its clients run in a JVM to which this process belongs."""

from __future__ import annotations

import signal
import threading
from types import FrameType

from lineage_ingest.spark_plan.listener.spark_lineage import disable, enable

__all__ = ["serve_connect"]

_PLUGIN = "org.apache.spark.sql.connect.SparkConnectPlugin"
_LOOK_EVERY = 1.0


def serve_connect() -> None:
    """Serve Spark Connect at `spark.connect.grpc.binding.port` (15002), until SIGTERM, Ctrl-C or the end of Spark."""
    from py4j.protocol import Py4JError  # noqa: PLC0415  Spark is an extra
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415

    stopping = threading.Event()

    def request_stop(_number: int, _frame: FrameType | None) -> None:
        stopping.set()

    for which in (signal.SIGINT, signal.SIGTERM):
        signal.signal(which, request_stop)
    SparkContext._ensure_initialized()  # starts the JVM, which knows the confs of spark-submit
    plugins = str(SparkConf().get("spark.plugins", "") or "")
    if _PLUGIN not in plugins:
        plugins = f"{plugins},{_PLUGIN}".lstrip(",")
    spark = SparkSession.builder.config("spark.plugins", plugins).getOrCreate()
    enable(spark)
    port = spark.conf.get("spark.connect.grpc.binding.port", "15002")
    print(f"Spark Connect at port {port}", flush=True)
    try:
        while not stopping.wait(_LOOK_EVERY) and not spark.sparkContext._jsc.sc().isStopped():
            pass
    except (Py4JError, OSError):  # the JVM has ended
        return
    disable(spark)
    spark.stop()
