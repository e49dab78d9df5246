"""Which rows of a product's log are runs, and which of one session: no run counts twice, no two sessions are one."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage_ingest.query_log import SOURCES, read_log
from tests.query_logs.samples import normalised_rows


def rows(name: str, **files: str) -> list[dict[str, object]]:
    for file, text in files.items():
        path = Path(file, "general.log")
        path.parent.mkdir()
        path.write_text(text)
    source = SOURCES[name]
    return normalised_rows(source, read_log(source, [Path(file, "general.log") for file in files]))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", ["snowflake", "snowflake_access"])
def test_a_request_of_several_statements_is_its_statements(name: str) -> None:
    found = rows(
        name,
        log="query_id,query_text,query_type,execution_status\n"
        'p,"BEGIN; INSERT INTO t SELECT a FROM s; COMMIT",MULTI_STATEMENT,SUCCESS\n'
        "c,INSERT INTO t SELECT a FROM s,INSERT,SUCCESS\nn,SELECT 1,,SUCCESS\n",
    )
    assert sorted(str(row["statement_id"]) for row in found) == ["c", "n"]


@pytest.mark.parametrize(("length", "is_cut"), [(4_000, True), (3_999, True), (3_965, True), (3_900, False)])
def test_a_text_of_redshift_that_may_have_been_cut_at_blanks_is_cut(length: int, is_cut: bool) -> None:
    text = "INSERT INTO t SELECT a FROM s WHERE a = 1".ljust(length, "1")
    found = rows(
        "redshift", log=f"query_id,status,elapsed_time,query_text\n7,success,5,{text}\n8,success,5,{text:<4000}\n"
    )
    assert [row.get("truncated", False) for row in found] == [is_cut, is_cut]


def test_what_redshift_undoes_is_no_statement() -> None:
    lines = "7,success,5,Undoing 1 transactions on table 105 with current xid 9\n8,success,5,SELECT 1\n"
    found = rows("redshift", log=f"query_id,status,elapsed_time,query_text\n{lines}")
    assert [row["statement_id"] for row in found] == ["8"]


def test_the_table_of_slow_queries_has_its_times() -> None:
    [row] = rows(
        "mysql_slow",
        log="start_time\tuser_host\tquery_time\trows_sent\tdb\tsql_text\tthread_id\n"
        "2026-03-01 23:30:00.000000\tetl[etl] @ localhost []\t00:01:02.000100\t3\tshop\tSELECT a FROM t\t31\n",
    )
    assert {name: row[name] for name in ("started_at", "duration_us", "user", "default_schema", "rows")} == {
        "started_at": "2026-03-01T23:30:00Z",
        "duration_us": 62_000_100,
        "user": "etl",
        "default_schema": "shop",
        "rows": 3,
    }


MYSQL = (
    "2026-03-01T10:00:0{second}.000000Z\t    8 Connect\t{user}@localhost{proxied} on shop using Socket\n"
    "2026-03-01T10:00:07.000000Z\t    8 Query\tCREATE TEMPORARY TABLE x AS SELECT a FROM t\n"
    "2026-03-01T10:00:08.000000Z\t    8 Query\tINSERT INTO r SELECT a FROM x\n"
)


def test_logs_of_two_servers_are_not_one_session() -> None:
    found = rows(
        "mysql",
        one=MYSQL.format(second=1, user="ann", proxied=""),
        two=MYSQL.format(second=2, user="bob", proxied=""),
    )
    assert [row["user"] for row in found] == ["ann", "ann", "bob", "bob"]
    assert len({row["session"] for row in found}) == 2


def test_a_user_who_is_anothers_proxy_has_a_name_and_a_database() -> None:
    found = rows("mysql", one=MYSQL.format(second=1, user="ann", proxied=" as app_role"))
    assert {(row["user"], row["default_schema"]) for row in found} == {("ann", "shop")}


def test_a_user_of_mysql_may_be_an_email_address() -> None:
    found = rows("mysql", one=MYSQL.format(second=1, user="ana@corp.com", proxied=""))
    table = "event_time\tuser_host\tthread_id\tserver_id\tcommand_type\targument\n"
    row = "2026-03-01 10:00:00\tana@corp.com[ana@corp.com] @ localhost []\t8\t1\tQuery\tSELECT a FROM t\n"
    found += rows("mysql", table=table + row)
    slow = "# User@Host: ana@corp.com[ana@corp.com] @  [10.0.0.5]\n# Thread_id: 8  Schema: shop  QC_hit: No\n"
    found += rows("mysql_slow", slow=slow + "SET timestamp=1772359200;\nSELECT a FROM t;\n")
    assert [row["user"] for row in found] == ["ana@corp.com"] * 4


@pytest.mark.parametrize(
    ("name", "log"),
    [
        ("mysql", b"260301 10:00:00\t    8 Query\tSELECT a FROM t WHERE b = 'caf\xe9'\n"),
        ("mysql_slow", b"# User@Host: etl[etl] @ localhost []\n# Thread_id: 8  Schema: shop  QC_hit: No\n"
         b"SET timestamp=1772359200;\nSELECT a FROM t WHERE b = 'caf\xe9';\n"),
    ],
)  # fmt: skip
def test_a_statement_in_another_character_set_is_read(name: str, log: bytes, tmp_path: Path) -> None:
    (tmp_path / "server.log").write_bytes(log)
    row, *_ = normalised_rows(SOURCES[name], read_log(SOURCES[name], [tmp_path / "server.log"]))
    assert row["query_text"] == "SELECT a FROM t WHERE b = 'caf\ufffd'"


def test_statistics_joined_with_the_users_have_their_names() -> None:
    found = rows("pg_stat_statements", one="usename,userid,query,calls\nann,10,SELECT 1,3\n")
    assert [row["user"] for row in found] == ["ann"]


def test_logs_of_numbered_servers_are_not_one_that_was_rotated(tmp_path: Path) -> None:
    source = SOURCES["mysql"]
    begins, goes_on = MYSQL.format(second=1, user="ann", proxied="").split("2026-03-01T10:00:08", 1)

    def users(first: str, second: str) -> list[object]:
        (tmp_path / first).write_text(begins)
        (tmp_path / second).write_text("2026-03-01T10:00:08" + goes_on)
        return [
            row.get("user") for row in normalised_rows(source, read_log(source, [tmp_path / first, tmp_path / second]))
        ]

    assert users("db1.log", "db2.log") == ["ann", None]
    assert users("db20260301.log", "db20260302.log") == ["ann", "ann"]


PREFIX = "2026-03-01 10:00:0{second}.000 UTC [7] ana@shop LOG:  {message}\n"
AUDIT = 'AUDIT: SESSION,{n},1,WRITE,INSERT,TABLE,{object},"insert into t select ""A"", 1 from s",<none>'
PLAN = (
    "duration: 3.651 ms  plan:\n\tQuery Text: insert into t select a\n\tfrom s\n\tInsert on t  (cost=0.00..1.01 rows=0)"
)
AUDITED = 'insert into t select "A", 1 from s'
LOGGED = "insert into t select b from s"


@pytest.mark.parametrize(
    ("messages", "texts"),
    [
        ([PLAN], ["insert into t select a\nfrom s"]),
        ([AUDIT.format(n=1, object="public.t"), AUDIT.format(n=1, object="public.s")], [AUDITED]),
        ([AUDIT.format(n=1, object="t"), AUDIT.format(n=2, object="t")], [AUDITED] * 2),
        ([f"statement: {LOGGED}", PLAN, AUDIT.format(n=1, object="t")], [LOGGED]),
    ],
)  # fmt: skip
def test_what_extensions_of_postgres_log(messages: list[str], texts: list[str]) -> None:
    log = "".join(PREFIX.format(second=n, message=message) for n, message in enumerate(messages))
    assert [row["query_text"] for row in rows("postgres_stderr", one=log)] == texts
