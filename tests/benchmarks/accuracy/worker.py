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
    prepared = adapter.prepare(task["statements"][0]["schema"], task["dialect"])
    _answer(adapter, prepared, _WARM_UP[adapter.WANTS], task["seconds"])
    for statement in task["statements"]:
        if "schema" in statement:
            prepared = adapter.prepare(statement["schema"], task["dialect"])
        answer = _answer(adapter, prepared, statement[adapter.WANTS], task["seconds"])
        print(json.dumps({"name": statement["name"], **answer}), file=out, flush=True)
    print(json.dumps({"peak_mb": round(_peak_kilobytes() / 1024)}), file=out, flush=True)


def _peak_kilobytes() -> int:
    """Return the peak since this program began; what getrusage gives goes back to the process that started it."""
    with open("/proc/self/status", encoding="utf-8") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def _answer(adapter: Any, prepared: Any, sql: str, seconds: int) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    began = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        answer.update(adapter.answer(prepared, sql))
    except OutOfTimeError:
        answer["error"] = f"no answer in {seconds} seconds"
    except Exception as error:  # noqa: BLE001 - whatever a tool raises is its answer
        answer["error"] = f"{type(error).__name__}: {error}".partition("\n")[0][:200]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    answer["seconds"] = time.process_time() - began
    return answer


def _out_of_time(*_: object) -> None:
    raise OutOfTimeError


if __name__ == "__main__":
    main(sys.argv[1])
