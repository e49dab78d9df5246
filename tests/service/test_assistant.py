"""`lineage mcp`, asked by the protocol's own client over its standard input and output."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client

from lineage.store import open_store
from lineage_ingest import ingest_sql
from tests.service.graph import fill
from tests.store.batch_builders import batch, key, query, rename, table

Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("assistant") / "store.db"
    with open_store(path) as store:
        fill(store)
    return path


def asked(path: Path, work: Callable[[ClientSession], Coroutine[Any, Any, Any]]) -> Any:
    command = Path(sys.executable).with_name("lineage")
    parameters = StdioServerParameters(command=str(command), args=["mcp", "--store", str(path)])

    async def run() -> Any:
        async with stdio_client(parameters) as (reading, writing), ClientSession(reading, writing) as session:
            await session.initialize()
            return await work(session)

    return asyncio.run(run())


def answers(path: Path, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """Return what each call of a tool is answered with; an error as its text."""

    async def work(session: ClientSession) -> list[Any]:
        seen = []
        for name, arguments in calls:
            result = await session.call_tool(name, arguments)
            content = result.structured_content
            seen.append(result.content[0].text if result.is_error else content.get("result", content))  # type: ignore[union-attr]
        return seen

    found: list[Any] = asked(path, work)
    return found


def test_the_tools_describe_themselves_and_only_read(path: Path) -> None:
    async def work(session: ClientSession) -> Any:
        return (await session.list_tools()).tools

    tools = asked(path, work)
    assert {tool.name for tool in tools} == {
        "search", "columns", "what_depends_on", "where_from", "paths", "column_map", "explain_edge",
        "what_would_sql_do",
    }  # fmt: skip
    for tool in tools:
        assert tool.annotations.read_only_hint
        assert tool.description
        assert tool.output_schema


def test_questions_and_their_evidence(path: Path) -> None:
    hits, columns, impact, causes, paths, edge = answers(
        path,
        ("search", {"text": "mail"}),
        ("columns", {"table": "users"}),
        ("what_depends_on", {"name": "users.email", "limit": 2}),
        ("where_from", {"name": "contacts.n"}),
        ("paths", {"start": "users.email", "end": "contacts.hashed"}),
        ("explain_edge", {"source": "users.email", "target": "staged.mail"}),
    )
    assert {hit["key"] for hit in hits} == {"pg/staged#mail", "pg/users#email"}
    assert [column["name"] for column in columns] == ["id", "email", "country"]
    assert (impact["total_columns"], impact["at_least"], len(impact["columns"])) == (4, False, 2)
    assert impact["columns_by_hops"] == {"1": 1, "2": 3}
    assert impact["tables"] == ["contacts (3)", "staged (1)"]
    assert "»email«" in impact["evidence"][0]["steps"][0]["evidence"]["sql"]
    assert [one["column"] for one in causes["columns"] if one["root"]] == ["users.email", "users.country"]
    assert (paths[0]["masked"], len(paths[0]["steps"])) == (True, 2)
    assert edge[0]["job"] == "staged.sql"
    assert edge[0]["evidence"][0]["line"] == 1


def test_the_map_of_a_column_is_bounded_and_says_what_it_leaves_out(path: Path) -> None:
    with open_store(path) as store:
        store.describe(key("users"), tags=("reader:ana",))
    whole, part = answers(
        path, ("column_map", {"name": "users.email"}), ("column_map", {"name": "staged.mail", "most": 3})
    )
    assert [(one["name"], one["exposure"], one["hops"]) for one in whole["downstream"]] == [
        ("staged.mail", "unmasked", 1), ("contacts.address", "unmasked", 2), ("contacts.hashed", "masked", 2),
        ("contacts.n", "masked", 2),
    ]  # fmt: skip
    assert (whole["reads"], whole["users"], whole["omitted"]) == (1, ["ana"], {})
    assert whole["warehouse"] == ["granted to ana"]
    assert [one["name"] for one in part["upstream"]] == ["users.email"]
    assert [one["name"] for one in part["downstream"]] == ["contacts.address", "contacts.hashed"]
    assert part["omitted"] == {"downstream masked": 1, "upstream": 1}


def test_the_map_of_a_column_with_long_names_fits_25_000_tokens(tmp_path: Path) -> None:
    path, number, long = tmp_path / "store.db", 120, "c" * 900
    copies = [f"CREATE VIEW v{at} AS SELECT upper(mail) AS {long}{at} FROM people;" for at in range(number)]
    (tmp_path / "views.sql").write_text("CREATE TABLE people (mail text);" + "\n".join(copies))
    ingest_sql(tmp_path / "views.sql", store=path)
    [made] = answers(path, ("column_map", {"name": "people.mail", "most": 100}))
    shown = len(made["downstream"])
    assert len(json.dumps(made, separators=(",", ":"))) <= 75_000
    assert 40 < shown < 100
    assert shown + made["omitted"]["downstream unmasked"] == number


def test_sql_is_read_and_not_run(path: Path) -> None:
    sql = "insert into staged (mail) select upper(email) from users"
    [seen] = answers(path, ("what_would_sql_do", {"sql": sql, "dialect": "postgres"}))
    assert seen[0]["edges"] == ["users.email -> staged.mail [TRANSFORMATION]"]
    assert seen[0]["depends_on_target"] == 3


def test_errors_say_what_to_do(path: Path) -> None:
    unknown, dialect, large = answers(
        path,
        ("what_depends_on", {"name": "user"}),
        ("what_would_sql_do", {"sql": "select 1", "dialect": "klingon"}),
        ("what_depends_on", {"name": "users.email", "limit": 10_000}),
    )
    assert "did you mean `users`" in unknown
    assert "klingon" in dialect
    assert "200" in large
    assert "Traceback" not in json.dumps([unknown, dialect, large])


def test_a_search_that_finds_nothing_offers_what_is_near(path: Path) -> None:
    [near, far] = answers(path, ("search", {"text": "usrers"}), ("search", {"text": "xxxxxxxxxx"}))
    assert "nothing is called 'usrers'; did you mean" in near
    assert "users" in near
    assert far == []


def test_tables_that_may_be_one_are_named(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    (tmp_path / "both.sql").write_text(
        "create table r as select x from wh.shop.daily; create table shop.s as select x from shop.daily"
    )
    with open_store(path) as store:
        ingest_sql(tmp_path / "both.sql", store=store)
    asked, reached, other, route, no_route = answers(
        path,
        ("what_depends_on", {"name": "wh.shop.daily.x"}),
        ("where_from", {"name": "shop.s.x"}),
        ("columns", {"table": "r"}),
        ("paths", {"start": "wh.shop.daily.x", "end": "r.x"}),
        ("paths", {"start": "wh.shop.daily.x", "end": "shop.s.x"}),
    )
    said = "shop.daily may be wh.shop.daily"
    assert asked["may_be_one"] == reached["may_be_one"] == [said]
    assert [column["name"] for column in other] == ["x"]
    assert len(route) == 1
    assert said in no_route


def test_the_table_that_had_the_name_before_is_named(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with open_store(path) as store:
        store.apply(batch(query("q", "a.x -> r.x", at=1)))
        store.apply(replace(batch(run="renamed"), changes=(rename("a", "a_old", 2),)))
        store.apply(batch(table("a", "x", at=3), run="new"))
    asked: dict[str, Any] = {"name": "a.x"}
    now, then, other = answers(
        path,
        ("what_depends_on", asked),
        ("where_from", {**asked, "as_of": "2024-01-01T00:00:00Z"}),
        ("what_depends_on", {"name": "r"}),
    )
    said = ["a_old.x (until 2024-01-02 00:00 UTC)"]
    assert now["had_this_name_before"] == then["had_this_name_before"] == said
    assert other["had_this_name_before"] == []
