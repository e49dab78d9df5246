"""OpenLineage events into a service over an embedded store: by batch, and one by one from eight clients.

The events are those of runs of a hundred jobs: START and COMPLETE, two inputs, an output with a schema of ten columns
and column lineage. First whole batches of 500, then clients that each send the next event when the one before it is
answered; both into one service, so that the rates are of one run.
"""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import tempfile
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from tests.cli.test_serve_command import served
from tests.events.event_builders import event

BATCH = 500
BATCHES = 6
CLIENTS = 8
EACH = 100
JOBS = 100
COLUMNS = 10


def run() -> dict[str, Any]:
    numbers = itertools.count(1)
    with (
        tempfile.TemporaryDirectory() as folder,
        served("--store", str(Path(folder) / "store.lbug")) as (address, process),
    ):
        threading.Thread(target=_read_log, args=(process.stderr,), daemon=True).start()
        warm = _events(numbers, 2 * JOBS)
        _send(address, [warm])
        began = time.perf_counter()
        _send(address, [_events(numbers, BATCH) for _ in range(BATCHES)])
        by_batch = BATCHES * BATCH / (time.perf_counter() - began)
        events = [_events(numbers, EACH) for _ in range(CLIENTS)]
        threads = [threading.Thread(target=_send, args=(address, one)) for one in events]
        began = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        by_clients = CLIENTS * EACH / (time.perf_counter() - began)
        status = Path(f"/proc/{process.pid}/status").read_text().split("VmRSS:")[1]
    return {
        "events_per_second_by_batches_of_500": round(by_batch),
        "events_per_second_by_8_clients": round(by_clients),
        "service_megabytes": int(status.split()[0]) // 1024,
    }


def _read_log(log: IO[bytes] | None) -> None:
    """Read what the service logs, a line a request: it would wait once the pipe is full."""
    with contextlib.suppress(OSError, ValueError):
        while log is not None and log.read(65_536):
            pass


def _events(numbers: Iterable[int], count: int) -> list[dict[str, Any]]:
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


def _send(address: str, events: list[Any]) -> None:
    """Send events, or batches of them, one after the other."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=120)
    for one in events:
        path = "/api/v1/lineage/batch" if isinstance(one, list) else "/api/v1/lineage"
        connection.request("POST", path, json.dumps(one), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status < 300, text
    connection.close()
