"""Exports for data catalogues: every flow and mark of masking is in them, names agree, limits hold."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from lineage.export.google import LINKS_PER_EVENT, LINKS_PER_RUN, MOST_BYTES, google_events
from lineage.export.openmetadata import CLASSIFICATION, _joined
from lineage.governance.tags.rules import default_rules
from lineage.governance.tags.tagging import classify
from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import split_dataset_key
from lineage.store import GraphStore, open_store
from lineage_ingest.openlineage.validation.event_validation import check
from tests.cli.running import lineage
from tests.governance.conftest import ingested  # noqa: F401  a fixture
from tests.store.batch_builders import batch, table, view

Json = dict[str, Any]


@pytest.fixture
def tagged(ingested: Path, tmp_path: Path) -> Path:  # noqa: F811
    path = tmp_path / "lineage.db"
    path.write_bytes(ingested.read_bytes())
    assert lineage("tag", "scan", "--store", path).code == 0
    return path


def _flows(store: GraphStore) -> set[tuple[str, str, str, str, bool]]:
    """Return the flows between columns: tables and columns by name, and whether it masks."""
    edges = store.edges_into([one.key for one in store.datasets()])
    ends = ((one.source, one.target, one.masking) for one in edges if one.kind is EdgeKind.CONTRIBUTES)
    return {(*_split(source), *_split(target), masking) for source, target, masking in ends}


def _split(key: str) -> tuple[str, str]:
    dataset, _, path = key.partition("#")
    return split_dataset_key(dataset)[1], path


def _exported(path: Path, product: str, *options: str) -> list[Json]:
    done = lineage("export", product, "--store", path, *options)
    assert done.code == 0
    assert product == "openlineage" or "no place for" in done.err
    if product == "datahub":
        return json.loads(done.out)  # type: ignore[no-any-return]
    return [json.loads(line) for line in done.out.splitlines()]


def test_datahub_has_every_flow_and_tag(tagged: Path) -> None:
    aspects: defaultdict[str, dict[str, Json]] = defaultdict(dict)
    for one in _exported(tagged, "datahub"):
        aspects[one["aspectName"]][one["entityUrn"]] = one["aspect"]["json"]
    flows = {
        (*_from_urn(source), *_from_urn(flow["downstreams"][0]), flow["transformOperation"].endswith("(masked)"))
        for lineage_of in aspects["upstreamLineage"].values()
        for flow in lineage_of.get("fineGrainedLineages", ())
        for source in flow["upstreams"]
    }
    with open_store(tagged) as store:
        assert flows == _flows(store)
        tags = {
            (*_split(key), one.name) for key, listed in classify(store, default_rules()).tags.items() for one in listed
        }
    assert any(masked for *_, masked in flows)
    named = {
        (urn.split(",")[1], field["fieldPath"], tag["tag"].removeprefix("urn:li:tag:"))
        for urn, schema in aspects["schemaMetadata"].items()
        for field in schema["fields"]
        for tag in field.get("globalTags", {}).get("tags", ())
    }
    assert named == tags
    assert {f"urn:li:tag:{name}" for *_, name in tags} == aspects["tagProperties"].keys()
    for urn, made in aspects["upstreamLineage"].items():
        assert {urn, *(one["dataset"] for one in made["upstreams"])} <= aspects["schemaMetadata"].keys()


def _from_urn(urn: str) -> tuple[str, str]:
    _, table_name, rest = urn.split(",", 2)
    return table_name, rest.rpartition(",")[2].rstrip(")")


def test_two_namespaces_of_a_platform_need_names(tmp_path: Path) -> None:
    path = tmp_path / "two.db"
    for host in ("a", "b"):
        (tmp_path / "m.sql").write_text(f"create view v_{host} as select x from t")
        lineage("ingest", "sql", tmp_path / "m.sql", "--dialect", "postgres", "--namespace", f"postgres://{host}:5432",
                "--store", path)  # fmt: skip
    done = lineage("export", "datahub", "--store", path)
    assert done.code == 2
    assert "--instance" in done.err
    file = tmp_path / "before.json"
    file.write_text("before")
    assert lineage("export", "datahub", "--store", path, "--output", file).code == 2
    assert file.read_text() == "before"
    assert list(tmp_path.glob(".*before.json")) == []
    done = lineage("export", "datahub", "--store", path, "--instance", "postgres://b=second")
    assert done.code == 0
    assert "urn:li:dataset:(urn:li:dataPlatform:postgres,second.v_b,PROD)" in done.out


def test_openmetadata_makes_what_it_names_first(tagged: Path) -> None:
    made: set[str] = set()
    flows = set()
    labels: Counter[str] = Counter()
    for one in _exported(tagged, "openmetadata", "--service", "postgres=shop"):
        body = one["body"]
        kind = one["path"].rpartition("/")[2]
        if kind == "lineage":
            edge = body["edge"]
            assert {edge["fromEntity"]["fullyQualifiedName"], edge["toEntity"]["fullyQualifiedName"]} <= made
            for flow in edge["lineageDetails"]["columnsLineage"]:
                assert {*flow["fromColumns"], flow["toColumn"]} <= made
                flows |= {
                    (*_from_name(source), *_from_name(flow["toColumn"]), flow["function"].endswith("(masked)"))
                    for source in flow["fromColumns"]
                }
            continue
        above = body.get("databaseSchema") or body.get("database") or body.get("service") or body.get("classification")
        assert above is None or above in made
        made.add(name := f"{above}.{body['name']}" if above else body["name"])
        for column in body.get("columns", ()):
            made.add(f"{name}.{column['name']}")
            labels.update(label["tagFQN"] for label in column.get("tags", ()))
    assert labels.keys() <= made
    assert labels[f"{CLASSIFICATION}.email"] > 10
    with open_store(tagged) as store:
        assert flows == _flows(store)


def _from_name(name: str) -> tuple[str, str]:
    named = name.removeprefix("shop.default.").removeprefix("plain_boards_example_com.default.default.")
    table_name, _, column = named.rpartition(".")
    return table_name, column


def test_google_has_every_flow(tagged: Path) -> None:
    flows = set()
    for event in _exported(tagged, "google"):
        assert check(event).problems == ()
        for output in event["outputs"]:
            for field, value in output.get("facets", {}).get("columnLineage", {}).get("fields", {}).items():
                for source in value["inputFields"]:
                    ways = [one["masking"] for one in source["transformations"] if one["type"] == "DIRECT"]
                    if ways:
                        flows.add((source["name"], source["field"], output["name"], field, all(ways)))
    with open_store(tagged) as store:
        assert flows == _flows(store)


def test_google_s_limits_hold(tmp_path: Path) -> None:
    names = [f"c{number}" for number in range(1_234)]
    with open_store(tmp_path / "wide.db") as store:
        long = "x" * 4_100
        store.apply(
            batch(
                table("t", *names, long, at=1), view("v", *(f"t.{name} -> v.{name}" for name in (*names, long)), at=2)
            )
        )
        lost: Counter[str] = Counter()
        events = list(google_events(store, {}, lost))
    links = [
        [(source["field"], field) for output in event["outputs"]
         for field, value in output["facets"]["columnLineage"]["fields"].items() for source in value["inputFields"]]
        for event in events
    ]  # fmt: skip
    assert sorted(pair for listed in links for pair in listed) == sorted((name, name) for name in names)
    assert max(map(len, links)) == LINKS_PER_EVENT
    runs: Counter[str] = Counter()
    for event, listed in zip(events, links, strict=True):
        runs[event["run"]["runId"]] += len(listed)
        assert len(json.dumps(event).encode()) < MOST_BYTES
    assert max(runs.values()) == LINKS_PER_RUN
    assert len(runs) == 2
    assert [number for what, number in lost.items() if "4,000 characters" in what] == [1]


def test_openlineage_events_have_tags(tagged: Path) -> None:
    tags = {
        (dataset["name"], tag["field"], tag["key"])
        for event in _exported(tagged, "openlineage")
        for dataset in [*event.get("outputs", ()), *([event["dataset"]] if "dataset" in event else [])]
        for tag in dataset["facets"].get("tags", {}).get("tags", ())
        if not check(event).problems
    }
    with open_store(tagged) as store:
        known = classify(store, default_rules()).tags
    assert tags == {(*_split(key), one.name) for key, listed in known.items() for one in listed}


def test_a_quoted_part_of_a_name_in_openmetadata_has_its_quotes_doubled() -> None:
    assert _joined("shop", 'a "b".c', "d") == 'shop."a ""b"".c".d'
