"""Ingesting a project again: what changed is replaced, what is gone is retired, what is unchanged is skipped."""

from __future__ import annotations

import json
import random
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lineage.model.statement import DatasetKind
from lineage.store import GraphStore, open_store
from lineage_ingest import DbtOptions, ingest_dbt, ingest_sql
from lineage_ingest.dbt.earlier.order_of_ingests import OlderManifestError
from lineage_ingest.dbt.project_summary import DbtSummary
from lineage_ingest.options import SqlOptions
from tests.benchmarks._dbt_project import edit_model, make_manifest, write_manifest
from tests.dbt.manifests import manifest, model, relation, source, write
from tests.dbt.random_histories import change_project, make_reading_project, run_history

SEEDS = ("d/1", "d/3", "d/14")

RAW = source("orders", {"id": "int", "amount": "int", "note": "text"})
STAGED = model("stg", 'select id, amount from "wh"."raw"."orders"', "source.shop.raw.orders")
MART = model("mart", f"select id, amount * 2 as twice from {relation('stg')}", "stg")


def ingest(tmp_path: Path, data: dict[str, Any], **options: Any) -> DbtSummary:
    """Ingest a manifest into the store of a test."""
    target = write(tmp_path / "target", data)
    return ingest_dbt(target, store=tmp_path / "store.db", options=DbtOptions(**options))


def lines(store: GraphStore, table: str, as_of: datetime | None = None) -> set[str]:
    """Return the edges between columns into a table."""
    edges = store.edges_into([f"postgres/wh.main.{table}"], as_of=as_of)
    pairs = ((edge.source, edge.target) for edge in edges if "#" in edge.source and "#" in edge.target)
    return {f"{one.rpartition('.')[2].replace('#', '.')} -> {other.partition('#')[2]}" for one, other in pairs}


def test_an_edited_model_is_replaced_and_its_past_is_kept(tmp_path: Path) -> None:
    ingest(tmp_path, manifest(RAW, STAGED, MART))
    edited = {**STAGED, "compiled_code": 'select id, note as amount from "wh"."raw"."orders"'}
    summary = ingest(tmp_path, manifest(RAW, edited, MART, at="2026-03-02T06:00:00Z"))
    assert summary.unchanged == 1
    with open_store(tmp_path / "store.db") as store:
        assert lines(store, "stg") == {"orders.id -> id", "orders.note -> amount"}
        assert lines(store, "stg", datetime(2026, 3, 1, 12, tzinfo=UTC)) == {
            "orders.id -> id",
            "orders.amount -> amount",
        }
        assert lines(store, "mart") == {"stg.id -> id", "stg.amount -> twice"}


def test_a_hook_that_writes_a_view_does_not_make_it_a_table(tmp_path: Path) -> None:
    view = {**STAGED, "config": {"materialized": "view"}}
    ingest(tmp_path, manifest(RAW, view))
    hook = {"sql": "delete from {{ this }} where id is null", "transaction": True, "index": None}
    hooked = {**view, "config": {**view["config"], "post-hook": [hook]}}
    assert ingest(tmp_path, manifest(RAW, hooked, at="2026-03-02T06:00:00Z")).unchanged == 1
    with open_store(tmp_path / "store.db") as store:
        assert [one.kind for one in store.datasets(["postgres/wh.main.stg"])] == [DatasetKind.VIEW]


def test_the_sql_of_an_earlier_time_is_not_that_of_today(tmp_path: Path) -> None:
    ingest(tmp_path, manifest(RAW, STAGED, MART))
    edited = {**MART, "compiled_code": f"select 1 as one, id as key from {relation('stg')}"}
    ingest(tmp_path, manifest(RAW, edited, at="2026-03-05T06:00:00Z"))  # and stg is gone
    with open_store(tmp_path / "store.db") as store:
        then = datetime(2026, 3, 2, tzinfo=UTC)
        edges = [edge for edge in store.edges_into(["postgres/wh.main.stg", "postgres/wh.main.mart"], as_of=then)
                 if "#" in edge.source and "#" in edge.target]  # fmt: skip
        steps = store.steps({(edge.source, edge.target, edge.kind) for edge in edges}, as_of=then)
        proven = {step.target.rpartition(".")[2].partition("#")[0]: bool(step.spans) for step in steps}
    assert proven == {"stg": True, "mart": False}


def test_a_model_whose_upstream_schema_changed_is_resolved_again(tmp_path: Path) -> None:
    star = model("all_of_it", f"select * from {relation('stg')}", "stg")
    ingest(tmp_path, manifest(RAW, STAGED, star))
    wider = {**STAGED, "compiled_code": 'select id, amount, note from "wh"."raw"."orders"'}
    summary = ingest(tmp_path, manifest(RAW, wider, star, at="2026-03-02T06:00:00Z"))
    assert summary.unchanged == 0
    with open_store(tmp_path / "store.db") as store:
        assert lines(store, "all_of_it") == {"stg.id -> id", "stg.amount -> amount", "stg.note -> note"}


def test_a_description_adds_no_column_to_a_known_schema(tmp_path: Path) -> None:
    """The second time, its SQL is not readable: the columns are those of the first, however often that is stated."""
    described = {one: {"name": one, "data_type": "text"} for one in ("id", "amount", "gone", "planned")}
    before = {**STAGED, "compiled_code": 'select id, amount as gone from "wh"."raw"."orders"'}
    for day, node in enumerate((before, STAGED, *[{**STAGED, "compiled_code": "select from where"}] * 3), 1):
        data = manifest(RAW, {**node, "columns": described}, at=f"2026-03-{day:02d}T06:00:00Z")
        ingest(tmp_path, data, full=True)
        with open_store(tmp_path / "store.db") as store:
            columns = {one.path for one in store.columns(["postgres/wh.main.stg"])}
        assert columns == ({"id", "gone"} if day == 1 else {"id", "amount"}), day


def test_a_model_that_is_gone_is_retired(tmp_path: Path) -> None:
    ingest(tmp_path, manifest(RAW, STAGED, MART))
    summary = ingest(tmp_path, manifest(RAW, STAGED, at="2026-03-02T06:00:00Z"))
    assert summary.gone == ("model.shop.mart",)
    with open_store(tmp_path / "store.db") as store:
        assert lines(store, "mart") == set()
        assert lines(store, "stg") == {"orders.id -> id", "orders.amount -> amount"}


def test_a_model_with_another_table_leaves_the_first(tmp_path: Path) -> None:
    ingest(tmp_path, manifest(RAW, STAGED, MART))
    moved = {**MART, "alias": "mart2", "relation_name": relation("mart2")}
    ingest(tmp_path, manifest(RAW, STAGED, moved, at="2026-03-02T06:00:00Z"))
    with open_store(tmp_path / "store.db") as store:
        assert (lines(store, "mart"), lines(store, "mart2")) == (set(), {"stg.id -> id", "stg.amount -> twice"})


def test_two_projects_and_two_environments_keep_their_own(tmp_path: Path) -> None:
    other = model("other", f"select id from {relation('stg')}", "model.shop.stg", project="web")
    other_stg = model(
        "stg", 'select id from "wh"."raw"."orders"', project="shop", alias="stg_web", relation_name=relation("stg_web")
    )
    ingest(tmp_path, manifest(RAW, STAGED, MART))
    ingest(tmp_path, manifest(RAW, other, other_stg, project="web", at="2026-03-02T06:00:00Z"))
    dev = [
        {**one, "schema": "dev", "relation_name": one["relation_name"].replace("main", "dev")} for one in (STAGED, MART)
    ]
    dev[1]["compiled_code"] = MART["compiled_code"].replace("main", "dev")
    [notice] = ingest(tmp_path, manifest(RAW, *dev, at="2026-03-03T06:00:00Z")).notices
    assert "2 nodes of shop as postgres,,wh,main" in notice
    assert "lineage forget --project dbt/shop --environment postgres,,wh,main" in notice
    with open_store(tmp_path / "store.db") as store:
        assert lines(store, "mart") == {"stg.id -> id", "stg.amount -> twice"}
        assert lines(store, "other") == {"stg.id -> id"}
        assert len(store.edges_into(["postgres/wh.dev.mart"])) > 0


def test_an_older_manifest_is_refused(tmp_path: Path) -> None:
    ingest(tmp_path, manifest(RAW, STAGED, at="2026-03-02T06:00:00Z"))
    with pytest.raises(OlderManifestError, match="2026-03-02"):
        ingest(tmp_path, manifest(RAW, STAGED, MART))


def test_another_writer_makes_everything_be_stated_again(tmp_path: Path) -> None:
    data = manifest(RAW, STAGED, MART)
    ingest(tmp_path, data)
    assert ingest(tmp_path, data).unchanged == 2
    (tmp_path / "own.sql").write_text("CREATE VIEW own AS SELECT 1 AS one", encoding="utf-8")
    ingest_sql(tmp_path / "own.sql", store=tmp_path / "store.db", options=SqlOptions(dialect="postgres", project="own"))
    assert ingest(tmp_path, data).unchanged == 0
    assert ingest(tmp_path, data).unchanged == 2
    assert ingest(tmp_path, data, full=True).unchanged == 0
    assert ingest(tmp_path, data, set_operations="paper").unchanged == 0


def test_a_skipped_model_is_there_when_a_drop_comes_late(tmp_path: Path) -> None:
    """A log of the time between two ingests arrives after both."""
    for day in (1, 3, 5):
        summary = ingest(tmp_path, manifest(RAW, STAGED, MART, at=f"2026-03-{day:02d}T06:00:00Z"))
        assert summary.unchanged == (2 if day > 1 else 0)
    drop(tmp_path, "stg", datetime(2026, 3, 2, tzinfo=UTC))
    with open_store(tmp_path / "store.db") as store:
        assert lines(store, "stg") == {"orders.id -> id", "orders.amount -> amount"}
        assert lines(store, "mart") == {"stg.id -> id", "stg.amount -> twice"}
        assert lines(store, "stg", datetime(2026, 3, 2, 12, tzinfo=UTC)) == set()
        assert lines(store, "stg", datetime(2026, 3, 4, tzinfo=UTC)) == lines(store, "stg")


def test_what_was_dropped_after_the_last_ingest_is_stated_again(tmp_path: Path) -> None:
    """The store knew the DROP before the model was ingested as of an earlier time."""
    drop(tmp_path, "stg", datetime(2026, 3, 2, tzinfo=UTC))
    ingest(tmp_path, manifest(RAW, STAGED, MART))
    summary = ingest(tmp_path, manifest(RAW, STAGED, MART, at="2026-03-03T06:00:00Z"))
    assert summary.unchanged == 0
    assert ingest(tmp_path, manifest(RAW, STAGED, MART, at="2026-03-04T06:00:00Z")).unchanged == 2
    with open_store(tmp_path / "store.db") as store:
        assert lines(store, "stg") == {"orders.id -> id", "orders.amount -> amount"}


def drop(tmp_path: Path, table: str, at: datetime) -> None:
    """Ingest a DROP, as of a time."""
    (tmp_path / "drop.sql").write_text(f"DROP TABLE wh.main.{table}", encoding="utf-8")
    options = SqlOptions(dialect="postgres", project="own", observed_at=at)
    ingest_sql(tmp_path / "drop.sql", store=tmp_path / "store.db", options=options)


def content(path: Path) -> tuple[Any, ...]:
    """Return what a store says now: live edges, live columns and jobs, without when they were seen."""
    with open_store(path) as store:
        jobs = {job.key: (job.sql, job.operation, job.completeness, job.reads, job.writes) for job in store.jobs()}
        edges = {(e.job, e.source, e.target, e.kind, e.subtypes, e.masking, e.spans) for e in store.edges_of(jobs)}
        tables = [one.key for one in store.datasets() if one.dropped_at is None]
        columns = [(one.key, one.data_type, one.ordinal, one.inferred) for one in store.columns(tables)]
        found = sorted((one.source, str(one.diagnostic)) for one in store.diagnostics())
    return jobs, edges, sorted(tables), columns, found


@pytest.mark.parametrize("seed", [0, 1, 2, 182])
def test_skipping_what_is_unchanged_changes_nothing(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    data = make_manifest(models=24, columns=6, seed=seed)
    for step in range(8):
        if step:
            change_project(data, rng)
        data["metadata"]["generated_at"] = f"2026-03-{step + 1:02d}T06:00:00.000000Z"
        write_manifest(deepcopy(data), tmp_path / "target")
        unchanged = ingest_dbt(tmp_path / "target", store=tmp_path / "fast.db").unchanged
        assert unchanged > 0 or step == 0
        ingest_dbt(tmp_path / "target", store=tmp_path / "full.db", options=DbtOptions(full=True))
        assert content(tmp_path / "fast.db") == content(tmp_path / "full.db"), (
            seed,
            step,
            json.dumps(data["metadata"]),
        )


# Each of these fails without one of the rules: others of the same moment, tables known by another key, what is skipped
# is seen again, facts of columns that come and go.
@pytest.mark.parametrize("seed", SEEDS)
def test_skipping_beside_others_changes_nothing(tmp_path: Path, seed: str) -> None:
    """`python -m tests.dbt.random_histories` runs many of these."""
    differs, counts = run_history(seed, 12, tmp_path)
    assert not differs
    assert counts["skipped"] > 0


def test_skipping_in_turn_changes_nothing(tmp_path: Path) -> None:
    """`python -m tests.dbt.random_histories --turns` runs many of these."""
    differs, counts = run_history("t/0", 10, tmp_path, turns=True)
    assert not differs
    assert counts["skipped"] > 0


def test_projects_that_take_turns_skip_what_others_do_not_name(tmp_path: Path) -> None:
    """The third project reads a source and a model of the first, and builds a table that it builds, too."""
    own = json.dumps(make_manifest(models=9, columns=4, seed=2)).replace("big", "own")
    projects = {
        "first": make_manifest(models=9, columns=4, seed=1),
        "second": json.loads(own.replace("main_", "own_").replace("crm", "erp")),
        "third": make_reading_project(models=9, columns=4, seed=3),
    }
    day = 0

    def unchanged(name: str) -> int:
        nonlocal day
        day += 1
        projects[name]["metadata"]["generated_at"] = f"2026-03-{day:02d}T06:00:00.000000Z"
        write_manifest(projects[name], tmp_path / name)
        return ingest_dbt(tmp_path / name, store=tmp_path / "store.db").unchanged

    assert [unchanged("first"), unchanged("second"), unchanged("first"), unchanged("second")] == [0, 0, 9, 9]
    assert [unchanged("third"), unchanged("second")] == [0, 9]
    assert 0 < unchanged("first") < 9
    assert 0 < unchanged("third") < 9
    edit_model(projects["second"], 8)
    assert [unchanged("second"), unchanged("second")] == [8, 9]


@pytest.mark.parametrize("days", [(1, 2, 3), (1, 1, 2)])
def test_what_others_say_of_the_same_moment_makes_everything_be_stated_once_more(
    tmp_path: Path, days: tuple[int, ...]
) -> None:
    (tmp_path / "own.sql").write_text("CREATE TABLE wh.main.stg (id int, extra int)", encoding="utf-8")
    options = SqlOptions(dialect="postgres", project="own", observed_at=datetime(2026, 3, 1, 6, tzinfo=UTC))
    ingest_sql(tmp_path / "own.sql", store=tmp_path / "store.db", options=options)
    found = [ingest(tmp_path, manifest(RAW, STAGED, at=f"2026-03-{day:02d}T06:00:00Z")).unchanged for day in days]
    assert found == ([0, 0, 1] if days[1] > 1 else [0, 1, 0])  # of the same time, the same says nothing new


def test_facts_are_stated_again_for_a_column_that_comes_later(tmp_path: Path) -> None:
    columns = {"note": {"name": "note", "description": "what the customer wrote", "tags": ["pii"]}}
    wider = {**STAGED, "compiled_code": 'select id, amount, note from "wh"."raw"."orders"'}
    facts = []
    for day, node in enumerate((STAGED, wider, STAGED, wider), 1):
        ingest(tmp_path, manifest(RAW, {**node, "columns": columns}, at=f"2026-03-{day:02d}T06:00:00Z"))
        with open_store(tmp_path / "store.db") as store:
            found = {one.path: one.facts or "" for one in store.columns(["postgres/wh.main.stg"], dropped=True)}
        facts.append("pii" in found.get("note", ""))
    assert facts == [False, True, False, True]
