"""`enable`, `disable`: lineage of a Spark session's writes, from now on."""

from __future__ import annotations

import atexit
import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from lineage_ingest.spark_plan.listener.delivery import Delivery
from lineage_ingest.spark_plan.listener.destinations import Destination, destination_for
from lineage_ingest.spark_plan.listener.events import Application
from lineage_ingest.spark_plan.listener.executions import Executions
from lineage_ingest.spark_plan.listener.jvm_listener import JvmListener, ListenerLimits
from lineage_ingest.spark_plan.tables.datasets import Catalogs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["SparkLineage", "disable", "enable", "lineage_of"]

_LOG = logging.getLogger("lineage.spark_plan")
_LOCK = threading.Lock()
_ACTIVE: dict[str, SparkLineage] = {}
"""What is enabled, by Spark's application id: once for each application."""
_OLDEST = 4
"""The oldest major version of Spark whose plans are read: the classes of older ones differ."""
_CONFS = ("spark.sql.warehouse.dir", "spark.hadoop.hive.metastore.uris", "hive.metastore.uris")


@dataclass(slots=True)
class SparkLineage:
    """The lineage of one Spark application while it is enabled."""

    application: Application
    executions: Executions
    delivery: Delivery
    listener: JvmListener
    flush_seconds: float
    key: str
    target: str
    _is_closed: bool = False

    def flush(self, seconds: float | None = None) -> bool:
        """Wait until the lineage of what was written is delivered; return whether it is. Raises nothing."""
        limit = self.flush_seconds if seconds is None else seconds
        heard = self.listener.flush(limit)
        return self.delivery.flush(limit) and heard

    def counts(self) -> dict[str, int]:
        """Return what became of writes and events, by name."""
        counted = self.executions.counts
        return {
            "plans": counted.plans,
            "writes": counted.writes,
            "repeated": counted.repeated,
            "reduced": counted.reduced,
            "failed": counted.failed,
            "unknown": counted.unknown,
            "lost": counted.lost,
            **self.delivery.counts.to_dict(),
        }

    def close(self) -> None:
        """Deliver what is left and stop. Raises nothing."""
        with _LOCK:
            if self._is_closed:
                return
            self._is_closed = True
            _ACTIVE.pop(self.key, None)
        try:
            if not self.listener.flush(self.flush_seconds):
                _LOG.warning("the lineage of the last writes may be missing: Spark did not hand over all plans in time")
            self.listener.close()
            self.executions.finish()
            self.delivery.put([self.application.event("COMPLETE", datetime.now(UTC))])
            self.delivery.close(self.flush_seconds)
        except Exception:  # noqa: BLE001  a job must not fail because of its lineage
            _LOG.exception("lineage could not be finished")
        counted = self.counts()
        if counted["lost"] or counted["refused"]:
            _LOG.warning("lineage of %d executions and %d events is lost", counted["lost"], counted["refused"])


def enable(
    spark: SparkSession,
    target: str | os.PathLike[str] | None = None,
    *,
    job: str | None = None,
    namespace: str | None = None,
    token: str | None = None,
) -> SparkLineage | None:
    """Send the lineage of what this Spark application writes from now on; return None if that is not possible.

    `target` is a store (a path, `bolt://…`), an OpenLineage endpoint (`http://…`), a file (`….ndjson`) or a topic
    (`kafka://HOST:PORT/TOPIC`); without it, the conf `spark.lineage.target`, else `LINEAGE_SPARK_TARGET`. `job` is the
    name of the job, the application's by default, `namespace` that of the job. Whatever else is not possible is logged
    once, and the job goes on without lineage. An application has one target and one job: others are ignored and logged.

    Raises:
        ValueError: the target is of no kind that can work.
    """
    if target is not None:
        destination_for(str(target), None)
    try:
        return _enable(spark, str(target) if target is not None else None, job, namespace, token)
    except Exception as error:  # noqa: BLE001  a job must not fail because of its lineage
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        _LOG.warning("no lineage of this Spark job: %s", reason, exc_info=_LOG.isEnabledFor(logging.DEBUG))
        return None


def disable(spark: SparkSession) -> None:
    """Deliver what is left and send no more lineage of this application. Raises nothing."""
    try:
        lineage = _ACTIVE.get(str(spark.sparkContext.applicationId))
    except Exception:  # noqa: BLE001  the session has stopped
        lineage = next(iter(_ACTIVE.values()), None)
    if lineage is not None:
        lineage.close()


@contextmanager
def lineage_of(
    spark: SparkSession, target: str | os.PathLike[str] | None = None, *, job: str | None = None,
    namespace: str | None = None, token: str | None = None,
) -> Iterator[SparkLineage | None]:  # fmt: skip
    """Send the lineage of what the block writes; at its end, all of it is delivered or on disk."""
    lineage = enable(spark, target, job=job, namespace=namespace, token=token)
    try:
        yield lineage
    finally:
        if lineage is not None:
            lineage.close()


def _enable(
    spark: SparkSession, target: str | None, job: str | None, namespace: str | None, token: str | None
) -> SparkLineage | None:
    _check_version(spark)
    context = spark.sparkContext
    confs = {str(name): str(value) for name, value in context.getConf().getAll()}

    def conf(name: str, default: str = "") -> str:
        return str(spark.conf.get(f"spark.lineage.{name}", default))

    if conf("enabled", "true").lower() == "false":
        return None
    where = target or conf("target") or os.environ.get("LINEAGE_SPARK_TARGET")
    key = str(context.applicationId)
    with _LOCK:
        if (known := _ACTIVE.get(key)) is not None:
            _say_what_is_ignored(known, where, job, namespace)
            return known
        if not where:
            raise ValueError("no target: give one to enable(), or set spark.lineage.target or LINEAGE_SPARK_TARGET")
        confs.update({name: value for name in _CONFS if (value := spark.conf.get(name, ""))})
        destination = destination_for(where, token or conf("token") or os.environ.get("LINEAGE_TOKEN"), spark._jvm)
        spool = Path(conf("spool") or platformdirs.user_state_path("lineage-graph", appauthor=False) / "spark")
        application = Application.of(
            namespace or conf("namespace", "spark"), job or conf("job") or str(context.appName), key, str(spark.version)
        )
        delivery = Delivery(destination, spool, capacity=int(conf("queue", "5000")))
        executions = Executions(application, Catalogs(confs, conf("datasetNamespace") or None), delivery.put)
        limits = ListenerLimits(
            int(conf("plans", "10000")), int(conf("maxPlanCharacters", "16000000")), int(conf("timeBudgetMs", "2000"))
        )
        try:
            listener = JvmListener(spark, limits, executions.take)
        except BaseException:
            delivery.close(1.0)
            raise
        seconds = float(conf("flushSeconds", "10"))
        lineage = SparkLineage(application, executions, delivery, listener, seconds, key, _place(destination))
        _ACTIVE[key] = lineage
    delivery.put([application.event("START", datetime.now(UTC))])
    atexit.register(lineage.close)
    return lineage


def _say_what_is_ignored(known: SparkLineage, target: str | None, job: str | None, namespace: str | None) -> None:
    """Log what a second `enable` asks for that the application does not do."""
    place = _place(destination_for(target, None)) if target else known.target
    if place != known.target:
        _LOG.warning("lineage goes to %s already, not to %s: disable it first", known.target, place)
    application = known.application
    if (job or application.name, namespace or application.namespace) != (application.name, application.namespace):
        now, asked = (
            f"{application.namespace}/{application.name}",
            f"{namespace or application.namespace}/{job or application.name}",
        )
        _LOG.warning("lineage is of the job %s already, not of %s: disable it first", now, asked)


def _place(destination: Destination) -> str:
    """Return where a destination is, without credentials; of a file, its absolute path."""
    name = destination.name
    return name if "://" in name else str(Path(name).expanduser().resolve())


def _check_version(spark: SparkSession) -> None:
    """Raise an error that says what to do instead, if the session's plans cannot be read.

    Raises:
        ValueError: an older Spark, or a client of Spark Connect.
    """
    if int(str(spark.version).partition(".")[0]) < _OLDEST:
        raise ValueError(
            f"Spark {spark.version} is too old: plans are read on Spark {_OLDEST}.0 and newer. The OpenLineage agent "
            "runs on it, and the service takes its events"
        )
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        raise ValueError(
            "a client of Spark Connect has no plans: run the OpenLineage agent on the server, with the service as its "
            "endpoint"
        )


def _active() -> dict[str, Any]:
    return dict(_ACTIVE)
