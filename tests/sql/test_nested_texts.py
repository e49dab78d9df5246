"""Nothing that nests takes the process with it, wherever it stands: it ends in a diagnostic."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sql.nested_texts import NESTED, PLACES

ROOT = Path(__file__).parents[2]
DEPTH = 1_200
"""Six times what is parsed, and more than Python's stack holds. More proves no more: what is refused here is refused
before it is parsed."""
SECONDS = 300
TOGETHER = 10
"""Places that one process reads: most of its time is its start."""


@pytest.mark.parametrize("places", [tuple(PLACES)[at : at + TOGETHER] for at in range(0, len(PLACES), TOGETHER)])
def test_what_nests_ends_in_a_diagnostic(places: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "tests.sql.nested_texts", str(DEPTH), *places]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
    reply = [json.loads(line) for line in done.stdout.splitlines()]
    last = f"{reply[-1]['text']} in {reply[-1]['place']}" if reply else "the first"
    assert done.returncode == 0, f"ended by {done.returncode} behind {last}: {done.stderr[-500:]}"
    assert len(reply) == len(NESTED) * len(places)
    for each in reply:
        assert "INTERNAL_ERROR" not in each["codes"], each
        assert {name.lower() for name in each["tables"]} & {"t", "u", "from"} or each["codes"], each
