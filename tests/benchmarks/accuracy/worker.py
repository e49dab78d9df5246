"""Runs one tool over one set of statements, in the tool's own environment: standard library only.

`python worker.py ADAPTER.py` reads a task as JSON from its input and writes one JSON line for each statement, then
one with its peak memory. An adapter's `answer` returns `columns` (by output column its sources), `full` (whether the
tool calls the answer complete), and `references` where the tool tells them from values.
"""

from __future__ import annotations

import importlib.util
import json
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

_WARM_UP = {"write": "CREATE TABLE warm AS SELECT 1 AS one", "query": "SELECT 1 AS one", "sql": "SELECT 1 AS one"}


class OutOfTimeError(BaseException):
    """A statement took too long. No `except Exception` of a tool is to catch it."""


def main(adapter_path: str) -> None:
    """Answer a task."""
    out = sys.stdout
    sys.stdout = sys.stderr
    spec = importlib.util.spec_from_file_location("adapter", adapter_path)
    assert spec is not None
    assert spec.loader is not None
    adapter = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(adapter)
    task = json.load(sys.stdin)
    signal.signal(signal.SIGPROF, _out_of_time)
    seconds, prepared = task["seconds"], {"value": adapter.prepare({}, task["dialect"])}
    _timed(seconds, adapter.answer, prepared["value"], _WARM_UP[adapter.WANTS])
    for statement in task["statements"]:
        if "schema" in statement:
            prepared = _timed(seconds, adapter.prepare, statement["schema"], task["dialect"])
        answer = prepared
        if "error" not in prepared:
            answer = _timed(seconds, adapter.answer, prepared["value"], statement[adapter.WANTS])
            answer |= answer.pop("value", {})
        print(json.dumps({"name": statement["name"], **answer}), file=out, flush=True)
    print(json.dumps({"peak_mb": round(_peak_kilobytes() / 1024)}), file=out, flush=True)


def _peak_kilobytes() -> int:
    """Return the peak since this program began; what getrusage gives goes back to the process that started it."""
    with open("/proc/self/status", encoding="utf-8") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def _timed(seconds: int, call: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
    """Return what a call returns (`value`) or its `error`, and its `seconds`."""
    found: dict[str, Any] = {}
    began = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        found["value"] = call(*arguments)
    except OutOfTimeError:
        found["error"] = f"no answer in {seconds} seconds"
    except Exception as error:  # noqa: BLE001 - whatever a tool raises is its answer
        found["error"] = f"{type(error).__name__}: {error}".partition("\n")[0][:200]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    found["seconds"] = time.process_time() - began
    return found


def _out_of_time(*_: object) -> None:
    raise OutOfTimeError


if __name__ == "__main__":
    main(sys.argv[1])
