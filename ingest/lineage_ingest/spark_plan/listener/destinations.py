"""Where the events of a Spark job go: a store, an OpenLineage endpoint, a file, a topic of Kafka."""

from __future__ import annotations

import hashlib
import http.client
import json
import logging
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from lineage.model.batch import LineageBatch, RunRecord

__all__ = ["Destination", "EventRefusedError", "UnavailableError", "destination_for"]

_LOG = logging.getLogger("lineage.spark_plan")
_ENDPOINT = "/api/v1/lineage"
_TIMEOUT = 10.0
_RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504})

_SCHEMES = frozenset(
    {"http", "https", "kafka", *(f"{name}{end}" for name in ("bolt", "neo4j") for end in ("", "+s", "+ssc"))}
)
_KINDS = (
    "a store (a path in a folder that exists, bolt://HOST:PORT), an OpenLineage endpoint (http://HOST:PORT), "
    "a file (….ndjson) or a topic (kafka://HOST:PORT/TOPIC)"
)

Json = dict[str, Any]


class UnavailableError(Exception):
    """The destination cannot take events now; they may be sent again."""


class EventRefusedError(Exception):
    """The destination refuses an event for good; `index` is its place among those that were sent."""

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(reason)
        self.index = index


class Destination(Protocol):
    """Takes events. An event may be sent twice: its run id and time identify it."""

    name: str

    def send(self, events: Sequence[Json]) -> None:
        """Send events, in order.

        Raises:
            UnavailableError: none, or not all, could be sent; send all of them again.
            EventRefusedError: one is refused; those before it were sent.
        """

    def rest(self) -> None:
        """Let go of what others may need, while there is nothing to send."""

    def close(self) -> None:
        """Close it."""


def destination_for(target: str, token: str | None, jvm: Any = None) -> Destination:
    """Return the destination that a text names.

    `http(s)://…` is an OpenLineage endpoint, `kafka://HOST:PORT/TOPIC` a topic, a name that ends in `.ndjson` or
    `.jsonl` a file, and everything else a store (a path, `bolt://…`).

    Raises:
        ValueError: the text names no destination.
    """
    scheme, separator, rest = target.partition("://")
    if separator and scheme not in _SCHEMES:
        raise ValueError(f"{target}: unknown kind of target: expected {_KINDS}")
    if scheme in ("http", "https"):
        return HttpEndpoint(target, token)
    if scheme == "kafka":
        servers, slash, topic = rest.partition("/")
        if not slash or not topic or not servers:
            raise ValueError(f"{target}: expected kafka://HOST:PORT/TOPIC")
        return KafkaTopic(servers, topic, jvm)
    if not separator and target.endswith((".ndjson", ".jsonl")):
        return EventFile(Path(target))
    if not separator and (Path(target).is_dir() or not Path(target).expanduser().absolute().parent.is_dir()):
        raise ValueError(f"{target}: no file can be there: expected {_KINDS}")
    return StoreDestination(target)


class EventFile:
    """A file to which events are appended, one a line."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._path = path

    def send(self, events: Sequence[Json]) -> None:
        """Append events.

        Raises:
            UnavailableError: the file cannot be written.
        """
        text = "".join(f"{json.dumps(event, separators=(',', ':'))}\n" for event in events)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise UnavailableError(str(error)) from error

    def rest(self) -> None:
        """Nothing is held."""

    def close(self) -> None:
        """Nothing is held."""


class HttpEndpoint:
    """An OpenLineage endpoint: this project's service, Marquez or any other. One event a request, on one connection."""

    def __init__(self, url: str, token: str | None) -> None:
        parts = urlsplit(url)
        if not parts.hostname:
            raise ValueError(f"{url}: expected http://HOST:PORT")
        self._make: Callable[[], http.client.HTTPConnection]
        if parts.scheme == "https":
            self._make = lambda: http.client.HTTPSConnection(parts.hostname or "", parts.port, timeout=_TIMEOUT)
        else:
            self._make = lambda: http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=_TIMEOUT)
        path = parts.path.rstrip("/") or _ENDPOINT
        self._path = f"{path}?{parts.query}" if parts.query else path
        self.name = f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{path}"
        self._headers = {"Content-Type": "application/json", "User-Agent": "lineage-graph-spark"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._connection: http.client.HTTPConnection | None = None

    def send(self, events: Sequence[Json]) -> None:
        """Post events.

        Raises:
            UnavailableError: no answer, or one that says to try again.
            EventRefusedError: the endpoint refuses an event.
        """
        for index, event in enumerate(events):
            status, text = self._post(json.dumps(event, separators=(",", ":")).encode())
            if status in _RETRIED:
                raise UnavailableError(f"{self.name} answers {status}")
            if status in (401, 403):
                raise UnavailableError(f"{self.name} answers {status}: it needs another token")
            if status >= 300:
                raise EventRefusedError(index, f"{self.name} answers {status}: {text[:200]}")

    def _post(self, body: bytes) -> tuple[int, str]:
        for attempt in (1, 2):
            fresh = self._connection is None
            connection = self._connection = self._connection or self._make()
            try:
                connection.request("POST", self._path, body, self._headers)
                answer = connection.getresponse()
                return answer.status, answer.read().decode("utf-8", "replace")
            except (OSError, http.client.HTTPException) as error:
                self.rest()
                if fresh or attempt == 2:  # a connection that was kept may have been closed by the other side
                    raise UnavailableError(f"{self.name}: {error or type(error).__name__}") from error
        raise AssertionError  # the second attempt returns or raises

    def rest(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def close(self) -> None:
        """Close the connection."""
        self.rest()


class StoreDestination:
    """A store: an embedded one is open only while there are events for it, so that others can read it in between."""

    def __init__(self, address: str) -> None:
        from lineage.store import open_store  # noqa: PLC0415  a job that sends to an endpoint needs no store

        self.name = address
        self._open = open_store
        self._store: Any = None
        self._ingest: Any = None
        self._sent: list[Json] = []
        self._refused = 0
        self._began = 0.0

    def send(self, events: Sequence[Json]) -> None:
        """Ingest events.

        Raises:
            UnavailableError: the store is locked, cannot be reached or written.
            EventRefusedError: an event is not valid.
        """
        from lineage.store.errors import StoreError  # noqa: PLC0415
        from lineage_ingest.openlineage.ingest import EventIngest  # noqa: PLC0415

        try:
            if self._store is None:
                self._began = time.monotonic()
                self._store = self._open(self.name)
                self._ingest = EventIngest(self._store)
            outcomes = self._ingest.take(list(events))
        except StoreError as error:
            self._close()
            raise UnavailableError(f"{self.name}: {error}") from error
        refused = next((one for one in outcomes if not one.accepted), None)
        self._sent += events if refused is None else events[: refused.index]
        if refused is not None:
            self._refused += 1
            raise EventRefusedError(refused.index, str(refused.reason))

    def rest(self) -> None:
        """Record what was ingested as a run, and close the store."""
        from lineage.store.errors import StoreError  # noqa: PLC0415

        if self._store is not None and self._sent:
            try:
                self._store.apply(self._run())
            except StoreError as error:
                _LOG.warning("%s: `lineage runs` lacks a run: %s", self.name, error)
            self._sent, self._refused = [], 0
        self._close()

    def _run(self) -> LineageBatch:
        """Return the run of the events since the store was opened; the same events give the same run."""
        digest = hashlib.sha256(json.dumps(self._sent, sort_keys=True).encode()).hexdigest()[:24]
        first = self._sent[0]
        parent = first["run"].get("facets", {}).get("parent", {}).get("job") or first["job"]
        accepted = len(self._sent)
        counts = {"files": 0, "events": accepted + self._refused, "accepted": accepted, "failed": self._refused}
        at = max(datetime.fromisoformat(one["eventTime"]) for one in self._sent)
        source, seconds = f"{parent['namespace']}/{parent['name']}", time.monotonic() - self._began
        return LineageBatch(RunRecord(f"openlineage:{digest}", "openlineage", source, at, counts, seconds))

    def _close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = self._ingest = None

    def close(self) -> None:
        """Close the store."""
        self.rest()


class KafkaTopic:
    """A topic of Kafka, written by the client in Spark's JVM: it comes with Spark's Kafka connector."""

    def __init__(self, servers: str, topic: str, jvm: Any) -> None:
        self.name = f"kafka://{servers}/{topic}"
        self._servers = servers
        self._topic = topic
        self._jvm = jvm
        self._producer: Any = None

    def send(self, events: Sequence[Json]) -> None:
        """Send events, with the run id as their key, and wait until the broker has them.

        Raises:
            UnavailableError: there is no client, or no broker answers.
        """
        try:
            client = self._jvm.org.apache.kafka.clients.producer
            if self._producer is None:
                self._producer = self._connect(client)
            waiting = []
            for event in events:
                run, text = event["run"]["runId"], json.dumps(event, separators=(",", ":"))
                waiting.append(self._producer.send(client.ProducerRecord(self._topic, run, text)))
            for one in waiting:
                one.get()
        except Exception as error:
            self.close()
            reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise UnavailableError(f"{self.name}: {reason} (does the job have Spark's Kafka connector?)") from error

    def _connect(self, client: Any) -> Any:
        settings = self._jvm.java.util.HashMap()
        settings.put("bootstrap.servers", self._servers)
        settings.put("acks", "all")
        settings.put("enable.idempotence", "true")
        settings.put("max.block.ms", str(int(_TIMEOUT * 1000)))
        settings.put("delivery.timeout.ms", str(int(_TIMEOUT * 2000)))
        settings.put("request.timeout.ms", str(int(_TIMEOUT * 1000)))
        serializer = self._jvm.org.apache.kafka.common.serialization.StringSerializer
        return client.KafkaProducer(settings, serializer(), serializer())

    def rest(self) -> None:
        """The client keeps its connection."""

    def close(self) -> None:
        """Close the client."""
        if self._producer is not None:
            try:
                self._producer.close()
            except Exception as error:  # noqa: BLE001  the JVM is gone
                _LOG.debug("the Kafka client could not be closed: %s", error)
            self._producer = None
