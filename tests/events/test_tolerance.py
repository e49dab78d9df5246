"""What clients write that the specification does not quite allow, and that is understood all the same."""

from __future__ import annotations

from typing import Any

import pytest

from lineage_ingest.openlineage.run_state import event_time
from lineage_ingest.openlineage.validation.event_validation import InvalidEventError, check
from tests.events.event_builders import event


def simple(**new_event: Any) -> dict[str, Any]:
    facets = {"schema": ["id"], "columnLineage": {"fields": {"id": ["pg.a id DIRECT/IDENTITY"]}}}
    return event({"run": 1, "at": 3, "outputs": {"pg.b": facets}}) | new_event


@pytest.mark.parametrize(
    ("text", "expected", "warned"),
    [
        ("2026-01-03T04:05:06Z", "2026-01-03T04:05:06+00:00", False),
        ("2026-01-03t04:05:06z", "2026-01-03T04:05:06+00:00", False),
        ("2026-01-03T04:05:06", "2026-01-03T04:05:06+00:00", True),
        ("2026-01-03T04:05:06.123456789+02:00", "2026-01-03T02:05:06.123456+00:00", False),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00+00:00", False),
        ("2016-12-31T23:59:60.5Z", "2017-01-01T00:00:00+00:00", False),
    ],
)
def test_times(text: str, expected: str, warned: bool) -> None:
    checked = check(simple(eventTime=text))
    assert event_time(checked.event).isoformat() == expected
    assert [("no time zone" in one) for one in checked.problems] == [True] * warned


@pytest.mark.parametrize(
    "text", ["yesterday", "2026-02-30T00:00:00Z", "2026-01-03T25:00:00Z", "2026-01-03", "", 7, None]
)
def test_no_times(text: object) -> None:
    with pytest.raises(InvalidEventError) as refused:
        event_time(check(simple(eventTime=text)).event)
    assert refused.value.pointer == "/eventTime"


def test_an_event_without_the_url_of_its_schema() -> None:
    new_event = simple()
    del new_event["schemaURL"]
    assert check(new_event).problems == ()


def test_members_of_an_event_that_are_null() -> None:
    new_event = simple(eventType=None, schemaURL=None, inputs=None)
    checked = check(new_event)
    assert checked.problems == ()
    assert "eventType" not in checked.event


def test_members_of_facets_that_are_null() -> None:
    new_event = simple()
    facets = new_event["outputs"][0]["facets"]
    facets["schema"]["_deleted"] = None
    facets["schema"]["fields"][0]["description"] = None
    facets["schema"]["fields"].append({"name": "x", "type": None, "fields": None})
    facets["columnLineage"]["dataset"] = None
    facets["columnLineage"]["fields"]["id"]["transformationType"] = None
    facets["symlinks"] = None
    checked = check(new_event)
    assert checked.problems == ()
    assert checked.event["outputs"][0]["facets"].keys() == {"schema", "columnLineage"}
