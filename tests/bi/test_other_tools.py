"""Superset, LookML, Tableau and Power BI: real exports, with edges read off them by hand."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

from lineage.model.statement import Completeness
from lineage.store import open_store
from lineage_ingest.bi.connections import ConnectionMap
from lineage_ingest.bi.metabase.metadata import connection_of
from lineage_ingest.bi.superset.reader import connection_of_uri
from lineage_ingest.bi.tableau.source_relations import connection_of_element
from tests.bi.exports import DATA, codes, columns_of, completeness, edges_of, ingest

WAREHOUSE = {"namespace": "postgres://db:5432", "dialect": "postgres", "default_schema": "public"}


def test_superset(tmp_path: Path) -> None:
    archive = tmp_path / "dashboard_export.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as written:
        for file in sorted((DATA / "superset").rglob("*.yaml")):
            written.write(file, f"dashboard_export/{file.relative_to(DATA / 'superset')}")
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "superset", archive, **WAREHOUSE)
        assert not summary.diagnostics
        assert set(completeness(store).values()) == {Completeness.FULL}
        assert {
            "postgres://db:5432/public.messages.ts -> dataset/messages_channels-6e533506.ts [IDENTITY]",
            "postgres://db:5432/public.channels.name -> dataset/messages_channels-6e533506.name [IDENTITY]",
            "dataset/messages-e032c69e.ts -> chart/Weekly-Messages-abe2c022.ts [IDENTITY]",
            "chart/Weekly-Messages-abe2c022.ts -> dashboard/Slack-Dashboard-9726d8b0.Weekly Messages / ts [IDENTITY]",
        } <= edges_of(store)
        assert "postgres://db:5432/public.channels.id ~> dataset/messages_channels-6e533506 [JOIN]" in edges_of(
            store, True
        )


def test_jinja_in_superset_is_reported(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    shutil.copytree(DATA / "superset", folder)
    file = folder / "datasets" / "messages_channels.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("JOIN channels c", "{% if x %}JOIN{% endif %} channels c"), encoding="utf-8")
    with open_store(tmp_path / "store.db") as store:
        assert "EXPRESSION_NOT_READ" in codes(ingest(store, "superset", folder, **WAREHOUSE))
        assert completeness(store)["dataset/messages_channels-6e533506"] is not Completeness.FULL


def test_lookml(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "lookml", DATA / "lookml", server="", dialect="bigquery", namespace="bigquery")
        assert summary.server == "block-shopify"  # as the manifest says
        found = edges_of(store)
        assert {
            "bigquery/shopify_for_looker.order_line.price -> view/order_line.price [IDENTITY]",
            "view/product_tag.value -> explore/order.product_tag:value [IDENTITY]",
            "view/product_tag.value -> derived_table/top_15.product_tag [IDENTITY]",
            "derived_table/top_15.units -> view/top_15.units [IDENTITY]",
        } <= found
        assert "view/order_line.product_id ~> explore/order [JOIN]" in edges_of(store, rows=True)
        assert completeness(store)["view/top_15"] is Completeness.FULL


LOOKML = """
connection: "postgres"
include: "*.view"
view: orders {
  sql_table_name: @{SCHEMA}.orders ;;
  dimension: id { primary_key: yes }
  dimension: amount { sql: ${TABLE}.amount_cents / 100 ;; }
  dimension: is_big { type: yesno  sql: ${amount} > 10 ;; }
  dimension_group: created { type: time timeframes: [date, month] sql: ${TABLE}.created_at ;; }
  dimension: shown { sql: {% if x == 1 %} ${TABLE}.a {% else %} ${TABLE}.b {% endif %} ;; }
  measure: total { type: sum sql: ${amount} ;; filters: [is_big: "yes"] }
  measure: share { type: number sql: ${total} / NULLIF(${count}, 0) ;; }
  measure: count { type: count }
}
view: +orders { dimension: amount { sql: ${TABLE}.amount_cents / 1000.0 ;; } }
view: big_orders { extends: [orders] sql_table_name: mart.big ;; dimension: rank {} }
explore: orders { join: big_orders { sql_on: ${orders.id} = ${big_orders.id} ;; type: inner } }
explore: small { from: orders sql_always_where: ${small.amount} < 5 ;; }
"""


def test_refinements_extensions_and_liquid(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "shop.model.lkml").write_text(LOOKML, encoding="utf-8")
    (tmp_path / "in" / "manifest.lkml").write_text(
        'project_name: "shop"\nconstant: SCHEMA { value: "raw" }', encoding="utf-8"
    )
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "lookml", tmp_path / "in", server="", namespace="postgres://db:5432")
        found = edges_of(store)
        raw = "postgres://db:5432/raw.orders"
        assert {
            f"{raw}.amount_cents -> view/orders.amount [TRANSFORMATION]",
            f"{raw}.created_at -> view/orders.created_month [TRANSFORMATION]",
            f"{raw}.amount_cents -> view/orders.total [AGGREGATION]",
            f"{raw}.amount_cents ~> view/orders.total [CONDITIONAL]",
            f"{raw}.amount_cents -> view/orders.share [AGGREGATION]",
            "postgres://db:5432/mart.big.rank -> view/big_orders.rank [IDENTITY]",
            "postgres://db:5432/mart.big.amount_cents -> view/big_orders.amount [TRANSFORMATION]",
            "view/orders.total -> explore/orders.orders:total [IDENTITY]",
        } <= found
        assert "view/orders.amount ~> explore/small [FILTER]" in edges_of(store, rows=True)
        assert any("Liquid" in one.diagnostic.message for one in summary.diagnostics)
        assert completeness(store)["view/orders"] is Completeness.PARTIAL
        assert completeness(store)["explore/small"] is Completeness.FULL


def test_tableau(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(
            store, "tableau", [DATA / "tableau" / "sample-superstore.twb", DATA / "tableau" / "Cache.twbx"]
        )
        assert not summary.diagnostics
        source = "sample-superstore/datasource/Orders-sample_superstore"
        found = edges_of(store)
        assert f"{source}.sales -> sample-superstore/sheet/Sheet-1.sum of sales [AGGREGATION]" in found
        assert any(one.endswith(f"-> {source}.sales [IDENTITY]") for one in found)


def test_custom_sql_joins_and_calculations_of_tableau(tmp_path: Path) -> None:
    file = tmp_path / "Sales.twb"
    file.write_text(
        """<?xml version='1.0'?><workbook><datasources><datasource name='fed.1' caption='Sales'>
<connection class='federated'><named-connections><named-connection name='pg.1' caption='db'>
<connection class='postgres' server='db' port='5432' dbname='shop' schema='public'/></named-connection>
</named-connections>
<relation type='join' join='left'><clause type='join'><expression op='='><expression op='[orders].[customer_id]'/>
<expression op='[Custom SQL Query].[id]'/></expression></clause>
<relation connection='pg.1' name='orders' table='[public].[orders]' type='table'/>
<relation connection='pg.1' name='Custom SQL Query' type='text'>SELECT id, country FROM customers WHERE age &gt;&gt; 18
AND name &lt;&gt; 'Ann' AND x = &lt;[Parameters].[P 1]&gt;</relation></relation>
<metadata-records><metadata-record class='column'><remote-name>amount</remote-name><local-name>[amount]</local-name>
<parent-name>[orders]</parent-name></metadata-record><metadata-record class='column'><remote-name>country</remote-name>
<local-name>[country]</local-name><parent-name>[Custom SQL Query]</parent-name></metadata-record></metadata-records>
</connection><column name='[Calc_1]' caption='Big'><calculation class='tableau'
formula='IF [amount] &gt; 10 THEN [country] ELSE "none" END'/></column>
<column name='[Calc_2]' caption='Odd'><calculation class='tableau' formula='[amount] ??? )'/></column>
</datasource></datasources>
<worksheets><worksheet name='W'><table><view><datasource-dependencies datasource='fed.1'>
<column-instance column='[amount]' derivation='Sum' name='[sum:amount:qk]'/>
<column-instance column='[Calc_1]' derivation='None' name='[none:Calc_1:nk]'/></datasource-dependencies>
<filter column='[fed.1].[none:Calc_1:nk]'/></view><rows>[fed.1].[sum:amount:qk]</rows></table></worksheet></worksheets>
<dashboards><dashboard name='D'><zones><zone name='W'/></zones></dashboard></dashboards></workbook>""",
        encoding="utf-8",
    )
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "tableau", file)
        shop, own = "postgres://db:5432/shop.public", "Sales/datasource/Sales"
        assert {
            f"{shop}.customers.country -> {own}.Big [TRANSFORMATION]",
            f"{shop}.orders.amount ~> {own}.Big [CONDITIONAL]",
            f"{shop}.orders.amount -> {own}.Odd [TRANSFORMATION]",
            f"{own}.amount -> Sales/sheet/W.Sum of amount [AGGREGATION]",
            "Sales/sheet/W.Sum of amount -> Sales/dashboard/D.W / Sum of amount [IDENTITY]",
        } <= edges_of(store)
        rows = edges_of(store, rows=True)
        assert f"{shop}.customers.age ~> {own} [FILTER]" in rows
        assert f"{own}.Big ~> Sales/sheet/W [FILTER]" in rows
        assert codes(summary) == {"EXPRESSION_NOT_READ"}
        assert completeness(store)[own] is Completeness.PARTIAL
        assert all("Ann" not in (job.sql or "") for job in store.jobs(_all_jobs(store)))


def _all_jobs(store: object) -> list[str]:
    from tests.bi.exports import _job_keys  # noqa: PLC0415

    return _job_keys(store)  # type: ignore[arg-type]


def test_powerbi(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "powerbi", DATA / "powerbi" / "directquery-parameters.pbix")
        assert not summary.diagnostics
        report = "directquery-parameters"
        visual = f"{report}/visual/Page-1-clusteredColumnChart-b37ef1bc"
        own = "mssql://localhost/v2017/adventureworksdw2014.dbo"
        found = {one.lower() for one in edges_of(store)}
        assert any(one.startswith("mssql://") and ".dbo.factresellersales.salesamount ->" in one for one in found), own
        assert any(visual.lower() in one and one.endswith("[aggregation]") for one in found)
        names = [one.casefold() for one in columns_of(store, f"powerbi://bi.test/{visual}")]
        assert names == ["dimdate.calendaryear", "sum(factresellersales.salesamount)"]


def test_a_report_on_a_published_model(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "powerbi", DATA / "powerbi" / "live-connection-ssas.pbix")
        assert codes(summary) == {"EXPRESSION_NOT_READ"}
        visuals = {level for key, level in completeness(store).items() if "/visual/" in key}
        assert visuals == {Completeness.TABLES}


def test_the_same_table_of_a_snowflake_has_one_name() -> None:
    """Each tool says the server in its own way."""
    from xml.etree.ElementTree import fromstring  # noqa: PLC0415  our own text

    none = ConnectionMap()
    details = {"account": "acme", "db": "SHOP"}
    element = fromstring("<connection class='snowflake' server='acme.snowflakecomputing.com' dbname='SHOP'/>")
    found = [
        connection_of({"name": "w", "engine": "snowflake", "details": details}, none),
        connection_of_uri("snowflake://me@acme/SHOP", ("w",), none),
        connection_of_element(element, ("w",), none, "book/"),
    ]
    names = {(one.namespace, one.database, one.schema) for one in found}
    assert names == {("snowflake://acme", "SHOP", "PUBLIC")}
