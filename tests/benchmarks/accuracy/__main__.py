"""Asks this project only, and writes docs/accuracy.md with the recorded figures of the other tools."""

from __future__ import annotations

import json

from tests.benchmarks.accuracy import RECORD, update_own

if __name__ == "__main__":
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    RECORD.write_text(json.dumps({**record, "figures": update_own()}, indent=2) + "\n", encoding="utf-8")
