"""Session variables that one row of a log sets and a later one reads: MySQL's `@m`, Snowflake's `$m`."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage.store import open_store
from tests.query_logs.pipeline.running import Ran, edges, in_order, ingested

READ = "INSERT INTO f (tot) SELECT @m"


def said(name: str) -> str:
    return (
        f"UNSUPPORTED_SYNTAX: the value of the variable {name} comes from another statement of the session, "
        "which is not read here"
    )


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("SELECT @m := max(amount) FROM pay", READ), {"pay#amount"}),
        (("SET @m = (SELECT max(amount) FROM pay)", "SELECT 1", READ, READ), {"pay#amount"}),
        (("SELECT max(amount) INTO @m FROM pay", "INSERT INTO f (tot) VALUES (@m + 1)"), {"pay#amount"}),
        (("SET @M = (SELECT max(amount) FROM pay)", READ), {"pay#amount"}),  # names have no case
        (("SET @m = (SELECT a FROM t)", "SET @m = (SELECT b FROM t)", READ), {"t#b"}),
        (("SET @m = (SELECT a FROM t)", READ, "SET @m = (SELECT b FROM t)", READ), {"t#a", "t#b"}),
        (("SET @k = (SELECT b FROM t)", "SET @m = 1", "SET @m = @m + @k", READ), {"t#b"}),
        (("CREATE TEMPORARY TABLE s AS SELECT x FROM src", "SET @m = (SELECT max(x) FROM s)", READ), {"src#x"}),
        (("SET @m = 1", READ), set()),
        (("SET @m = (SELECT a FROM t)", "INSERT INTO f (tot) SELECT '@m' FROM u"), set()),
    ],
)
def test_they_are_followed_from_row_to_row(texts: tuple[str, ...], expected: set[str], tmp_path: Path) -> None:
    with open_store(tmp_path / "s.db") as store:
        for _ in range(2):
            summary = ingested(store, in_order(texts), "mysql")
            assert summary.failures == ()
            into = {line.split(" ")[0] for line in edges(store) if " CONTRIBUTES mysql/f#tot" in line}
            assert into == {f"mysql/{one}" for one in expected}


def test_snowflake(tmp_path: Path) -> None:
    texts = ("SET m = (SELECT max(amount) FROM pay)", "INSERT INTO f (tot) SELECT $m")
    with open_store(tmp_path / "s.db") as store:
        assert ingested(store, in_order(texts), "snowflake").failures == ()
        assert any(line.startswith("snowflake/PAY#AMOUNT CONTRIBUTES snowflake/F#TOT") for line in edges(store))


def test_sessions_do_not_share_them(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.db") as store:
        ran = [Ran("SET @m = (SELECT max(amount) FROM pay)", "one", 0), Ran(READ, "other", 1)]
        assert ingested(store, ran, "mysql").failures == ((said("m"), 1),)
        assert not any(" CONTRIBUTES mysql/f#tot" in line for line in edges(store))


def test_a_long_chain_is_reported_where_it_is_read(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.db") as store:
        texts = ("SET @m = 0", *(60 * ("SELECT @m := @m + a FROM t",)), READ)
        assert ingested(store, in_order(texts), "mysql").failures == ((said("m"), 1),)
