"""What a command does not need is not loaded: it starts in the time that a person does not notice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import lineage as package
from lineage.cli.registry import SUMMARIES, command_names, load_command
from tests.cli.running import lineage

HEAVY = ("duckdb", "starlette", "apsw", "neo4j", "numpy", "pyarrow", "pydantic", "pyspark", "sqlglot", "strawberry")
STORES = ("apsw", "neo4j", "numpy", "pyarrow")
COMMAND = (
    "import sys; sys.argv = ['lineage', *{!r}]; from lineage.cli.main import run\ntry: run()\nexcept SystemExit: pass"
)
"""`lineage` with arguments, in a process of its own."""


def loaded(program: str) -> set[str]:
    """Return the top-level modules that are loaded when a program has run."""
    program += "\nimport sys; print('\\n' + ' '.join({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    ("program", "unwanted"),
    [
        ("import lineage", (*HEAVY, "typer", "rich")),
        (COMMAND.format(["--help"]), HEAVY),
        (COMMAND.format(["--version"]), HEAVY),
        (COMMAND.format(["extract", "-d", "postgres", "-q", "SELECT a FROM t"]), STORES),
        (COMMAND.format(["diff", "--help"]), ("starlette", "apsw", "numpy", "pyarrow", "pyspark", "strawberry")),
        (COMMAND.format(["impact", "--help"]), ("apsw", "numpy", "pyarrow", "pyspark", "sqlglot", "strawberry")),
    ],
    ids=["import lineage", "--help", "--version", "extract", "diff --help", "impact --help"],
)
def test_loads_only_what_it_needs(program: str, unwanted: tuple[str, ...]) -> None:
    assert loaded(program).isdisjoint(unwanted)


def test_a_large_ingest_loads_no_arrow(tmp_path: Path) -> None:
    columns = ", ".join(f"c{number}" for number in range(3_000))
    (tmp_path / "v.sql").write_text(
        f"CREATE TABLE t ({columns.replace(',', ' int,')} int); CREATE VIEW v AS SELECT * FROM t"
    )
    ingest = COMMAND.format(["ingest", "sql", str(tmp_path), "-d", "postgres", "--store", str(tmp_path / "s.db")])
    assert loaded(ingest).isdisjoint({"numpy", "pandas", "pyarrow"})


def test_the_public_names_are_there() -> None:
    assert {n: getattr(package, n).__name__ for n in package.__all__} == {n: n for n in package.__all__}
    with pytest.raises(AttributeError, match="no attribute 'extrakt'"):
        _ = package.extrakt


def test_every_command_has_a_summary_that_fits_a_line() -> None:
    shown = lineage("--help").out.splitlines()
    for name in command_names():
        assert any(line.split() == [name, *SUMMARIES[name].split()] for line in shown), name
        assert load_command(name).name == name


def test_a_mistyped_command_is_answered_with_the_nearest() -> None:
    done = lineage("impct")
    assert (done.code, "impact" in done.err) == (2, True)
