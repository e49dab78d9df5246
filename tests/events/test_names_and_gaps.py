"""Names as agents write them that are not those of the specification, and facets that leave something out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lineage.store import open_store
from lineage_ingest.openlineage import EventIngest

SCHEMA, FACET = "SchemaDatasetFacet", "ColumnLineageDatasetFacet"
LAKE, PG = "hdfs://nn:8020", "postgres://db:5432"


def facet(kind: str, **members: Any) -> dict[str, Any]:
    url = f"https://openlineage.io/spec/facets/1-0-0/{kind}.json"
    return {"_producer": "https://example.org", "_schemaURL": url, **members}


def named(name: tuple[str, str], **facets: Any) -> dict[str, Any]:
    return {"namespace": name[0], "name": name[1], "facets": facets}


def inputs(*fields: tuple[str, str, str]) -> dict[str, Any]:
    keys = ("namespace", "name", "field")
    return {"inputFields": [dict(zip(keys, one, strict=True)) for one in fields]}


def ingest(
    folder: Path, read: tuple[str, str], columns: list[str], fields: dict[str, Any]
) -> tuple[set[str], set[str]]:
    """Return the datasets, edges and diagnostics after a run that reads a table and writes `out`."""
    out = {"columnLineage": facet(FACET, fields=fields)}
    if columns:
        out["schema"] = facet(SCHEMA, fields=[{"name": one} for one in columns])
    event = {
        "eventType": "COMPLETE",
        "eventTime": "2026-01-05T06:00:00Z",
        "producer": "https://example.org",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": "01941f29-7c00-7000-8000-000000000001"},
        "job": {"namespace": "etl", "name": "load"},
        "inputs": [named(read)],
        "outputs": [named((PG, "shop.public.out"), **out)],
    }
    with open_store(folder / "store.db") as store:
        [outcome] = EventIngest(store).take([event])
        assert outcome.accepted
        edges = {one.source for one in store.edges_of([job.key for job in store.jobs()]) if "#" in one.source}
        diagnostics = {f"{one.diagnostic.code}: {one.diagnostic.message}" for one in store.diagnostics()}
        return {one.key for one in store.datasets()} | edges, diagnostics


OUT = f"{PG}/shop.public.out"


@pytest.mark.parametrize(
    ("read", "source", "expected"),
    [
        ((LAKE, "/w/sales"), (LAKE, "/w/sales/sale_date=2026-01-05"), "hdfs://nn/w/sales"),
        ((LAKE, "/w/sales"), (LAKE, "/w/sales/y=2026/m=01/part-0.parquet"), "hdfs://nn/w/sales"),
        ((LAKE, "/w/sales"), (LAKE, "/w/other/y=2026"), None),
        ((PG, "None.public.t"), (PG, "None.public.t"), f"{PG}/public.t"),
        ((PG, "null.None.t"), (PG, "null.None.t"), f"{PG}/t"),
        (("", "/w/a17"), ("", "/w/a17"), "file//w/a17"),
        (("", "s3://lake/a17"), ("", "s3://lake/a17"), "s3://lake/a17"),
    ],
)
def test_a_source_is_the_input(
    tmp_path: Path, read: tuple[str, str], source: tuple[str, str], expected: str | None
) -> None:
    found, diagnostics = ingest(tmp_path, read, ["x"], {"x": inputs((*source, "a"))})
    if expected is None:
        assert len(found) > 3
    else:
        assert found == {OUT, expected, f"{expected}#a"}
    assert len(diagnostics) == (1 if read[1].startswith(("None", "null")) else 0)


@pytest.mark.parametrize(
    ("columns", "fields", "expected"),
    [
        (["x", "y"], {"x": inputs((PG, "shop.public.t", "a")), "y": inputs()}, "name no source of y"),
        (["x", "y"], {"x": inputs((PG, "shop.public.t", "a"))}, "name no source of y"),
        ([], {"x": inputs((PG, "shop.public.t", "a"))}, "no schema says which columns it has"),
        (["x"], {"x": inputs((PG, "shop.public.t", "a"))}, None),
    ],
)
def test_why_a_job_is_partial_is_said(
    tmp_path: Path, columns: list[str], fields: dict[str, Any], expected: str | None
) -> None:
    _, diagnostics = ingest(tmp_path, (PG, "shop.public.t"), columns, fields)
    if expected is None:
        assert not diagnostics
    else:
        [text] = diagnostics
        assert text.startswith("FACET_INCOMPLETE: ")
        assert text.endswith(expected)


def test_a_folder_that_may_be_a_table_is_said(tmp_path: Path) -> None:
    _, diagnostics = ingest(
        tmp_path, (LAKE, "/w/sales.db/orders"), ["x"], {"x": inputs((LAKE, "/w/sales.db/orders", "a"))}
    )
    assert diagnostics == {"SYMLINK_MISSING: w/sales.db/orders may be the table sales.orders: no symlink says so"}
