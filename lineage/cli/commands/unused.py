"""`lineage unused`: tables that nobody reads, in the order in which they can be dropped."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Annotated

import typer

from lineage.cli.store_options import FormatOption, StoreOption
from lineage.governance.log_coverage import NoLogError
from lineage.governance.unused_tables import UnusedReport, find_unused
from lineage.screen.formats import OutputFormat, print_listing
from lineage.screen.layout import Look
from lineage.screen.listing import counted, note, say
from lineage.store import open_store

__all__ = ["unused"]

_COLUMNS = ("drop", "table", "kind", "last read", "feeds", "cost", "sure", "but")
_LOOK = Look(names=("table",), words=("but",), cuts=("kind",), styles={"but": "dim"})


def unused(
    days: Annotated[int, typer.Option("--days", min=1, help="Not used for so many days.")] = 90,
    until: Annotated[
        datetime | None,
        typer.Option(
            "--until", formats=["%Y-%m-%d"], help="The last of these days. Default: today (UTC).", metavar="DAY"
        ),
    ] = None,
    columns: Annotated[bool, typer.Option("--columns", help="Also columns of the tables that are used.")] = False,
    store: StoreOption = None,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """Which tables does nobody read, neither directly nor through the tables made from them?

    They are listed in the order in which they can be dropped. A table that only a pipeline reads is unused. It needs a
    query log of that time. Nothing is dropped.

    With --columns: a column that is read by SELECT * only is listed too, with the number of these queries.

    Example: lineage unused --days 90
    """
    day = until.date() if until else datetime.now(UTC).date()
    with open_store(store, read_only=True) as opened:
        try:
            report = find_unused(opened, days, day, columns=columns)
        except NoLogError as error:
            note(f"error: {error}", "red")
            note(error.hint)
            raise typer.Exit(1) from error
    rows = [
        (number, one.name, one.kind, one.last_read, one.feeds, _duration(one.cost_us, one.runs), one.sure, one.but)
        for number, one in enumerate(report.tables, start=1)
    ]
    print_listing(_COLUMNS, rows, output, values=lambda: _plain(report), people=lambda: _print(report, rows))
    if report.columns and output is OutputFormat.CSV:
        note(f"{counted(len(report.columns), 'unused column')} not shown: CSV lists tables only", "yellow")


def _print(report: UnusedReport, rows: Sequence[Sequence[object]]) -> None:
    say(f"{len(rows):,} of {counted(report.judged, 'table')} unused from {report.since} to {report.until}")
    note(f"by {report.coverage.text}")
    if report.not_judged:
        what = counted(report.not_judged, "table")
        note(f"{what} not judged: no log covers their system, or they are dashboards or files", "yellow")
    print_listing(_COLUMNS, rows, OutputFormat.TABLE, _LOOK)
    for one in report.columns:
        star = f", but for SELECT * ({one.star_reads:,})" if one.star_reads else ""
        say(f"unused column {one.table}.{one.column}{star}")


def _duration(microseconds: int, runs: int) -> str | None:
    return f"{microseconds / 1e6:,.1f} s in {counted(runs, 'run')}" if microseconds else None


def _plain(report: UnusedReport) -> dict[str, object]:
    covered = report.coverage
    return {
        "since": report.since,
        "until": report.until,
        "log": {
            "first_day": covered.first_day, "last_day": covered.last_day, "namespaces": sorted(covered.namespaces),
            "statements": covered.statements, "unresolved": covered.unresolved,
        },
        "not_judged": report.not_judged,
        "tables": [
            {
                "key": table.key, "name": table.name, "kind": table.kind, "last_read": _day(table.last_read),
                "feeds": list(table.feeds), "cost_us": table.cost_us, "runs": table.runs, "sure": table.sure,
                "but": list(table.but),
            }
            for table in report.tables
        ],
        "columns": [
            {"key": one.key, "table": one.table, "column": one.column, "star_reads": one.star_reads}
            for one in report.columns
        ],
    }  # fmt: skip


def _day(day: date | None) -> str | None:
    return day.isoformat() if day else None
