"""Explains the errors that Spark and Kafka report for a failed stream."""

from __future__ import annotations

import re

__all__ = ["StreamFailedError", "explain_failure"]

_LOST = ("failOnDataLoss", "offsets out of range", "OffsetOutOfRange")
_UNREACHABLE = (
    "TimeoutException",
    "Timed out waiting for a node",
    "No resolvable bootstrap",
    "Failed to create new KafkaAdminClient",
    "UnknownTopicOrPartition",
    "AuthenticationException",
)
_WRAPPING = re.compile(r"\[\w+\] Query \[[^\]]*\] terminated with exception: | ?SQLSTATE: \w+")
_CAUSE = re.compile(r"^Caused by: (?:[\w.$]+: )?(.+)$", re.MULTILINE)
_GONE = ("FileNotFoundException", "does not exist")


class StreamFailedError(RuntimeError):
    """A stream that cannot continue; `hint` suggests what to do."""

    def __init__(self, message: str, hint: str | None = None, *, unreachable: bool = False) -> None:
        super().__init__(message)
        self.hint = hint
        self.unreachable = unreachable


def explain_failure(text: str) -> StreamFailedError:
    """Return an error with a hint for the text that Spark reports about a failed stream."""
    causes = _CAUSE.findall(text)
    first = causes[-1] if causes else next((line.strip() for line in _WRAPPING.sub("", text).splitlines()), text)
    if any(word in text for word in _LOST):
        return StreamFailedError(
            f"messages were deleted from the topic before they were read: {first}",
            "Kafka's retention was too short. --kafka-option failOnDataLoss=false continues with what is left",
        )
    if "Failed to find data source: kafka" in text or "DATA_SOURCE_NOT_FOUND" in text:
        return StreamFailedError(
            "Spark's Kafka connector is missing",
            "name its jars: --spark-conf spark.jars=spark-sql-kafka-0-10.jar,…, "
            "or its package: --spark-conf spark.jars.packages=…",
        )
    if any(word in text for word in _UNREACHABLE):
        return StreamFailedError(f"Kafka does not answer: {first}", "check --kafka and --topic", unreachable=True)
    if any(word in text for word in _GONE):
        return StreamFailedError(
            f"a file that landed is gone: {first}", "restore it, or create an empty file of that name, to continue"
        )
    return StreamFailedError(f"the stream ended: {first}")
