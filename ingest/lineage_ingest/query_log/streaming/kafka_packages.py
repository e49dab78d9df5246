"""Maven packages for Kafka, with their versions: defined only here."""

from __future__ import annotations

__all__ = ["BROKER", "CONNECTOR_DEPENDENCIES", "connector_package"]

_SCALA = "2.13"
"""The Scala version of PySpark 4."""

BROKER = f"org.apache.kafka:kafka_{_SCALA}:3.9.1"
"""The broker that the tests run."""

CONNECTOR_DEPENDENCIES = (
    f"org.apache.spark:spark-token-provider-kafka-0-10_{_SCALA}:4.0.0",
    "org.apache.kafka:kafka-clients:3.9.2",
    "org.apache.commons:commons-pool2:2.12.1",
)
"""Dependencies of Spark's Kafka connector that Spark does not include, for use without Maven."""


def connector_package(spark: str) -> str:
    """Return the package of Spark's Kafka connector for a version of Spark.

    The connector of a minor release works with all its patch releases, and not every patch release has a connector.

    >>> connector_package("4.2.1")
    'org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0'
    """
    minor = ".".join(spark.split(".")[:2])
    return f"org.apache.spark:spark-sql-kafka-0-10_{_SCALA}:{minor}.0"
