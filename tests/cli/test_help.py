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


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("lineage ingest ", "postgres"),
        ("lineage ingest bi ", "powerbi"),
        ("lineage compare ", "databricks"),
        ("lineage diff --fail-on ", "exposure"),
        ("lineage diff --dialect snow", "snowflake"),
        ("lineage compare trino events.json --dialect sn", "snowflake"),
        ("lineage ingest postgres --no-ann", "--no-annotations"),
    ],
)
def test_completion(shell: str, words: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_LINEAGE_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", words)
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    assert expected in lineage().out
