"""The help of every command fits 80 columns, has an example of that command, and cuts no text of another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from lineage.cli.main import app
from tests.cli.running import lineage


def _commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name in command.list_commands(None) if hasattr(command, "list_commands") else ():
        yield from _commands(command.get_command(None, name), (*path, name))


PATHS = list(_commands(typer.main.get_command(app)))


def test_all_commands_are_found() -> None:
    assert {("diff",), ("compare",), ("ingest", "bi"), ("ingest", "postgres"), ("token", "revoke")} <= set(PATHS)


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_the_help_of_a_command(path: tuple[str, ...]) -> None:
    done = lineage(*path, "--help", columns=80)
    assert done.code == 0
    usage, _, text = done.out.partition("\n")
    assert usage.startswith(f"Usage: {' '.join(('lineage', *path))}")
    assert " ".join(("lineage", *path)) in " ".join(text.split())
    assert max(map(len, done.out.splitlines())) <= 80
    assert "...\n" not in text
