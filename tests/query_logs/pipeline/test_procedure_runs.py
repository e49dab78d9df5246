"""The statements of a procedure are run by those who call it, not by the one who creates it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage.store import open_store
from tests.query_logs.pipeline.running import Ran, edges, ingested

BODY = "INSERT INTO t (a) SELECT b FROM s"
INNER = "CREATE PROCEDURE inside() LANGUAGE sql AS $$ INSERT INTO t (a) SELECT b FROM s $$"
OUTER = "CREATE PROCEDURE p() LANGUAGE plpgsql AS $$ BEGIN CALL inside(); END $$"
PLAIN = f"CREATE PROCEDURE p() LANGUAGE sql AS $$ {BODY} $$"
OTHER = PLAIN.replace("t (a)", "other (a)")
SNOWFLAKE = f"CREATE OR REPLACE PROCEDURE p(n int) RETURNS int LANGUAGE sql AS $$ BEGIN {BODY}; RETURN 1; END $$"


def used(folder: Path, dialect: str, *ran: tuple[str, str]) -> tuple[set[str], list[str], list[str]]:
    """Return who wrote t and how often, the messages, and the users of jobs, after (user, statement) in order."""
    with open_store(folder / "graph.db") as store:
        logged = [Ran(text, f"{n}", n, user) for n, (user, text) in enumerate(ran)]
        summary = ingested(store, logged, dialect)
        assert any(" CONTRIBUTES " in edge for edge in edges(store))
        table = f"{dialect}/T" if dialect in ("snowflake", "oracle") else f"{dialect}/t"
        writers = {f"{user} {count}" for day in store.usage(table) if day.writes for user, count in day.users.named}
        jobs = [
            f"{user} {count}"
            for kind, _, _, values in store.dump().relationships
            if kind == "OBSERVED"
            for user, count in zip(values["users"], values["user_queries"], strict=True)
        ]
    return writers, [one.diagnostic.message for one in summary.diagnostics], sorted(jobs)


@pytest.mark.parametrize(
    ("dialect", "creates", "calls"),
    [
        ("postgres", PLAIN, "CALL p()"),
        ("postgres", f"CREATE PROCEDURE etl.p(n int) LANGUAGE plpgsql AS $$ BEGIN {BODY}; END $$", "CALL etl.p(1)"),
        ("redshift", f"CREATE PROCEDURE p() AS $$ BEGIN {BODY}; END $$ LANGUAGE plpgsql", "CALL p()"),
        ("mysql", f"CREATE DEFINER=`u`@`h` PROCEDURE p() {BODY}", "CALL p"),
        ("mysql", f"CREATE PROCEDURE shop.p() BEGIN {BODY}; END", "CALL `shop`.`p`()"),
        ("snowflake", SNOWFLAKE, "CALL P(3)"),
        ("tsql", f"CREATE OR ALTER PROC [dbo].[p] @n int AS BEGIN {BODY} END", "EXEC @r = dbo.p 1"),
        ("tsql", f"ALTER PROCEDURE p AS {BODY}", "EXECUTE [p]"),
        ("oracle", f"CREATE PROCEDURE p IS BEGIN {BODY}; END;", "BEGIN p; END;"),
        ("bigquery", f"CREATE PROCEDURE d.p() BEGIN {BODY}; END", "CALL d.p()"),
        ("databricks", f"CREATE PROCEDURE p() LANGUAGE SQL AS BEGIN {BODY}; END", "CALL p()"),
    ],
)
def test_calls_count(dialect: str, creates: str, calls: str, tmp_path: Path) -> None:
    ran = (("dba", creates), ("eve", calls), ("etl", calls), ("etl", calls))
    assert used(tmp_path, dialect, *ran) == ({"eve 1", "etl 2"}, [], ["etl 2", "eve 1"])


@pytest.mark.parametrize(
    ("dialect", "creates"),
    [
        ("postgres", PLAIN),
        ("postgres", f"CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN {BODY}; RETURN 1; END $$"),
        ("mysql", f"CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO {BODY}"),
        ("mysql", f"CREATE TRIGGER x AFTER INSERT ON u FOR EACH ROW {BODY}"),
        ("snowflake", f"CREATE TASK k SCHEDULE = '1 minute' AS {BODY}"),
    ],
)
def test_creating_is_no_run(dialect: str, creates: str, tmp_path: Path) -> None:
    assert used(tmp_path, dialect, ("dba", creates)) == (set(), [], [])


@pytest.mark.parametrize(
    ("ran", "writers"),
    [
        ([("dba", INNER), ("dba", OUTER), ("etl", "CALL p()")], {"etl 1"}),
        ([("etl", "CALL p()"), ("dba", PLAIN)], {"etl 1"}),  # called before: the log begins with an older definition
        ([("dba", PLAIN), ("etl", "CALL p()"), ("etl", BODY)], {"etl 1"}),  # the log has what the call ran
        ([("dba", PLAIN), ("etl", "DO $$ BEGIN CALL p(); END $$")], {"etl 1"}),
        ([("dba", OTHER), ("dba", PLAIN.replace("E p", "E x.p")), ("etl", "CALL x.p()")], {"etl 1"}),
    ],
)
def test_which_procedure(ran: list[tuple[str, str]], writers: set[str], tmp_path: Path) -> None:
    assert used(tmp_path, "postgres", *ran)[:2] == (writers, [])


@pytest.mark.parametrize("called", ["q", "other.p"])
def test_unknown_procedures_are_reported(called: str, tmp_path: Path) -> None:
    creates = PLAIN.replace("E p", "E etl.p")
    writers, messages, _ = used(tmp_path, "postgres", ("dba", creates), ("etl", f"CALL {called}()"))
    expected = f"the procedure {called} is not defined in the input: what it reads and writes is not known"
    assert (writers, messages) == (set(), [expected])
