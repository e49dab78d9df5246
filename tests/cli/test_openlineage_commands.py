"""`lineage ingest openlineage` and `lineage export openlineage`, as a person types them."""

from __future__ import annotations

import gzip
import json
import socket
from pathlib import Path
from unittest import mock

from tests.cli.running import lineage
from tests.events.event_builders import event

SPARK = Path(__file__).parents[1] / "data" / "openlineage" / "spark"
GOOD = event({"run": 1, "outputs": {"pg.v": {"columnLineage": {"fields": {"x": ["pg.t a DIRECT/IDENTITY"]}}}}})


def test_a_folder_of_events_and_a_question(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    done = lineage("ingest", "openlineage", SPARK, "--store", store)
    assert done.code == 0, done.err
    assert "12 files, 162 events: 162 taken\n78 new edges, 1 ended in" in done.out
    again = lineage("ingest", "openlineage", SPARK / "*.ndjson", "--store", store, "--format", "json")
    assert again.code == 0
    assert (again.json["accepted"], again.json["edges_created"], again.json["nodes_created"]) == (162, 0, 0)
    answer = lineage("impact", "/data/jobs/ev_data/seed/customers.name", "--store", store, "--format", "json")
    assert answer.code == 0, answer.err
    assert "/data/jobs/ev_data/01_project_parquet/out" in answer.out
    runs = lineage("runs", "--store", store, "--format", "json")
    assert [(one["kind"], one["events"]) for one in runs.json] == [("openlineage", 162)]


def test_bad_lines_and_bad_events_are_listed(tmp_path: Path) -> None:
    file = tmp_path / "e.ndjson"
    broken = json.loads(json.dumps(GOOD))
    broken["outputs"][0]["facets"]["schema"] = {"fields": 1}
    lines = ["oops", json.dumps({"eventTime": "2026-01-01T00:00:00Z"}), json.dumps(broken)]
    file.write_text("\n".join(lines))
    done = lineage("ingest", "openlineage", file, "--store", tmp_path / "store.db")
    assert done.code == 1
    assert f"{file}:1: error: not JSON" in done.err
    assert f"{file}:2: error: /: an event needs a run, a job or a dataset" in done.err
    assert f"{file}:3: warning: the facet /outputs/0/facets/schema is left out" in done.err
    assert "1 file, 3 events: 1 taken, 2 refused, 1 facet left out\n1 new edge in" in done.out
    short = lineage("ingest", "openlineage", file, "--store", tmp_path / "store.db", "--show", "1")
    assert "… and 2 more; --show 0 prints all" in short.err


def test_standard_input_and_what_cannot_be(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    done = lineage("ingest", "openlineage", "-", "--store", store, stdin=json.dumps([GOOD, GOOD]))
    assert (done.code, done.err) == (0, "")
    assert "1 file, 2 events: 2 taken\n1 new edge in" in done.out
    assert lineage("ingest", "openlineage", tmp_path / "none", "--store", store).code == 2
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"bolt://127.0.0.1:{taken.getsockname()[1]}"
        assert lineage("ingest", "openlineage", SPARK, "--store", address).code == 3


def test_without_the_library_the_extra_is_named(tmp_path: Path) -> None:
    from lineage_ingest.openlineage.validation import json_schemas  # noqa: PLC0415

    caches = (json_schemas._library, json_schemas.core_validator, json_schemas.facet_validator)
    for one in caches:
        one.cache_clear()
    file = tmp_path / "e.json"
    file.write_text(json.dumps(GOOD))
    with mock.patch.object(json_schemas, "import_module", side_effect=ImportError):
        done = lineage("ingest", "openlineage", file, "--store", tmp_path / "store.db")
    assert done.code == 2
    assert "pip install '.[openlineage]' in a checkout of lineage" in " ".join(done.err.split())


def test_each_kind_of_a_pair_has_its_own_masking(tmp_path: Path) -> None:
    kinds = ["pg.t a DIRECT/IDENTITY DIRECT/AGGREGATION/masking"]
    said = event({"run": 1, "outputs": {"pg.v": {"columnLineage": {"fields": {"x": kinds}}}}})
    store = tmp_path / "store.db"
    assert lineage("ingest", "openlineage", "-", "--store", store, stdin=json.dumps(said)).code == 0
    answer = lineage("impact", "t.a", "--store", store, "--format", "json").json
    [reached] = [one for one in answer["columns"] if one["column"] == "x"]
    assert (reached["masked"], reached["transformation"]) == (False, "IDENTITY")
    [step] = answer["steps"]
    assert step["subtypes"] == ["IDENTITY", "AGGREGATION"]
    assert (step["masking"], step["masked_subtypes"]) == (False, ["AGGREGATION"])
    shown = lineage("export", "openlineage", "--store", store)
    [job] = [one for one in map(json.loads, shown.out.splitlines()) if "job" in one]
    [field] = job["outputs"][0]["facets"]["columnLineage"]["fields"]["x"]["inputFields"]
    assert [(one["subtype"], one["masking"]) for one in field["transformations"]] == [
        ("IDENTITY", False),
        ("AGGREGATION", True),
    ]


def test_out_and_in_again(tmp_path: Path) -> None:
    store, second, file = tmp_path / "a.db", tmp_path / "b.db", tmp_path / "out.ndjson"
    lineage("ingest", "openlineage", SPARK, "--store", store)
    done = lineage("export", "openlineage", "--output", file, "--store", store)
    assert (done.code, done.out) == (0, "")
    assert "29 events →" in done.err
    lines = file.read_text().splitlines()
    assert lineage("export", "openlineage", "--store", store).out.splitlines() == lines
    packed = tmp_path / "out.ndjson.gz"
    lineage("export", "openlineage", "-o", packed, "--store", store)
    assert gzip.decompress(packed.read_bytes()).decode().splitlines() == lines
    taken = lineage("ingest", "openlineage", packed, "--store", second)
    assert taken.code == 0, taken.err
    assert lineage("export", "openlineage", "--namespace", "sqlite:/data/jobs/ev_data/seed/j.db", "--store", second).out
    assert lineage("export", "openlineage", "--as-of", "2020-01-01", "--store", store).out == ""
    assert lineage("export", "openlineage", "-o", tmp_path / "no" / "where", "--store", store).code == 2
    assert lineage("export", "openlineage", "--store", tmp_path / "none.db").code == 3
