"""The schemas and OpenLineage's own client: what it makes is valid, what it would not make is not."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import attr
import pytest
from openlineage.client import event_v2 as ol
from openlineage.client import facet_v2 as facets
from openlineage.client.generated import lineage as lineage_facet
from openlineage.client.generated import symlinks_dataset
from openlineage.client.serde import Serde

from lineage.export.openlineage import openlineage_events
from lineage.store import open_store
from lineage_ingest.openlineage import EventIngest
from lineage_ingest.openlineage.validation.event_validation import READ_FACETS, EventKind, InvalidEventError, check
from lineage_ingest.openlineage.validation.json_schemas import facet_validator, schema_texts
from tests.events.event_builders import edges
from tests.store.batch_builders import batch, table, view

AT = datetime(2026, 1, 1, tzinfo=UTC).isoformat()
PRODUCER = "https://example.org/client"
CL = facets.column_lineage_dataset


def as_sent(event: Any) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(Serde.to_json(event))
    return value


def client_events() -> dict[str, Any]:
    columns = facets.schema_dataset.SchemaDatasetFacet(
        fields=[
            facets.schema_dataset.SchemaDatasetFacetFields("id", "int", ordinal_position=1),
            facets.schema_dataset.SchemaDatasetFacetFields(
                "who", "struct", fields=[facets.schema_dataset.SchemaDatasetFacetFields("mail", "string")]
            ),
        ]
    )
    way = CL.Transformation(type="DIRECT", subtype="AGGREGATION", description="sum(a)", masking=True)
    column_lineage = CL.ColumnLineageDatasetFacet(
        fields={"id": CL.Fields([CL.InputField("postgres://db:5432", "db.public.t", "a", [way])])},
        dataset=[CL.InputField("postgres://db:5432", "db.public.t", "b", [CL.Transformation("INDIRECT", "JOIN")])],
    )
    output = ol.OutputDataset(
        "postgres://db:5432",
        "db.public.v",
        facets={
            "schema": columns,
            "columnLineage": column_lineage,
            "symlinks": symlinks_dataset.SymlinksDatasetFacet(
                identifiers=[symlinks_dataset.Identifier("hive://m:1", "v", "TABLE")]
            ),
            "lifecycleStateChange": facets.lifecycle_state_change_dataset.LifecycleStateChangeDatasetFacet(
                lifecycleStateChange=facets.lifecycle_state_change_dataset.LifecycleStateChange.CREATE
            ),
            "datasetType": facets.dataset_type_dataset.DatasetTypeDatasetFacet(datasetType="TABLE"),
            "lineage": lineage_facet.LineageDatasetFacet(
                inputs=[lineage_facet.LineageDatasetInput("postgres://db:5432", "db.public.u", "DATASET")]
            ),
        },
    )
    job = ol.Job(
        "etl",
        "load",
        facets={
            "sql": facets.sql_job.SQLJobFacet("insert into v select sum(a) from t", dialect="postgres"),
            "jobType": facets.job_type_job.JobTypeJobFacet("BATCH", "AIRFLOW", "TASK"),
            "lineage": lineage_facet.LineageJobFacet(entries=[lineage_facet.LineageJobEntry("JOB")]),
        },
    )
    run = ol.Run(
        str(uuid4()),
        facets={
            "parent": facets.parent_run.ParentRunFacet(
                run=facets.parent_run.Run(str(uuid4())), job=facets.parent_run.Job("etl", "dag")
            ),
            "processing_engine": facets.processing_engine_run.ProcessingEngineRunFacet("2.9", "Airflow", "1.54"),
            "nominalTime": facets.nominal_time_run.NominalTimeRunFacet(AT),
        },
    )
    inputs = [ol.InputDataset("postgres://db:5432", "db.public.t")]
    return {
        "run": ol.RunEvent(
            eventTime=AT,
            producer=PRODUCER,
            run=run,
            job=job,
            eventType=ol.RunState.COMPLETE,
            inputs=inputs,
            outputs=[output],
        ),
        "job": ol.JobEvent(eventTime=AT, producer=PRODUCER, job=job, inputs=inputs, outputs=[output]),
        "dataset": ol.DatasetEvent(
            eventTime=AT,
            producer=PRODUCER,
            dataset=ol.StaticDataset("postgres://db:5432", "db.public.v", facets=output.facets),
        ),
    }


@pytest.mark.parametrize("kind", ["run", "job", "dataset"])
def test_what_the_client_sends_is_valid_and_read(kind: str) -> None:
    checked = check(as_sent(client_events()[kind]))
    assert checked.problems == ()
    assert checked.kind is {"run": EventKind.RUN, "job": EventKind.JOB, "dataset": EventKind.DATASET}[kind]


@pytest.mark.parametrize("kind", ["run", "job"])
def test_what_the_client_says_is_stored(kind: str, tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        [outcome] = EventIngest(store).take([as_sent(client_events()[kind])])
        assert outcome.accepted
        assert edges(store) == ["t.a -> v.id AGGREGATION masked", "t.b ~> v JOIN"]
        assert edges(store, ["FEEDS"]) == ["t => v", "u => v"]
        assert [one.path for one in store.columns(["postgres://db:5432/db.public.v"])] == ["id", "who.mail", "who"]


def facets_of(event: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    found = [(of, name, facet) for of in ("run", "job") for name, facet in event.get(of, {}).get("facets", {}).items()]
    datasets = [
        *event.get("inputs", []),
        *event.get("outputs", []),
        *([event["dataset"]] if "dataset" in event else []),
    ]
    return found + [("dataset", name, facet) for one in datasets for name, facet in one.get("facets", {}).items()]


def test_the_schemas_are_of_the_versions_that_the_client_knows() -> None:
    known = {identifier.removesuffix(".json") for identifier in schema_texts()}
    seen = set()
    for event in client_events().values():
        for of, name, facet in facets_of(as_sent(event)):
            if name in READ_FACETS[of]:
                seen.add(name)
                assert facet["_schemaURL"].partition(".json")[0] in known, name
    assert seen == {name for names in READ_FACETS.values() for name in names} - {
        "lineageGraph_dataset",
        "lineageGraph_plan",
    }


def test_each_attribute_that_the_client_asks_for_is_asked_for_here() -> None:
    """Leave out what the client's class cannot do without, one at a time: the schema must refuse the rest."""
    checked = 0
    event = client_events()["run"]
    sent = as_sent(event)
    holders = {"run": event.run, "job": event.job, "dataset": event.outputs[0]}
    for of, name, value in facets_of(sent):
        if name not in READ_FACETS[of]:
            continue
        validator = facet_validator(of, name)
        assert validator.is_valid(value), name
        needed = [one.name for one in attr.fields(type(holders[of].facets[name])) if one.default is attr.NOTHING]
        for missing in {"_producer", "_schemaURL", *needed}:
            assert not validator.is_valid({key: one for key, one in value.items() if key != missing}), (name, missing)
            checked += 1
    assert checked > 25


def sound() -> dict[str, Any]:
    return as_sent(client_events()["run"])


WRONG: dict[str, Any] = {
    "no time": ("eventTime", None, "/"),
    "no producer": ("producer", None, "/"),
    "a time that is a date": ("eventTime", "2026-01-01", "/eventTime"),
    "a type that is none": ("eventType", "DONE", "/eventType"),
    "a run without id": ("run", {}, "/run"),
    "a run whose id is no UUID": ("run", {"runId": "1"}, "/run/runId"),
    "a job without name": ("job", {"namespace": "x"}, "/job"),
    "facets that are a list": ("job", {"namespace": "x", "name": "y", "facets": []}, "/job/facets"),
    "outputs that are one": ("outputs", {}, "/outputs"),
    "an output without name": ("outputs", [{"namespace": "x"}], "/outputs/0"),
    "an input that is a text": ("inputs", ["t"], "/inputs/0"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_core_is_refused_with_its_place(what: str) -> None:
    name, value, pointer = WRONG[what]
    event = sound()
    if value is None:
        del event[name]
    else:
        event[name] = value
    with pytest.raises(InvalidEventError) as caught:
        check(event)
    assert (caught.value.pointer or "/") == pointer
    assert "2-0-2" in caught.value.hint


@pytest.mark.parametrize("value", [None, 1, "x", [], True, {}])
def test_what_is_no_event(value: object) -> None:
    with pytest.raises(InvalidEventError):
        check(value)


def test_a_dataset_event_has_no_run() -> None:
    both = as_sent(client_events()["dataset"]) | {"job": {"namespace": "x", "name": "y"}}
    assert check(both).kind is EventKind.DATASET
    with pytest.raises(InvalidEventError):
        check(both | {"run": {"runId": "x"}})


def test_our_events_are_those_of_the_client(tmp_path: Path) -> None:
    """Build the client's objects from what we export, and let it write them: it must be the same events."""
    with open_store(tmp_path / "store.db") as store:
        store.apply(
            batch(table("t", "a", at=1), view("v", "t.a -> v.x MASKING TRANSFORMATION", "t.a ~> v FILTER", at=2))
        )
        events = list(openlineage_events(store))
    assert [one["schemaURL"].rpartition("/")[2] for one in events] == ["JobEvent", "DatasetEvent"]
    stated, described = events
    [output], [source] = stated["outputs"], stated["inputs"]
    lineage = output["facets"]["columnLineage"]

    def field(one: dict[str, Any]) -> Any:
        return CL.InputField(**{**one, "transformations": [CL.Transformation(**way) for way in one["transformations"]]})

    schema = facets.schema_dataset
    made = ol.JobEvent(
        eventTime=stated["eventTime"],
        producer=stated["producer"],
        job=ol.Job(stated["job"]["namespace"], stated["job"]["name"]),
        inputs=[ol.InputDataset(source["namespace"], source["name"])],
        outputs=[
            ol.OutputDataset(
                output["namespace"],
                output["name"],
                facets={
                    "columnLineage": CL.ColumnLineageDatasetFacet(
                        fields={
                            name: CL.Fields([field(one) for one in into["inputFields"]])
                            for name, into in lineage["fields"].items()
                        },
                        dataset=[field(one) for one in lineage["dataset"]],
                        producer=stated["producer"],
                    ),
                },
            )
        ],
    )
    written = as_sent(made)
    assert written["outputs"][0]["facets"]["columnLineage"] == lineage
    assert {name: written[name] for name in ("eventTime", "producer", "schemaURL")} == {
        name: stated[name] for name in ("eventTime", "producer", "schemaURL")
    }
    columns = described["dataset"]["facets"]["schema"]
    again = schema.SchemaDatasetFacet(
        fields=[schema.SchemaDatasetFacetFields(**one) for one in columns["fields"]], producer=columns["_producer"]
    )
    assert as_sent(again) == {**columns, "fields": [{**one, "fields": []} for one in columns["fields"]]} or (
        as_sent(again) == columns
    )
