"""Superset: what its documents may say beyond the real export of `test_other_tools.py`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lineage.model.statement import Completeness
from lineage.store import open_store
from lineage_ingest.bi.connections import ConnectionMap
from lineage_ingest.bi.superset.reader import connection_of_uri
from tests.bi.exports import codes, completeness, edges_of, ingest, into

DATASET = "dataset/public-orders-d5"
CHART = "chart/Chart-c5"
DATABASE = {"database_name": "W", "sqlalchemy_uri": "postgresql://me:XXXXXXXXXX@db/shop", "uuid": "w5-1"}
COLUMNS = [{"column_name": name} for name in ("id", "amount", "qty", "region", "day")]


def dataset(**more: Any) -> dict[str, Any]:
    return {"table_name": "orders", "schema": "public", "uuid": "d5-1", "database_uuid": "w5-1", "columns": COLUMNS,
            "metrics": [{"metric_name": "amount", "expression": "SUM(amount * qty) -- in euros"}], **more}  # fmt: skip


def chart(title: str = "Chart", **params: Any) -> dict[str, Any]:
    return {"slice_name": title, "uuid": "c5-1", "dataset_uuid": "d5-1", "viz_type": "table", "params": params}


def write(folder: Path, kind: str = "assets", **files: Any) -> Path:
    """Write documents as Superset does, with `version`; JSON is YAML."""
    folder.mkdir(exist_ok=True)
    for name, value in {"metadata": {"type": kind}, "database": DATABASE, **files}.items():
        (folder / f"{name}.yaml").write_text(json.dumps({**value, "version": "1.0.0"}), encoding="utf-8")
    return folder


def test_a_metric_may_have_the_name_of_a_column(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", dataset=dataset(), chart=chart(groupby=["amount"], metrics=["amount"]))
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "superset", folder).diagnostics
        assert into(store, f"{DATASET}.amount (metric)") == {
            f"postgres://db:5432/shop.public.orders.amount -> {DATASET}.amount (metric) [AGGREGATION]",
            f"postgres://db:5432/shop.public.orders.qty -> {DATASET}.amount (metric) [AGGREGATION]",
        }
        assert into(store, CHART) == {
            f"{DATASET}.amount -> {CHART}.amount [IDENTITY]",
            f"{DATASET}.amount (metric) -> {CHART}.amount (metric) [IDENTITY]",
        }


def test_a_dataset_of_another_one_by_its_number(tmp_path: Path) -> None:
    sql = "SELECT region, amount * 2 AS twice FROM {{ dataset(42) }} WHERE qty > 1"
    columns = [{"column_name": "region"}, {"column_name": "twice"}]
    other = dataset(uuid="e6-1", table_name="big", sql=sql, columns=columns, metrics=[])
    folder = write(
        tmp_path / "in", dataset=dataset(), big=other, chart=chart(datasource="42__table", all_columns=["id"])
    )
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "superset", folder).diagnostics
        assert into(store, "dataset/public-big-e6") == {
            "postgres://db:5432/shop.public.orders.amount -> dataset/public-big-e6.twice [TRANSFORMATION]",
            "postgres://db:5432/shop.public.orders.region -> dataset/public-big-e6.region [IDENTITY]",
        }


@pytest.mark.parametrize("sql", ["SELECT a FROM {{ dataset(7) }}", "SELECT a FROM {{ dataset(42) }}"])
def test_a_dataset_that_is_not_known_or_reads_itself_is_reported(tmp_path: Path, sql: str) -> None:
    own = dataset(sql=sql, columns=[{"column_name": "a"}], metrics=[])
    folder = write(tmp_path / "in", dataset=own, chart=chart(datasource="42__table", all_columns=["a"]))
    with open_store(tmp_path / "store.db") as store:
        assert ingest(store, "superset", folder).diagnostics
        assert Completeness.PARTIAL in completeness(store).values()


@pytest.mark.parametrize(
    ("params", "edge", "level"),
    [
        ({"all_columns": ["id"], "order_by_cols": ['["region", true]']}, "region", Completeness.FULL),
        ({"all_columns": ["id"], "color_scheme": "supersetColors"}, None, Completeness.FULL),
        ({"all_columns": ["id"], "new_dimension": "region"}, None, Completeness.PARTIAL),
        ({"all_columns": ["id"], "new_metric": {"expressionType": "SQL", "sqlExpression": "1"}}, None,
         Completeness.PARTIAL),
    ],
)  # fmt: skip
def test_parameters_of_a_chart(tmp_path: Path, params: Any, edge: str | None, level: Completeness) -> None:
    folder = write(tmp_path / "in", dataset=dataset(), chart=chart(**params))
    with open_store(tmp_path / "store.db") as store:
        ingest(store, "superset", folder)
        found = {one for one in into(store, CHART, rows=True) if "FILTER" in one}
        assert found == ({f"{DATASET}.{edge} ~> {CHART} [FILTER]"} if edge else set())
        assert completeness(store)[CHART] is level


def test_no_literal_is_in_a_label_or_elsewhere_in_the_store(tmp_path: Path) -> None:
    text = "SUM(CASE WHEN region = 'Hidden One' THEN amount END)"
    metric = {"expressionType": "SQL", "sqlExpression": text, "label": text}
    columns = [*COLUMNS, {"column_name": "c", "expression": "region || 'Hidden Two' -- Hidden Three"}]
    where = {"expressionType": "SQL", "sqlExpression": "region <> 'Hidden Four'", "clause": "WHERE"}
    virtual = dataset(columns=columns, sql="SELECT * FROM orders WHERE region = 'Hidden Five'")
    folder = write(tmp_path / "in", dataset=virtual, chart=chart(metrics=[metric], adhoc_filters=[where]))
    with open_store(tmp_path / "store.db") as store:
        assert not [one for one in ingest(store, "superset", folder).diagnostics if "Hidden" in str(one)]
        label = "SUM(CASE WHEN region = '**********' THEN amount END)"
        assert f"{DATASET}.amount -> {CHART}.{label} [AGGREGATION]" in into(store, CHART)
        assert "Hidden" not in repr(store.dump())


def test_filters_of_a_dashboard(tmp_path: Path) -> None:
    targets: list[dict[str, Any]] = [{"column": {"name": "region"}, "datasetUuid": "d5-1"}, {}]
    board = {"dashboard_title": "Board", "uuid": "b5-1", "position": {"x": {"type": "CHART", "meta": {"uuid": "c5-1"}}},
             "metadata": {"native_filter_configuration": [{"id": "f", "targets": targets}]}}  # fmt: skip
    folder = write(tmp_path / "in", dataset=dataset(), chart=chart(all_columns=["id"]), board=board)
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "superset", folder).diagnostics
        assert f"{DATASET}.region ~> dashboard/Board-b5 [FILTER]" in edges_of(store, rows=True)
        targets[0]["datasetUuid"] = "other"
        assert "EXPRESSION_NOT_READ" in codes(ingest(store, "superset", write(folder, board=board)))
        assert completeness(store)["dashboard/Board-b5"] is Completeness.PARTIAL


def test_an_export_of_some_objects_retires_only_what_it_renames(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", "assets", dataset=dataset(), chart=chart(all_columns=["id"]))
    with open_store(tmp_path / "store.db") as store:
        ingest(store, "superset", folder)
        (folder / "dataset.yaml").unlink()
        (folder / "chart.yaml").unlink()
        other = {**dataset(), "uuid": "e5-1", "table_name": "customers"}
        part = ingest(store, "superset", write(folder, "Dataset", dataset=other))
        assert part.gone == ()
        assert any("assets" in notice for notice in part.notices)
        part = ingest(store, "superset", write(folder, "Chart", chart=chart("Renamed", all_columns=["id"])))
        assert part.gone == (CHART,)
        whole = ingest(store, "superset", write(folder, "assets"))
        assert whole.gone == ()  # the chart still reads it
        (folder / "chart.yaml").unlink()
        assert set(ingest(store, "superset", folder).gone) == {DATASET, "chart/Renamed-c5"}


def test_a_table_that_a_template_decides_is_no_table(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", dataset=dataset(sql="SELECT * FROM {{ t }} AS o"))
    with open_store(tmp_path / "store.db") as store:
        assert "EXPRESSION_NOT_READ" in codes(ingest(store, "superset", folder))
        assert [one.name for one in store.datasets() if one.kind != "exposure"] == []
        assert completeness(store)[DATASET] is not Completeness.FULL


@pytest.mark.parametrize(
    ("uri", "sql", "table"),
    [
        ("postgresql://me@db/shop", "SELECT id FROM t", "postgres://db:5432/shop.mart.t"),
        ("postgresql://me@db/shop", "SELECT id FROM other.t", "postgres://db:5432/shop.other.t"),
        ("postgresql://me@db/shop", None, "postgres://db:5432/shop.mart.orders"),
        ("mysql://me@db/shop", "SELECT id FROM t", "mysql://db:3306/mart.t"),
        ("mssql+pymssql://me@db:1433/shop", "SELECT id FROM t", "mssql://db:1433/shop.dbo.t"),
    ],
)  # fmt: skip
def test_sql_of_a_dataset_runs_in_the_schema_of_the_dataset(tmp_path: Path, uri: str, sql: str, table: str) -> None:
    columns = [{"column_name": "id"}]
    virtual = dataset(schema="mart", sql=sql, columns=columns, metrics=[])
    folder = write(tmp_path / "in", database={**DATABASE, "sqlalchemy_uri": uri}, dataset=virtual)
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "superset", folder).diagnostics
        key = "dataset/mart-orders-d5"
        assert into(store, key) == {f"{table}.id -> {key}.id [IDENTITY]"}


@pytest.mark.parametrize(
    ("params", "columns"),
    [
        ({"query_mode": "raw", "all_columns": ["id"], "groupby": ["region"], "metrics": ["amount"]}, {"id"}),
        ({"query_mode": "aggregate", "all_columns": ["id"], "groupby": ["region"]}, {"region"}),
        ({"groupby": ["id"], "metrics": [{"expressionType": "SQL", "label": "twice",
                                          "sqlExpression": "2 * {{ metric('amount') }}"}]}, {"id", "amount (metric)"}),
        ({"all_columns": ["id"], "adhoc_filters": [
            {"expressionType": "SIMPLE", "subject": "day", "operator": "TEMPORAL_RANGE", "comparator": "No filter"},
            {"expressionType": "SIMPLE", "subject": "qty", "operator": "TEMPORAL_RANGE", "comparator": "Last week"}]},
         {"id", "qty"}),
    ],
)  # fmt: skip
def test_what_a_chart_does_not_use_is_no_source_of_it(tmp_path: Path, params: Any, columns: set[str]) -> None:
    folder = write(tmp_path / "in", dataset=dataset(), chart=chart(**params))
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "superset", folder).diagnostics
        found = {one.split(" ")[0] if "(metric)" not in one else one[: one.index(")") + 1]
                 for one in into(store, CHART, rows=True)}  # fmt: skip
        assert found == {f"{DATASET}.{one}" for one in columns}


def test_a_metric_can_be_made_of_others(tmp_path: Path) -> None:
    metrics = [
        {"metric_name": "total", "expression": "SUM(amount)"},
        {"metric_name": "twice", "expression": "2 * {{ metric('total') }}"},
        {"metric_name": "endless", "expression": "{{ metric('endless') }} + SUM(id)"},
    ]
    folder = write(tmp_path / "in", dataset=dataset(metrics=metrics))
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "superset", folder)
        source = "postgres://db:5432/shop.public.orders.amount"
        assert into(store, f"{DATASET}.twice") == {f"{source} -> {DATASET}.twice [AGGREGATION]"}
        assert "the metric 'endless' is made of itself" in {one.diagnostic.message for one in summary.diagnostics}


def test_names_in_lower_case_are_those_of_the_database(tmp_path: Path) -> None:
    """As SQLAlchemy lists them: `orders` is ORDERS of a Snowflake."""
    database = {**DATABASE, "sqlalchemy_uri": "snowflake://me@acme/SHOP/PUBLIC"}
    data = dataset(columns=[{"column_name": "id"}, {"column_name": "Day"}], metrics=[])
    params: dict[str, Any] = {
        "all_columns": ["id", "Day"],
        "adhoc_filters": [{"expressionType": "SQL", "sqlExpression": "id > 1"}],
    }
    folder = write(tmp_path / "in", database=database, dataset=data, chart=chart(**params))
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "superset", folder).diagnostics
        assert edges_of(store, rows=True) == {
            f"snowflake://acme/SHOP.PUBLIC.ORDERS.ID -> {DATASET}.ID [IDENTITY]",
            f"snowflake://acme/SHOP.PUBLIC.ORDERS.Day -> {DATASET}.Day [IDENTITY]",
            f"{DATASET}.ID -> {CHART}.id [IDENTITY]", f"{DATASET}.Day -> {CHART}.Day [IDENTITY]",
            f"{DATASET}.ID ~> {CHART} [FILTER]",
        }  # fmt: skip


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (None, "a query of the chart is not of a known form"),
        ({"columns": ["id"], "filters": [{"col": 7, "op": "=="}]}, "a filter of the chart is not of a known form"),
        ({"columns": ["id"], "filters": [{"col": {"column_name": "x"}, "op": "=="}]},
         "the filter's column 'x' is not in the dataset"),
        ({"columns": ["id"], "granularity": "x", "time_range": "Last week"},
         "the filter's column 'x' is not in the dataset"),
        ({"columns": ["id"], "orderby": [["x", True]]}, "the chart is ordered by 'x', which is not in the dataset"),
    ],
)  # fmt: skip
def test_parts_of_a_query_that_are_not_read(tmp_path: Path, query: Any, message: str) -> None:
    context = {"queries": [{"columns": ["id"]}, query]}
    folder = write(tmp_path / "in", dataset=dataset(), chart={**chart(), "query_context": json.dumps(context)})
    with open_store(tmp_path / "store.db") as store:
        assert [one.diagnostic.message for one in ingest(store, "superset", folder).diagnostics] == [message]
        assert completeness(store)[CHART] is Completeness.PARTIAL


def test_objects_whose_uuids_begin_equally_are_several(tmp_path: Path) -> None:
    one, two = (dataset(uuid=f"d5-{number}", columns=[{"column_name": name}], metrics=[])
                for number, name in ((1, "id"), (2, "qty")))  # fmt: skip
    folder = write(tmp_path / "in", one=one, two=two)
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "superset", folder).diagnostics
        assert set(completeness(store)) == {f"{DATASET}-1", f"{DATASET}-2"}
        (folder / "again.yaml").write_text(json.dumps({**two, "columns": [], "version": "1"}), encoding="utf-8")
        assert codes(ingest(store, "superset", folder)) == {"DEFINED_TWICE"}
        (folder / "again.yaml").write_text((folder / "two.yaml").read_text(encoding="utf-8"), encoding="utf-8")
        assert not ingest(store, "superset", folder).diagnostics


def test_the_data_of_another_chart_in_a_layer_is_reported(tmp_path: Path) -> None:
    layers = [{"name": "Past", "sourceType": "line", "value": 7}, {"name": "Line", "annotationType": "FORMULA"}]
    folder = write(tmp_path / "in", dataset=dataset(), chart=chart(groupby=["id"], annotation_layers=layers))
    with open_store(tmp_path / "store.db") as store:
        assert [one.diagnostic.message for one in ingest(store, "superset", folder).diagnostics] == [
            "the annotation layer 'Past' shows data of another chart, and is not read"
        ]


def test_a_part_of_the_server_says_what_it_retired(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", dataset=dataset(), chart=chart(groupby=["id"]))
    with open_store(tmp_path / "store.db") as store:
        ingest(store, "superset", folder)
        write(folder, "Chart", chart=chart("Renamed", groupby=["id"]))
        summary = ingest(store, "superset", folder)
        assert summary.gone == (CHART,)
        assert "only what has another title now was retired" in summary.notices[0]
        assert "nothing was retired" in ingest(store, "superset", folder).notices[0]


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ({"granularity": "day", "is_timeseries": True, "columns": ["region"]}, {"day", "region"}),
        ({"granularity": "day", "is_timeseries": False, "columns": ["region"]}, {"region"}),
    ],
)
def test_the_time_of_a_query_context_is_shown_if_it_is_a_series(
    tmp_path: Path, query: dict[str, Any], shown: set[str]
) -> None:
    context = json.dumps({"queries": [{"time_range": "No filter", **query}]})
    folder = write(tmp_path / "in", dataset=dataset(), chart={**chart(), "query_context": context})
    with open_store(tmp_path / "store.db") as store:
        ingest(store, "superset", folder)
        assert {one.split()[0].rpartition(".")[2] for one in into(store, f"{CHART}.")} == shown


def test_parameters_that_name_what_is_shown_and_the_column_of_a_histogram(tmp_path: Path) -> None:
    params: dict[str, Any] = {"viz_type": "histogram_v2", "column": "qty", "groupby": ["region"]}
    params["x_axis_sort"] = "region"
    folder = write(tmp_path / "in", dataset=dataset(), chart=chart(**params))
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "superset", folder).diagnostics
        assert {one.split()[0].rpartition(".")[2] for one in into(store, f"{CHART}.")} == {"qty", "region"}


@pytest.mark.parametrize(
    "limits",
    [
        {
            "adhoc_filters": [
                {"expressionType": "SIMPLE", "subject": "due", "operator": "TEMPORAL_RANGE", "comparator": "Last week"}
            ]
        },
        {"granularity_sqla": "due", "time_range": "Last week"},
        {
            "query_context": {
                "queries": [
                    {"columns": ["id"], "filters": [{"col": "due", "op": "TEMPORAL_RANGE", "val": "Last week"}]}
                ]
            }
        },
    ],
)
@pytest.mark.parametrize("always", [True, False])
def test_a_dataset_that_is_always_filtered_by_its_own_time(tmp_path: Path, limits: Any, always: bool) -> None:
    columns = [*COLUMNS, {"column_name": "due", "is_dttm": True}]
    given = dataset(columns=columns, main_dttm_col="day", always_filter_main_dttm=always)
    shown = {**chart(all_columns=["id"], **limits), "query_context": limits.get("query_context")}
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "superset", write(tmp_path / "in", dataset=given, chart=shown)).diagnostics
        rows = {one.partition(" ")[0].rpartition(".")[2] for one in into(store, CHART, rows=True) if "[FILTER]" in one}
        assert rows == ({"due", "day"} if always else {"due"})


@pytest.mark.parametrize(
    ("params", "groups"),
    [
        ({"groupby": ["region"], "metrics": ["amount"]}, {"region"}),
        ({"query_mode": "raw", "all_columns": ["region"], "metrics": ["amount"]}, set()),
        ({"groupby": [{"expressionType": "SQL", "sqlExpression": "upper(region)", "label": "R"}, "day"],
          "metrics": [{"expressionType": "SQL", "sqlExpression": "max(qty)", "label": "M"}]}, {"region", "day"}),
        ({"metrics": ["amount"]}, set()),
    ],
)  # fmt: skip
def test_by_which_columns_a_chart_is_grouped(tmp_path: Path, params: Any, groups: set[str]) -> None:
    """Another value of such a column changes the metrics."""
    with open_store(tmp_path / "store.db") as store:
        ingest(store, "superset", write(tmp_path / "in", dataset=dataset(), chart=chart(**params)))
        rows = {one for one in into(store, CHART, rows=True) if "[GROUP_BY]" in one}
        assert {one.partition(" ")[0].rpartition(".")[2] for one in rows} == groups


@pytest.mark.parametrize("kind", ["filter_time", "filter_timecolumn", "filter_timegrain"])
def test_a_filter_by_time(tmp_path: Path, kind: str) -> None:
    metadata = {"native_filter_configuration": [{"filterType": kind, "name": "When", "targets": [{}]}]}
    board = {"dashboard_title": "D", "uuid": "b5-1", "metadata": metadata}
    folder = write(tmp_path / "in", dataset=dataset(), board=board)
    with open_store(tmp_path / "store.db") as store:
        [found] = ingest(store, "superset", folder).diagnostics
        assert found.diagnostic.message == "the filter 'When' decides by the time of each chart: that is not followed"


@pytest.mark.parametrize(
    ("uri", "place"),
    [
        ("databricks://token:x@h:443?http_path=/x&catalog=main&schema=sales", "databricks h:443 main sales"),
        ("databricks+connector://token:x@h:443/sales", "databricks h:443 None sales"),
        ("awsathena+rest://@h:443/sales?s3_staging_dir=s3://b&catalog_name=Lake", "athena h:443 Lake sales"),
        ("postgresql://me@h:5432/shop?options=-csearch_path%3Dmart", "postgres h:5432 shop mart"),
        ("starrocks://me@h:9030/default_catalog.shop", "starrocks h:9030 None shop"),
        ("oracle+cx_oracle://me@h:1521/?service_name=X", "oracle h:1521 None None"),
        ("teradatasql://h/shop", "teradata h shop None"),
        ("no address", "ansi  None None"),
    ],
)
def test_addresses(uri: str, place: str) -> None:
    found = connection_of_uri(uri, ("w",), ConnectionMap())
    assert f"{found.dialect} {found.namespace.partition('://')[2]} {found.database} {found.schema}" == place


def test_names_that_lack_the_database(tmp_path: Path) -> None:
    database = {**DATABASE, "sqlalchemy_uri": "databricks://token:x@h:443/public"}
    folder = write(tmp_path / "in", database=database, dataset=dataset())
    with open_store(tmp_path / "store.db") as store:
        [found] = ingest(store, "superset", folder).diagnostics
        assert found.diagnostic.message == (
            "the database of the connection 'W' is not known: public.orders is not known by three parts"
        )
        assert not ingest(store, "superset", folder, default_database="main").diagnostics
