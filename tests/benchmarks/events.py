"""OpenLineage events into an embedded store: in this process, over HTTP by batch and one by one, and from Kafka.

The events are those of runs of a hundred jobs: START and COMPLETE, two inputs, an output with a schema of ten columns
and column lineage. `store_only` ingests them in batches of 2,000 without any transport, with the garbage collector set
as the others have it; each other rate is compared with it, within one run. Over HTTP each client sends the next request
when the one before it is answered, which is when its events are durable. The topic is read to its end by the command.
Rates by the clock depend on what else the machine does; those by the processor much less.
"""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import urlsplit

from confluent_kafka import Producer

from lineage.garbage_collection import seldom_collecting
from lineage.store import open_store
from lineage_ingest.openlineage import EventIngest
from lineage_ingest.query_log.streaming.kafka_packages import BROKER
from tests.cli.test_serve_command import served
from tests.events.event_builders import event
from tests.kafka_fixture import running_broker
from tests.maven_jars import fetched

EVENTS = 8_000
SINGLE_EVENTS = 1_600
BATCH = 500
GROUP = 2_000
JOBS = 100
COLUMNS = 10


class Rate(NamedTuple):
    """Events per second, and per second of a processor that the process that stores them used."""

    by_clock: float
    by_processor: float


def run() -> dict[str, Any]:
    numbers = itertools.count(1)
    rates: dict[str, Rate] = {}
    with tempfile.TemporaryDirectory() as folder:
        rates["store_only"] = _store_only(Path(folder) / "alone.db", numbers)
        with served("--store", str(Path(folder) / "store.db")) as (address, process):
            threading.Thread(target=_read_log, args=(process.stderr,), daemon=True).start()
            _send(address, [events_of_runs(numbers, 2 * JOBS)])
            for clients in (1, 4):
                batches = _in_batches(events_of_runs(numbers, EVENTS), BATCH)
                rates[f"{clients}_clients_batches_of_500"] = _over_http(address, process.pid, batches, clients, EVENTS)
            for clients in (8, 64):
                runs = _in_batches(events_of_runs(numbers, SINGLE_EVENTS), 2)
                rates[f"{clients}_clients_one_by_one"] = _over_http(address, process.pid, runs, clients, SINGLE_EVENTS)
            status = Path(f"/proc/{process.pid}/status").read_text().split("VmRSS:")[1]
        rates["kafka"] = _topic(Path(folder) / "topic.db", numbers)
    alone = rates["store_only"]
    return {
        "events_per_second": {name: round(rate.by_clock) for name, rate in rates.items()},
        "events_per_processor_second": {name: round(rate.by_processor) for name, rate in rates.items()},
        "processor_ratio_to_store_only": {
            name: round(rate.by_processor / alone.by_processor, 2) for name, rate in rates.items() if rate is not alone
        },
        "service_megabytes": int(status.split()[0]) // 1024,
        "load_average": round(os.getloadavg()[0], 1),
    }


def _store_only(path: Path, numbers: Iterator[int]) -> Rate:
    with open_store(path) as store, seldom_collecting():
        ingest = EventIngest(store)
        ingest.take(events_of_runs(numbers, 2 * JOBS))
        groups = _in_batches(events_of_runs(numbers, EVENTS), GROUP)
        began, used = time.perf_counter(), time.process_time()
        for group in groups:
            ingest.take(group)
        return Rate(EVENTS / (time.perf_counter() - began), EVENTS / (time.process_time() - used))


def _over_http(address: str, service: int, requests: Sequence[Any], clients: int, events: int) -> Rate:
    """Send requests, or the events of runs one by one, divided among clients."""
    of_clients = _deal(requests, clients)
    if len(requests[0]) == 2:
        of_clients = [list(itertools.chain.from_iterable(some)) for some in of_clients]
    used = _processor_seconds(service)
    seconds = _seconds_of(address, of_clients)
    return Rate(events / seconds, events / (_processor_seconds(service) - used))


def _topic(path: Path, numbers: Iterator[int]) -> Rate:
    """Return the rate of the command. It counts from joining the group on; the processor's, also its start."""
    with running_broker(fetched("kafka-broker", (BROKER,))) as broker:
        producer = Producer({"bootstrap.servers": broker, "allow.auto.create.topics": True})
        for one in events_of_runs(numbers, EVENTS):
            producer.produce("events", json.dumps(one), key=one["run"]["runId"])
            producer.poll(0)
        assert producer.flush(60) == 0
        code = "from lineage.cli.main import run; run()"
        source = ("--kafka", broker, "--topic", "events", "--once")
        command = [sys.executable, "-c", code, "ingest", "openlineage", *source, "--store", str(path), "-f", "json"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        figures = json.loads(done.stdout)
        assert figures["accepted"] == EVENTS, done.stderr
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Rate(EVENTS / float(figures["seconds"]), EVENTS / used)


def _processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _deal(items: Sequence[Any], clients: int) -> list[Sequence[Any]]:
    """Return the items for each client, by turns: what clients send at one time happened at one time."""
    return [items[client::clients] for client in range(clients)]


def _seconds_of(address: str, of_clients: Sequence[Sequence[Any]]) -> float:
    threads = [threading.Thread(target=_send, args=(address, one)) for one in of_clients]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - began


def _read_log(log: IO[bytes] | None) -> None:
    """Read what the service logs, a line a request: it would wait once the pipe is full."""
    with contextlib.suppress(OSError, ValueError):
        while log is not None and log.read(65_536):
            pass


def _in_batches(events: list[dict[str, Any]], size: int) -> list[list[dict[str, Any]]]:
    return [events[start : start + size] for start in range(0, len(events), size)]


def events_of_runs(numbers: Iterator[int], count: int) -> list[dict[str, Any]]:
    """Return the next events, START and COMPLETE of each run in turn."""
    found: list[dict[str, Any]] = []
    for number in itertools.islice(numbers, count // 2):
        job, names = number % JOBS, [f"c{column}" for column in range(COLUMNS)]
        lineage = {name: [f"pg.a{job} {name} DIRECT/IDENTITY"] for name in names}
        new_event = {
            "run": number,
            "at": 3 + number / 86_400,
            "job": f"etl/load{job}",
            "inputs": [f"pg.a{job}", "pg.b"],
        }
        facets = {"schema": names, "columnLineage": {"fields": lineage}}
        found.append(event({**new_event, "type": "START"}))
        found.append(event({**new_event, "type": "COMPLETE", "outputs": {f"pg.t{job}": facets}}))
    return found


def _send(address: str, events: Sequence[Any]) -> None:
    """Send events, or batches of them, one after the other."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=120)
    for one in events:
        path = "/api/v1/lineage/batch" if isinstance(one, list) else "/api/v1/lineage"
        connection.request("POST", path, json.dumps(one), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status < 300, text
    connection.close()
