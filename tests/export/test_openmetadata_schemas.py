"""What `lineage export openmetadata` writes, held against the JSON schemas that OpenMetadata publishes (Apache-2.0)."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tests.cli.running import lineage
from tests.governance.conftest import DATA
from tests.maven_jars import fetched

ARTIFACT = "org.open-metadata:openmetadata-spec:1.4.0"
SITE = "https://open-metadata.org/schema/"
REQUESTS = {
    "/v1/classifications": "api/classification/createClassification",
    "/v1/tags": "api/classification/createTag",
    "/v1/services/databaseServices": "api/services/createDatabaseService",
    "/v1/databases": "api/data/createDatabase",
    "/v1/databaseSchemas": "api/data/createDatabaseSchema",
    "/v1/tables": "api/data/createTable",
    "/v1/lineage": "api/lineage/addLineage",
}
"""The schema of each request's body, by its path."""


@cache
def _jar() -> zipfile.ZipFile:
    [path] = fetched("openmetadata", (ARTIFACT,)).glob("openmetadata-spec-*.jar")
    return zipfile.ZipFile(path)


def _read(uri: str) -> Any:
    return json.loads(_jar().read(f"json/schema/{uri.removeprefix(SITE)}"))


@cache
def _validator(path: str) -> Any:
    schema = _read(f"{SITE}{REQUESTS[path]}.json")
    return jsonschema_rs.Draft7Validator(schema, retriever=_read, validate_formats=True)


def _problems(one: dict[str, Any]) -> list[str]:
    assert one["method"] == "PUT"
    return [f"{one['path']}: {'/'.join(map(str, found.instance_path))}: {found.message}"[:300] for found in
            _validator(one["path"]).iter_errors(one["body"])]  # fmt: skip


def test_every_request_is_what_the_schema_asks_for(tmp_path: Path) -> None:
    path = tmp_path / "company.db"
    sql = ("--dialect", "postgres", "--catalog", DATA / "schema.sql", "--project", "company", "--store", path)
    assert lineage("ingest", "sql", DATA / "models", *sql).code == 0
    assert lineage("tag", "scan", "--store", path).code == 0
    lines = lineage("export", "openmetadata", "--store", path).out.splitlines()
    counts: Counter[str] = Counter()
    for line in lines:
        one = json.loads(line)
        counts[one["path"]] += 1
        assert _problems(one) == []
    assert counts.keys() == REQUESTS.keys()
    assert min(counts["/v1/tables"], counts["/v1/lineage"], counts["/v1/tags"]) > 5


@pytest.mark.parametrize("namespace", ["postgres://h:1", "snowflake://org-acct", "s3://bucket", "trino://h:1", "x y"])
def test_names_that_are_long_or_strange(tmp_path: Path, namespace: str) -> None:
    strange = ("a::b", "with 'quotes'", "x" * 300, "ä.ö", " ", "a>b", "addr.city")
    columns = ", ".join(f'"{name}" text' for name in strange)
    (tmp_path / "m.sql").write_text(
        f'create table "d.b"."s::t" ({columns}, tags text[], doc jsonb);\n'
        f'create view v as select "{strange[0]}" || "{strange[2]}" as "{strange[2]}", tags from "d.b"."s::t"',
        encoding="utf-8",
    )
    options = ("--dialect", "postgres", "--namespace", namespace, "--store", tmp_path / "l.db")
    assert lineage("ingest", "sql", tmp_path / "m.sql", *options).code == 0
    requests = [
        json.loads(line) for line in lineage("export", "openmetadata", "--store", tmp_path / "l.db").out.splitlines()
    ]
    assert len(requests) > 5
    assert [problem for one in requests for problem in _problems(one)] == []


def test_the_schemas_find_what_is_wrong() -> None:
    wrong = {"name": "t", "databaseSchema": "s.d.x", "columns": [{"name": "c", "dataType": "NO_TYPE"}]}
    assert _problems({"method": "PUT", "path": "/v1/tables", "body": wrong})
    assert _problems(
        {"method": "PUT", "path": "/v1/lineage", "body": {"edge": {"fromEntity": {"id": "no", "type": "table"}}}}
    )
