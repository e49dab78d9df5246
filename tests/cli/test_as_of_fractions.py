"""`--as-of` and `asOf` with fractions of a second."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lineage.store import open_store
from tests.cli.running import lineage
from tests.service.running import running
from tests.store.batch_builders import JobWithEdges, batch, key, view

BEGIN = datetime(2026, 1, 3, 4, 5, 6, 123_456, UTC)
END = BEGIN + timedelta(milliseconds=1)
MICROSECOND = timedelta(microseconds=1)
HELD = {
    BEGIN - MICROSECOND: [],
    BEGIN: [key("t.a")],
    END - MICROSECOND: [key("t.a")],
    END: [key("t.b")],
    END + MICROSECOND: [key("t.b")],
}


def seen(line: str, at: datetime) -> JobWithEdges:
    record = view("v", line, at=1)
    return replace(record, job=replace(record.job, first_seen=at, last_seen=at))


def test_an_edge_holds_from_its_microsecond_on(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    query = 'query ($at: DateTime) { rootCause(column: "v.x", asOf: $at) { asOf nodes { key } } }'
    with open_store(path) as store:
        store.apply(batch(seen("t.a -> v.x", BEGIN), run="1"))
        store.apply(batch(seen("t.b -> v.x", END), run="2"))
        with running(store) as service:
            for at, expected in HELD.items():
                local = at.astimezone().isoformat()
                for text in (at.isoformat(), local, f"{at:%Y-%m-%dT%H:%M:%S.%fZ}", f"{at:%Y-%m-%dT%H:%M:%S.%f}"):
                    answer = service.data(query, at=text)["rootCause"]
                    assert [one["key"] for one in answer["nodes"]] == expected, text
                    assert datetime.fromisoformat(answer["asOf"]) == at
    forms = ("{:%Y-%m-%dT%H:%M:%S.%f}", "{:%Y-%m-%dT%H:%M:%S.%fZ}", "{:%Y-%m-%dT%H:%M:%S.%f+00:00}")
    for number, (at, expected) in enumerate(HELD.items()):
        text = forms[number % len(forms)].format(at)
        done = lineage("root-cause", "v.x", "--store", path, "--as-of", text, "--format", "json")
        assert [one["key"] for one in done.json["columns"]] == expected, text
