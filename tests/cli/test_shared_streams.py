"""Messages beside the output of a command have its width; in a log of their own each is one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = "from lineage.screen.listing import note, say; note('word ' * 40); say('word ' * 40)"


@pytest.mark.parametrize("is_shared", [True, False])
def test_messages_that_share_the_output(tmp_path: Path, is_shared: bool) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    with (tmp_path / "messages").open("w+") as messages:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if is_shared else messages,
            env=environment,
            text=True,
            check=True,
        )
        messages.seek(0)
        own = messages.read()
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert len(own.splitlines()) == (0 if is_shared else 1)
