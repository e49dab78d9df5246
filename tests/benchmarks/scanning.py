"""The scanner's functions in MB per second of one core's time: native over Arrow arrays, Python text by text.

The processor's time is taken, not the clock's: other work on the machine counts less.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from lineage.sql.scan import arrays
from lineage.sql.scan.implementation import PYTHON, ScanEngine, native_engine
from tests.truth.compare import DATA, DEMO

ROUNDS = 5
NATIVE_MEGABYTES = 100
PYTHON_MEGABYTES = 5
FUNCTIONS: dict[str, Callable[[Any, str, ScanEngine], Any]] = {
    "fingerprint": arrays.fingerprint_array,
    "mask_literals": arrays.mask_literals_array,
    "nesting_depth": arrays.nesting_depth_array,
    "split_statements": arrays.split_statements_array,
}


def run() -> dict[str, Any]:
    files = sorted([*DATA.rglob("*.sql"), *DEMO.rglob("*.sql")])
    texts = [path.read_text(encoding="utf-8") for path in files]
    figures: dict[str, Any] = {}
    native = native_engine()
    if native is not None:
        figures |= _measure(native, texts, NATIVE_MEGABYTES, ROUNDS)
    return figures | _measure(PYTHON, texts, PYTHON_MEGABYTES, 1)


def _measure(engine: ScanEngine, texts: list[str], megabytes: int, rounds: int) -> dict[str, Any]:
    size = sum(len(text.encode()) for text in texts)
    times = max(1, megabytes * 1_000_000 // size)
    array = pa.array(texts * times, pa.large_string())
    figures = {}
    for name, function in FUNCTIONS.items():
        seconds = min(_seconds(function, array, engine) for _ in range(rounds))
        figures[f"{engine.name}_{name}_mb_per_second"] = round(size * times / seconds / 1e6, 1)
    return figures


def _seconds(function: Callable[[Any, str, ScanEngine], Any], array: Any, engine: ScanEngine) -> float:
    began = time.process_time()
    function(array, "postgres", engine)
    return time.process_time() - began
