"""What the status of a row means: by its word, by the name of its column, or as the user says."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage_ingest.query_log import read_log, source_named
from lineage_ingest.query_log.sources import StatusError
from tests.cli.running import lineage
from tests.query_logs.samples import normalised_rows

UNKNOWN = "unknown status, see --status-ok and --status-failed"


def outcome(
    folder: Path, column: str, value: str, status_ok: tuple[str, ...] = (), status_failed: tuple[str, ...] = ()
) -> object:
    """Return the status of a row, or the problem with it."""
    file = folder / "log.csv"
    file.write_text(f"query_text,{column}\nINSERT INTO t SELECT a FROM s,{value}\n")
    source = source_named("generic", mapping={"status": column}, status_ok=status_ok, status_failed=status_failed)
    [row] = normalised_rows(source, read_log(source, [file]))
    return row.get("problem") or row["status"]


@pytest.mark.parametrize(
    ("column", "meanings"),
    [
        (
            "status",
            {
                "success": "SUCCESS Succeeded ok COMPLETED true t yes Finished",
                "failed": "FAILED f false no EXCEPTION ORA-00904 ERROR:42P01 SQL0204N sqlstate=42703 Failure",
                "canceled": "Rolled_Back ROLLED-BACK TIMEOUT timed_out Cancelled",
                "running": "RUNNING queued",
                UNKNOWN: "0 1 904 -204 completed_with_warnings SUCCESS_WITH_INFO Erfolg 2",
            },
        ),
        ("RETURN_CODE", {"success": "0 0.0 00000 OK", "failed": "1 904 -904 ORA-00904 942.0", "canceled": "TIMEOUT"}),
        ("ErrorCode", {"success": "0", "failed": "3807 1"}),
        ("sqlstate", {"success": "00000", "failed": "42P01"}),
        ("error_message", {"success": "none", "failed": "table_is_missing"}),
        ("is_failed", {"success": "false no 0", "failed": "true yes 1"}),
        ("success", {"success": "1 t TRUE", "failed": "0 f FALSE", UNKNOWN: "2"}),
    ],
)
def test_statuses(column: str, meanings: dict[str, str], tmp_path: Path) -> None:
    for status, values in meanings.items():
        for value in values.split():
            assert outcome(tmp_path, column, value.replace("_", " ")) == status, value
    assert outcome(tmp_path, column, "") == "success"


def test_the_user_says_what_a_status_means(tmp_path: Path) -> None:
    meant = {"status_ok": ("0", "Erfolg"), "status_failed": ("904", "OK")}
    found = [outcome(tmp_path, "status", value, **meant) for value in ("0", "ERFOLG", "904", "ok", "905")]
    assert found == ["success", "success", "failed", "failed", UNKNOWN]
    with pytest.raises(StatusError, match="both"):
        source_named("generic", status_ok=("0",), status_failed=("0",))
    with pytest.raises(StatusError, match="no column of statuses"):
        source_named("mysql", status_ok=("0",))


@pytest.mark.parametrize(
    ("source", "header"),
    [
        ("snowflake", "query_text,execution_status"),
        ("databricks", "statement_text,execution_status"),
        ("redshift", "query_text,status"),
        ("clickhouse", "query,type"),
    ],
)
def test_a_new_status_of_a_product_is_no_success(source: str, header: str, tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text(f"{header}\nINSERT INTO t SELECT a FROM s,ROLLED_BACK\n")
    known = source_named(source, status_failed=("rolled_back",))
    for one, wanted in ((source_named(source), UNKNOWN), (known, None)):
        [row] = normalised_rows(one, read_log(one, [file]))
        assert row.get("problem") == wanted
    assert row["status"] == "failed"


def test_rows_of_an_unknown_status_are_counted_and_shown(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("query_text,status,started_at\n" + "INSERT INTO t SELECT a FROM s,904,2026-01-01T00:00:00Z\n" * 3)
    store = ("--store", str(tmp_path / "s.db"))
    done = lineage("ingest", "log", str(file), "--source", "generic", *store)
    assert f"3  {UNKNOWN}" in done.out + done.err
    assert "904" in done.out + done.err
    again = lineage("ingest", "log", str(file), "--source", "generic", "--status-ok", "904", *store)
    assert "0 left out" in again.out + again.err
    refused = lineage("ingest", "log", str(file), "--source", "mysql", "--status-ok", "904", *store)
    assert refused.code == 2
    assert "--status-ok" in refused.err
