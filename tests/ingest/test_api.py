"""The public functions of `lineage_ingest`: what they take and return, and that the command line says the same."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lineage.catalog import Catalog
from lineage.store import open_store
from lineage_ingest import (
    FollowOptions,
    LogOptions,
    OptionError,
    SqlOptions,
    follow_log,
    ingest_log,
    ingest_openlineage,
    ingest_sql,
    plan_log,
)
from lineage_ingest.query_log import NoLogFilesError, find_log_files
from lineage_ingest.sql_files import GoneFilesError
from tests.cli.running import lineage

DDL = "CREATE TABLE shop.orders (id int, amount numeric);"
VIEW = "CREATE VIEW shop.report AS SELECT * FROM shop.orders;"
EVENT = {
    "eventType": "COMPLETE",
    "eventTime": "2026-01-01T00:00:00Z",
    "producer": "https://example.org/producer",
    "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    "run": {"runId": "01890a5d-ac96-774b-bcce-b302099a8057"},
    "job": {"namespace": "n", "name": "j"},
    "inputs": [{"namespace": "postgres://h:1", "name": "a"}],
    "outputs": [{"namespace": "postgres://h:1", "name": "b"}],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "report.sql").write_text(VIEW, encoding="utf-8")
    (tmp_path / "schema.sql").write_text(DDL, encoding="utf-8")
    rows = [{"query_text": "INSERT INTO t SELECT a FROM s", "started_at": "2026-01-01T00:00:00Z"}]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "events.ndjson").write_text(json.dumps(EVENT) + "\n", encoding="utf-8")
    return tmp_path


def test_sql_into_an_address_and_into_an_open_store(folder: Path) -> None:
    options = SqlOptions(dialect="postgres", catalog="schema.sql", observed_at=datetime(2026, 1, 1, tzinfo=UTC))
    summary = ingest_sql("models", store="one.db", options=options)
    assert (summary.batch.run.counts["resolved"], summary.batch.run.counts["edges"]) == (1, 2)
    assert Path(summary.store).name == "one.db"
    with open_store("two.db") as store:
        again = ingest_sql([Path("models")], store=store, options=options)
        assert len(store.jobs()) == 1  # it is still open
    assert again.to_dict().keys() == summary.to_dict().keys()
    assert again.applied.edges_created == summary.applied.edges_created


def test_a_catalog_or_its_files(folder: Path) -> None:
    catalog = Catalog.from_files(["schema.sql"], "postgres")
    givens: tuple[Catalog | str | list[Path], ...] = (catalog, "schema.sql", [Path("schema.sql")])
    for number, given in enumerate(givens):
        options = SqlOptions(dialect="postgres", catalog=given)
        summary = ingest_sql("models", store=f"{number}.db", options=options)
        assert summary.batch.run.counts["edges"] == 2
    with pytest.raises(OptionError, match=r"missing\.sql") as caught:
        ingest_sql("models", store="x.db", options=SqlOptions(catalog="missing.sql"))
    assert caught.value.option == "catalog"
    assert not Path("x.db").exists()


def test_files_that_are_gone_are_retired_only_on_request(folder: Path) -> None:
    options = SqlOptions(dialect="postgres", project="shop")
    ingest_sql("models", store="g.db", options=options)
    (folder / "models" / "report.sql").unlink()
    with pytest.raises(GoneFilesError):
        ingest_sql("models", store="g.db", options=options)
    assert ingest_sql("models", store="g.db", options=replace(options, retire_most=True)).files_gone == 1


def test_log(folder: Path) -> None:
    options = LogOptions(dialect="postgres")
    summary = ingest_log("log.jsonl", store="log.db", options=options)
    assert (summary.source, [path.name for path in summary.detected_files]) == ("generic", ["log.jsonl"])
    assert summary.to_dict()["edges_created"] == 1
    assert (
        ingest_log(
            ["log.jsonl"], source="generic", store="log.db", options=LogOptions(dialect="postgres")
        ).applied.edges_created
        == 0
    )


@pytest.mark.parametrize(
    ("source", "options", "option"),
    [
        ("generik", LogOptions(), "source"),
        ("generic", LogOptions(dialect="postgress"), "dialect"),
        ("generic", LogOptions(zone="Europe/Nowhere"), "zone"),
        ("generic", LogOptions(mapping={"nothing": "x"}), "mapping"),
        ("generic", LogOptions(delimiter="ab"), "delimiter"),
        ("generic", LogOptions(functions=(Path("log.jsonl"),)), "functions"),
        ("generic", LogOptions(log_line_prefix="%m "), "log_line_prefix"),
    ],
)
def test_a_wrong_option_is_named_here_and_on_the_command_line(
    folder: Path, source: str, options: LogOptions, option: str
) -> None:
    with pytest.raises(OptionError) as caught:
        ingest_log("log.jsonl", source=source, store="no.db", options=options)
    assert caught.value.option == option
    assert not Path("no.db").exists()
    flags: dict[str, tuple[object, ...]] = {
        "source": (),
        "dialect": ("--dialect", options.dialect),
        "zone": ("--zone", options.zone),
        "mapping": ("--map", "nothing=x"),
        "delimiter": ("--delimiter", options.delimiter),
        "functions": ("--functions", "log.jsonl"),
        "log_line_prefix": ("--log-line-prefix", options.log_line_prefix),
    }
    done = lineage("ingest", "log", "log.jsonl", "--source", source, *flags[option])
    assert done.code == 2
    said = " ".join(done.err.replace("│", " ").split())
    assert " ".join(str(caught.value).split()) in said
    assert str((flags[option] or ("--source",))[0]) in said


def test_a_log_needs_an_input(folder: Path) -> None:
    with pytest.raises(OptionError, match="give files"):
        ingest_log(source="trino")
    with pytest.raises(NoLogFilesError):
        ingest_log("missing")
    assert [name for name, *_ in plan_log("log.jsonl")][:3] == ["read", "normalise", "fingerprint"]


def test_events(folder: Path) -> None:
    summary = ingest_openlineage("events.ndjson", store="e.db")
    assert (summary.files, summary.accepted, Path(summary.store).name) == (1, 1, "e.db")


def test_the_command_line_prints_the_same_counts(folder: Path) -> None:
    options = SqlOptions(dialect="postgres", catalog="schema.sql")
    called = ingest_sql("models", store="a.db", options=options).to_dict()
    typed = lineage("ingest", "sql", "models", "-d", "postgres", "-c", "schema.sql", "-s", "b.db", "-f", "json").json
    assert {name: typed[name] for name in called if name != "seconds"} == {
        name: count for name, count in called.items() if name != "seconds"
    }


@pytest.mark.parametrize("paths", [[], "", ["models", ""]])
def test_no_path_is_an_error_and_never_the_current_folder(paths: str | list[str], tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    for ingest in (ingest_sql, ingest_openlineage, ingest_log):
        with pytest.raises(OptionError) as raised:
            ingest(paths, store=store)
        assert raised.value.option == "paths"
    assert not store.exists()


@pytest.mark.parametrize("command", [["ingest", "sql"], ["ingest", "log"], ["ingest", "openlineage"]])
def test_an_empty_argument_is_a_usage_error(command: list[str], tmp_path: Path) -> None:
    done = lineage(*command, "", "--store", tmp_path / "store.db")
    assert done.code == 2
    assert "empty" in done.err


@pytest.mark.parametrize("option", ["store", "checkpoint"])
def test_a_stream_does_not_follow_what_it_writes(option: str, tmp_path: Path) -> None:
    (landing := tmp_path / "landing").mkdir()
    places = {"store": tmp_path / "store.db", "checkpoint": tmp_path / "checkpoint", option: landing / "sub" / option}
    places["store"].parent.mkdir(exist_ok=True)
    follow = FollowOptions(checkpoint=places["checkpoint"], once=True)
    with pytest.raises(OptionError, match=r"is inside .*landing, whose files are read as logs") as raised:
        follow_log(landing, source="trino", store=places["store"], follow=follow)
    assert raised.value.option == option


def test_a_folder_has_no_logs_in_hidden_folders_stores_and_checkpoints(tmp_path: Path) -> None:
    for name in ("log.csv", "day/log.csv", ".git/config", "graph.db.streams/1/stream.json", "a.db", "_SUCCESS"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("a,b")
    found = find_log_files([tmp_path])
    assert [str(file.relative_to(tmp_path)) for file in found] == ["day/log.csv", "log.csv"]
    assert find_log_files([tmp_path / ".git"]) == [tmp_path / ".git" / "config"]
