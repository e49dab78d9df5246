"""Figures by the minute: rates, latencies, errors, and what the service uses of the machine."""

from __future__ import annotations

import csv
import math
import os
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from tests.soak.load import KINDS, Answer

__all__ = ["Minute", "Watch", "quantile", "write_csv"]


@dataclass(frozen=True)
class Minute:
    """A minute; times in milliseconds, sizes in megabytes."""

    minute: float
    requests_per_second: float
    errors: int
    error_kinds: str
    impact_p50: float
    impact_p95: float
    search_p50: float
    search_p95: float
    events_p50: float
    events_p95: float
    all_p50: float
    all_p95: float
    all_p99: float
    slowest: float
    service_mb: float
    store_mb: float
    processors: float
    machine_load: float


class Watch:
    """Collects answers, and makes a `Minute` of those since the last one."""

    def __init__(self, process: int, store: Path | None) -> None:
        self._process, self._store = process, store
        self._lock = threading.Lock()
        self._answers: list[Answer] = []
        self._began = self._last = time.monotonic()
        self._used = _processor_seconds(process)

    def note(self, answer: Answer) -> None:
        """Take an answer."""
        with self._lock:
            self._answers.append(answer)

    def begin(self) -> None:
        """Forget what was answered so far: time counts from now."""
        self.minute()
        self._began = self._last

    def minute(self) -> Minute:
        """Return the figures since the last call."""
        with self._lock:
            answers, self._answers = self._answers, []
        now, used = time.monotonic(), _processor_seconds(self._process)
        took, worked = now - self._last, used - self._used
        self._last, self._used = now, used
        times = {kind: [one.seconds for one in answers if one.kind == kind and not one.error] for kind in KINDS}
        every = [one.seconds for one in answers if not one.error]
        wrong = Counter(one.error for one in answers if one.error)
        by_kind = {f"{kind}_p{of}": quantile(times[kind], of) for kind in KINDS for of in (50, 95)}
        return Minute(
            minute=round((now - self._began) / 60, 2),
            requests_per_second=round(len(answers) / took, 1),
            errors=sum(wrong.values()),
            error_kinds=" ".join(f"{name}:{number}" for name, number in wrong.most_common()),
            **by_kind,
            all_p50=quantile(every, 50),
            all_p95=quantile(every, 95),
            all_p99=quantile(every, 99),
            slowest=quantile(every, 100),
            service_mb=round(_resident(self._process) / 1e6, 1),
            store_mb=round(_size(self._store) / 1e6, 1),
            processors=round(worked / took, 2),
            machine_load=round(os.getloadavg()[0], 1),
        )


def quantile(seconds: Sequence[float], percent: float) -> float:
    """Return the time in milliseconds that so many percent do not exceed; 0 if there are none."""
    if not seconds:
        return 0.0
    place = max(0, math.ceil(len(seconds) * percent / 100) - 1)
    return round(sorted(seconds)[place] * 1000, 1)


def write_csv(path: Path, minutes: Iterable[Minute]) -> None:
    """Write a line for each minute."""
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        names = [one.name for one in fields(Minute)]
        lines.writerow(names)
        lines.writerows([getattr(minute, name) for name in names] for minute in minutes)


def _processor_seconds(process: int) -> float:
    found = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(found[11]) + int(found[12])) / os.sysconf("SC_CLK_TCK")


def _resident(process: int) -> int:
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _size(store: Path | None) -> int:
    if store is None:
        return 0
    return sum(one.stat().st_size for end in ("", "-wal") if (one := Path(f"{store}{end}")).exists())
