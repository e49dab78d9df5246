"""PostgreSQL's own log by its log_line_prefix: given, recognised, or an error that says what to give."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lineage_ingest.query_log import normalize_rows, read_log, source_named
from lineage_ingest.query_log.sources.postgres.log_line_prefix import (
    KNOWN_PREFIXES,
    LinePrefixError,
    line_pattern,
    recognise_prefix,
)
from lineage_ingest.query_log.sources.source import ColumnsMissingError
from tests.cli.running import lineage

VALUES = {
    "m": "2026-03-01 10:00:00.123 UTC", "t": "2026-03-01 10:00:00 UTC", "n": "1772359200.123", "p": "4711",
    "c": "69a40f00.1267", "l": "7", "u": "ann", "d": "shop", "a": "psql", "h": "10.0.0.5", "r": "10.0.0.5(40000)",
    "e": "00000", "s": "2026-03-01 09:59:00 UTC", "v": "3/10", "x": "0", "i": "SELECT", "b": "client backend", "q": "",
    "Q": "-12", "P": "", "%": "%",
}  # fmt: skip


def written(prefix: str, text: str, **values: str) -> str:
    told = VALUES | values
    return re.sub(r"%(-?\d*)([A-Za-z%])", lambda m: f"{told[m[2]]:{m[1].replace('-', '<') or 0}}", prefix) + text


@pytest.mark.parametrize("user", ["ann", "ana@corp.com"])
@pytest.mark.parametrize("prefix", KNOWN_PREFIXES)
def test_common_prefixes_are_recognised(tmp_path: Path, prefix: str, user: str) -> None:
    lines = [written(prefix, u=user, text=f"LOG:  statement: insert into t{n}\n\tselect {n}") for n in range(3)]
    assert recognise_prefix([line for both in lines for line in both.split("\n")]) is not None
    (tmp_path / "postgresql.log").write_text("\n".join(lines) + "\n")
    source = source_named("postgres_stderr")
    [batch] = normalize_rows(read_log(source, [tmp_path]), source)
    assert batch["query_text"].to_pylist() == [f"insert into t{n}\nselect {n}" for n in range(3)]
    assert batch["started_at"].null_count == 0
    assert set(batch["user"].to_pylist()) == {user if "%u" in prefix else None}
    assert set(batch["default_database"].to_pylist()) == {"shop" if "%d" in prefix else None}
    assert len(set(batch["session"].to_pylist())) == 1


@pytest.mark.parametrize(
    "prefix",
    ["%n %-10p|%5u|%c ", "[%p] %%%a/%i/%b %m %s %l %e %v %x %P %Q: ", "%q%p %m ", "<%m> %c %u.%d@%r "],
)
def test_any_prefix_can_be_given(tmp_path: Path, prefix: str) -> None:
    text = "ERROR:  no\n\tway"
    line = written(prefix, text)
    found = line_pattern(prefix).match(line.split("\n")[0])
    assert found is not None
    assert (found["severity"], found["message"]) == ("ERROR", "no")
    (tmp_path / "postgresql.log").write_text(f"{written(prefix, 'LOG:  statement: select 1')}\n{line}\n")
    source = source_named("postgres_stderr", line_prefix=prefix)
    [batch] = normalize_rows(read_log(source, [tmp_path]), source)
    assert batch["query_text"].to_pylist() == ["select 1"]
    assert batch["status"].to_pylist() == ["failed"]


@pytest.mark.parametrize("prefix", ["%p %u@%d@%a ", "%p %u@%h %d ", "%m [%p] %u@%r/%d ", "%p %d@%u "])
def test_a_user_may_be_an_email_address(prefix: str) -> None:
    found = line_pattern(prefix).match(written(prefix, "LOG:  statement: select 'a@b LOG:  '", u="ana@corp.com"))
    assert found is not None
    assert (found["user_name"], found["database_name"]) == ("ana@corp.com", "shop")


@pytest.mark.parametrize(("prefix", "said"), [("%m ", "neither %p nor %c"), ("%p %y", "unknown escape %y")])
def test_what_is_no_prefix(prefix: str, said: str) -> None:
    with pytest.raises(LinePrefixError, match=said):
        source_named("postgres_stderr", line_prefix=prefix)
    with pytest.raises(LinePrefixError, match="has no log_line_prefix"):
        source_named("postgres_csv", line_prefix="%p")


def test_an_unknown_prefix_is_an_error_that_says_what_to_give(tmp_path: Path) -> None:
    file = tmp_path / "postgresql.log"
    file.write_text(written("%p~%u~%m~", "LOG:  statement: insert into t select a from s\n"))
    source = source_named("postgres_stderr")
    with pytest.raises(ColumnsMissingError, match="SHOW log_line_prefix"):
        list(read_log(source, [file]))
    store = ("--store", str(tmp_path / "s.db"))
    done = lineage("ingest", "log", str(file), "--source", "postgres_stderr", *store)
    assert done.code != 0
    assert "--log-line-prefix" in done.out + done.err
    wrong = lineage("ingest", "log", str(file), "--source", "postgres_stderr", "--log-line-prefix", "%m", *store)
    assert wrong.code == 2
    done = lineage("ingest", "log", str(file), "--source", "postgres_stderr", "--log-line-prefix", "%p~%u~%m~", *store)
    assert done.code == 0, done.err
    assert "t.a" in lineage("impact", "s.a", *store).out


def test_a_process_goes_on_in_the_next_file_and_another_session_gets_its_number(tmp_path: Path) -> None:
    first = "2026-03-01 10:00:0{}.000 UTC [7] ann@shop LOG:  statement: {}\n"
    other = first.replace("10:", "11:")
    (tmp_path / "postgresql-2026-03-01_b.log").write_text(first.format(1, "set search_path = a"))
    (tmp_path / "postgresql.log.1").write_text(first.format(2, "select 1"))
    (tmp_path / "postgresql.log").write_text(
        other.format(1, "select 2")
        + other.format(2, "select 3").replace("LOG:  ", "LOG:  connection received: ")
        + other.format(3, "select 4")
    )
    source = source_named("postgres_stderr")
    [batch] = normalize_rows(read_log(source, sorted(tmp_path.iterdir())), source)
    by_session: dict[str, list[str]] = {}
    for session, text in zip(batch["session"].to_pylist(), batch["query_text"].to_pylist(), strict=True):
        by_session.setdefault(session, []).append(text)
    assert sorted(by_session.values()) == [["select 1", "select 2"], ["select 4"], ["set search_path = a"]]
