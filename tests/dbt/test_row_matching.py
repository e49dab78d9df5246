"""Which rows a later build replaces, reads or closes: the columns that decide it are edges to the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lineage.store import open_store
from lineage_ingest.dbt.artifacts.manifest_nodes import Config
from lineage_ingest.dbt.builds.row_matching import deciding_columns
from tests.dbt.manifests import manifest, model, source
from tests.dbt.test_broken_artifacts import edges, found, ingest

EVENTS = {
    **source("events", {"id": "int", "at": "timestamp", "kind": "text", "x": "int"}),
    "config": {"event_time": "at"},
}
QUERY = 'select id, kind, x, at as seen from "wh"."raw"."events"'


def incremental(**config: Any) -> dict[str, Any]:
    return {"materialized": "incremental", **config}


def snapshot(**config: Any) -> dict[str, Any]:
    return {"materialized": "snapshot", "unique_key": "id", **config}


def row_edges(tmp_path: Path, name: str = "inc") -> set[str]:
    """Return the columns that decide which rows a table has, with how; without the table's own columns."""
    with open_store(tmp_path / "store.db") as store:
        [job] = [job for job in store.jobs() if f".{name}@" in job.key]
        assert str(job.completeness) == "full"
        rows = [edge for edge in store.edges_of([job.key]) if "#" not in edge.target and "#" in edge.source]
        return {
            f"{edge.source.rpartition('#')[2]} {' '.join(sorted(edge.subtypes))}"
            for edge in rows
            if not edge.source.startswith(edge.target)
        }


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (incremental(), set()),
        (incremental(unique_key="id"), {"id MERGE_MATCH"}),
        (incremental(unique_key="seen", incremental_strategy="merge"), {"at MERGE_MATCH"}),
        (incremental(unique_key=["id", "kind"], incremental_strategy="delete+insert"),
         {"id MERGE_MATCH", "kind MERGE_MATCH"}),
        (incremental(unique_key="id || kind", incremental_strategy="delete+insert"),
         {"id MERGE_MATCH", "kind MERGE_MATCH"}),
        (incremental(unique_key="id", incremental_strategy="append"), set()),
        (incremental(unique_key="id", incremental_strategy="merge",
                     incremental_predicates=["DBT_INTERNAL_SOURCE.x > 5"]), {"id MERGE_MATCH", "x MERGE_MATCH"}),
        (incremental(unique_key="id", incremental_strategy="delete+insert", incremental_predicates=["x > 5"]),
         {"id MERGE_MATCH"}),
        (incremental(incremental_strategy="insert_overwrite", partition_by={"field": "kind", "data_type": "string"}),
         {"kind MERGE_MATCH"}),
        (incremental(incremental_strategy="insert_overwrite", partition_by=["kind"], unique_key="id"),
         {"kind MERGE_MATCH"}),
        (incremental(incremental_strategy="microbatch", event_time="seen"), {"at FILTER MERGE_MATCH"}),
        (incremental(incremental_strategy="microbatch", event_time="seen", unique_key="id"),
         {"at FILTER", "id MERGE_MATCH"}),
        (incremental(incremental_strategy="replace_where", incremental_predicates="seen > '2026-01-01'"), set()),
        (incremental(unique_key="id", incremental_strategy="merge", merge_update_condition="DBT_INTERNAL_SOURCE.x > 5",
                     merge_insert_condition="kind is not null"),
         {"id MERGE_MATCH", "kind MERGE_MATCH", "x MERGE_MATCH"}),
        (incremental(merge_on_using_columns=["id"], merge_clauses={
            "when_matched": [{"action": "delete", "condition": ["DBT_INTERNAL_SOURCE.x > 5", "1 = 1"]},
                             {"action": "update", "mode": "by_name"}],
            "when_not_matched": [{"action": "insert", "condition": "kind is not null"},
                                 {"by": "source", "action": "delete"}]}),
         {"id MERGE_MATCH", "kind MERGE_MATCH", "x MERGE_MATCH"}),
        (incremental(unique_key="id || kind", merge_insert_condition="x > 5"),
         {"id MERGE_MATCH", "kind MERGE_MATCH", "x MERGE_MATCH"}),
        (incremental(unique_key="id", incremental_strategy="delete+insert", merge_update_condition="x > 5"),
         {"id MERGE_MATCH"}),
        (incremental(unique_key="id", target_alias="t", source_alias="s", matched_condition="s.x > t.x",
                     not_matched_condition="s.kind = 'a'", not_matched_by_source_condition="t.seen > now()",
                     not_matched_by_source_action="delete", incremental_predicates=["s.seen > t.seen"]),
         {"id MERGE_MATCH", "kind MERGE_MATCH", "x MERGE_MATCH", "at MERGE_MATCH"}),
        (incremental(incremental_strategy="merge", not_matched_by_source_action="delete"), set()),
        (incremental(unique_key="id", incremental_strategy="merge", source_alias="src", target_alias="target",
                     update_condition="target.x < src.x", delete_condition="src.kind = 'gone'"),
         {"id MERGE_MATCH", "kind MERGE_MATCH", "x MERGE_MATCH"}),
        (snapshot(strategy="check", check_cols=["kind", "x"]), {"id MERGE_MATCH", "kind MERGE_MATCH", "x MERGE_MATCH"}),
        (snapshot(strategy="check", check_cols="all"),
         {"id MERGE_MATCH", "kind MERGE_MATCH", "x MERGE_MATCH", "at MERGE_MATCH"}),
        (snapshot(strategy="timestamp", updated_at="seen"), {"id MERGE_MATCH", "at MERGE_MATCH"}),
        (snapshot(strategy="timestamp", updated_at="seen::timestamp"), {"id MERGE_MATCH", "at MERGE_MATCH"}),
        (snapshot(strategy="timestamp", updated_at="seen", snapshot_meta_column_names={"dbt_valid_from": "since"}),
         {"id MERGE_MATCH", "at MERGE_MATCH"}),
    ],
)  # fmt: skip
def test_what_decides_which_rows_a_table_has(tmp_path: Path, config: dict[str, Any], expected: set[str]) -> None:
    kind = "snapshot" if config["materialized"] == "snapshot" else "model"
    built = {**model("inc", QUERY, "source.shop.raw.events", config=config),
             "resource_type": kind, "unique_id": f"{kind}.shop.inc"}  # fmt: skip
    summary = ingest(tmp_path, manifest(EVENTS, built))
    assert found(summary) == set()
    assert row_edges(tmp_path) == expected
    assert summary.batch.run.counts["edges"] == summary.applied.edges_created


@pytest.mark.parametrize(
    ("adapter", "strategy", "columns"),
    [("trino", None, ()), ("trino", "merge", ("id",)), ("postgres", None, ("id",)), ("postgres", "append", ())],
)
def test_an_adapter_may_add_rows_unless_a_strategy_is_configured(
    adapter: str, strategy: str | None, columns: tuple[str, ...]
) -> None:
    assert deciding_columns(Config(unique_key="id", incremental_strategy=strategy), adapter) == columns


@pytest.mark.parametrize(
    "sql",
    [
        'select x from "wh"."raw"."events"',
        'select e.x from "wh"."raw"."events" as e where e.kind = 1 -- the end',
        'with a as (select x from "wh"."raw"."events" e) select a.x from a;',
        'select x from (select x from "wh"."raw"."events") s',
        'select x from "wh"."raw"."events" union all select 1',
    ],
)
def test_inputs_of_a_batch_are_filtered_wherever_they_are_read(tmp_path: Path, sql: str) -> None:
    built = model("inc", sql, "source.shop.raw.events", config=incremental(incremental_strategy="microbatch"))
    assert found(ingest(tmp_path, manifest(EVENTS, built))) == set()
    assert "at FILTER" in row_edges(tmp_path)


@pytest.mark.parametrize(
    ("config", "macro", "reported"),
    [
        (incremental(incremental_strategy="history"), "get_incremental_history_sql", True),
        (incremental(incremental_strategy="delete+insert"), "postgres__get_incremental_delete_insert_sql", True),
        (incremental(), "get_incremental_default_sql", True),
        (incremental(incremental_strategy="merge"), "get_incremental_history_sql", False),
        ({"materialized": "table"}, "get_incremental_default_sql", False),
        (snapshot(strategy="daily"), "snapshot_daily_strategy", True),
    ],
)  # fmt: skip
def test_a_strategy_of_the_project_is_reported(
    tmp_path: Path, config: dict[str, Any], macro: str, reported: bool
) -> None:
    kind = "snapshot" if config["materialized"] == "snapshot" else "model"
    built = {**model("inc", QUERY, "source.shop.raw.events", config=config),
             "resource_type": kind, "unique_id": f"{kind}.shop.inc"}  # fmt: skip
    macros = {f"macro.shop.{macro}": {"name": macro, "package_name": "shop", "macro_sql": "…"}}
    summary = ingest(tmp_path, manifest(EVENTS, built, macros=macros))
    assert found(summary) == ({("warning", "NOT_FOLLOWED")} if reported else set())


@pytest.mark.parametrize(
    "config",
    [
        {"merge_update_set_expressions": {"x": "DBT_INTERNAL_DEST.x + DBT_INTERNAL_SOURCE.kind"}},
        {"merge_clauses": {"when_matched": [{"action": "update", "mode": "explicit", "update": {
            "include": ["x"], "set_expressions": {"x": "DBT_INTERNAL_SOURCE.kind"}}}]}},
        {"merge_clauses": {"when_not_matched": [{"action": "insert", "mode": "explicit", "insert": {
            "columns": ["id", "x"], "values": ["DBT_INTERNAL_SOURCE.id", "DBT_INTERNAL_SOURCE.kind"]}}]}},
    ],
)  # fmt: skip
def test_what_a_merge_computes_is_a_source_of_the_column(tmp_path: Path, config: dict[str, Any]) -> None:
    """The table has such values from its second build on."""
    built = model("inc", QUERY, "source.shop.raw.events",
                  config=incremental(unique_key="id", incremental_strategy="merge", **config))  # fmt: skip
    assert found(ingest(tmp_path, manifest(EVENTS, built))) == set()
    assert {"events.x -> x", "events.kind -> x"} <= edges(tmp_path, "inc")


def test_aliases_of_athena(tmp_path: Path) -> None:
    config = incremental(unique_key="id", incremental_strategy="merge", update_condition="target.x < src.x")
    data = manifest(EVENTS, model("inc", QUERY, "source.shop.raw.events", config=config))
    data["metadata"]["adapter_type"] = "athena"
    ingest(tmp_path, data)
    assert row_edges(tmp_path) == {"id MERGE_MATCH", "x MERGE_MATCH"}


@pytest.mark.parametrize("value", [7, True, ["a", 1], {"a": [{}]}, [[]], {"when_matched": 3}])
def test_settings_of_another_form_leave_the_model(tmp_path: Path, value: Any) -> None:
    names = ("target_alias", "source_alias", "merge_clauses", "matched_condition", "merge_update_set_expressions",
             "not_matched_by_source_action", "merge_on_using_columns", "sql_header")  # fmt: skip
    for number, name in enumerate(names):
        built = model("inc", QUERY, "source.shop.raw.events", config=incremental(**{name: value}))
        ingest(tmp_path, manifest(EVENTS, built, at=f"2026-03-{number + 1:02}T06:00:00Z"))
        assert {"events.id -> id", "events.x -> x"} <= edges(tmp_path, "inc"), name
