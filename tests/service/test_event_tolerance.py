"""What clients write that the specification does not quite allow, by every way in: HTTP, a batch, a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lineage.store import GraphStore, open_store
from tests.cli.running import lineage
from tests.events.event_builders import event
from tests.service.running import running

Event = dict[str, Any]
Change = Callable[[Event], object]


def at(text: str) -> Change:
    return lambda new_event: new_event.update(eventTime=text)


def null_members(new_event: Event) -> None:
    facets = new_event["outputs"][0]["facets"]
    facets["schema"]["fields"][0]["description"] = None
    facets["columnLineage"]["dataset"] = None
    facets["symlinks"] = None
    new_event["run"]["facets"] = None
    new_event["job"]["facets"] = None
    new_event["inputs"] = None


DAY = "2026-01-03T00:00:00+00:00"
CHANGES: dict[str, tuple[Change, str, int]] = {
    "no schemaURL": (lambda body: body.pop("schemaURL"), DAY, 0),
    "no zone": (at("2026-01-03T00:00:00"), DAY, 1),
    "lower-case t and z": (at("2026-01-03t00:00:00z"), DAY, 0),
    "a leap second": (at("2016-12-31T23:59:60Z"), "2017-01-01T00:00:00+00:00", 0),
    "nanoseconds": (at("2026-01-03T00:00:00.000000999Z"), DAY, 0),
    "null members": (null_members, DAY, 0),
    "_deleted: null": (lambda body: body["outputs"][0]["facets"]["schema"].update(_deleted=None), DAY, 0),
    "an unknown member": (lambda body: body.update(extra={"x": 1}), DAY, 0),
}


def numbered(number: int) -> Event:
    facets = {"schema": ["id"], "columnLineage": {"fields": {"id": [f"pg.a{number} id DIRECT/IDENTITY"]}}}
    return event({"run": number, "at": 3, "job": f"etl/{number}", "outputs": {f"pg.b{number}": facets}})


def graph(store: GraphStore) -> tuple[Any, ...]:
    edges = store.edges_of(store.job_keys())
    columns = [one.key for one in store.columns(store.dataset_keys(), dropped=True)]
    found = sorted(one.diagnostic.message for one in store.diagnostics())
    return [(one.source, one.target, one.valid_from.isoformat()) for one in edges], columns, found


def test_it_is_understood_by_every_way_in(tmp_path: Path) -> None:
    events = [numbered(number) for number in range(len(CHANGES))]
    for new_event, (change, _, _) in zip(events, CHANGES.values(), strict=True):
        change(new_event)
    warned = [number for number, (_, _, warnings) in enumerate(CHANGES.values()) if warnings]
    with open_store(tmp_path / "single.db") as store:
        with running(store) as service:
            answers = [service.http.post("/api/v1/lineage", json=new_event) for new_event in events]
        for name, (_, _, warnings), answer in zip(CHANGES, CHANGES.values(), answers, strict=True):
            assert (answer.status_code, answer.json()["status"]) == (200, "success"), (name, answer.text)
            assert len(answer.json()["warnings"]) == warnings, (name, answer.text)
        single = graph(store)
    with open_store(tmp_path / "batch.db") as store:
        with running(store) as service:
            answer = service.http.post("/api/v1/lineage/batch", json=events)
        assert (answer.status_code, answer.json()["status"]) == (200, "success"), answer.text
        assert [one["index"] for one in answer.json()["warnings"]] == warned
        assert graph(store) == single
    file = tmp_path / "events.ndjson"
    file.write_text("\n".join(map(json.dumps, events)))
    done = lineage("ingest", "openlineage", file, "--store", tmp_path / "file.db")
    assert done.code == 0, done.err
    assert done.err.count("warning") == len(warned)
    with open_store(tmp_path / "file.db") as store:
        assert graph(store) == single
    assert [valid_from for _, _, valid_from in single[0]] == [expected for _, expected, _ in CHANGES.values()]
    assert len(single[2]) == len(warned)


def test_the_description_has_the_bodies_of_events(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store, running(store) as service:
        described = service.http.get("/openapi.json").json()
        event_body = described["paths"]["/api/v1/lineage"]["post"]["requestBody"]["content"]["application/json"][
            "schema"
        ]
        batch = described["paths"]["/api/v1/lineage/batch"]["post"]
        names = [one["$ref"].rpartition("/")[2] for one in event_body["oneOf"]]
        assert names == ["RunEvent", "DatasetEvent", "JobEvent"]
        assert batch["requestBody"]["content"]["application/json"]["schema"] == {"type": "array", "items": event_body}
        # Every reference leads somewhere.
        known = described["components"]["schemas"]
        text = json.dumps(described)
        assert {part.partition('"')[0] for part in text.split('"#/components/schemas/')[1:]} <= set(known)
        assert "$defs" not in text
        statuses = batch["responses"]["200"]["content"]["application/json"]["schema"]["properties"]["status"]
        assert statuses == {"enum": ["success", "partial_success"]}
        for new_event in ([numbered(1), {"eventTime": "x"}], [{"eventTime": "x"}], [], [7]):
            answer = service.http.post("/api/v1/lineage/batch", json=new_event)
            assert answer.status_code == 200
            assert answer.json()["status"] in statuses["enum"]
