"""`lineage doctor`: what is wrong with this installation and this store, worst first."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from lineage.cli.store_options import FormatOption, StoreOption
from lineage.doctor.finding import Finding, Health
from lineage.doctor.installation import examine_installation
from lineage.doctor.store_state import examine_store
from lineage.screen.formats import OutputFormat, print_listing
from lineage.screen.listing import counted, say
from lineage.screen.progress import progress_bar
from lineage.store.opening import DEFAULT_PATH

__all__ = ["doctor"]

_STYLES = {Health.PROBLEM: "red", Health.WARNING: "yellow", Health.OK: "green"}


def doctor(
    store: StoreOption = None,
    days: Annotated[int, typer.Option("--days", min=1, help="How old the latest ingest of a source may be.")] = 7,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """What is wrong with this installation and this store, and what to do about it? Worst first.

    It looks at Python, the parser, the scanner, the extras and Java; the file's pages, counts and disk; interrupted
    and old ingests, statements that were not resolved, and tables that two sources call by different names. Nothing is
    written. Exit status 0: no problem; 1: a problem.

    Example: lineage doctor --store lineage.db
    """
    address = store or os.environ.get("LINEAGE_STORE") or DEFAULT_PATH
    with progress_bar() as show:
        findings = [
            *examine_store(address, datetime.now(UTC), timedelta(days=days), show),
            *examine_installation(),
        ]
    findings.sort(key=lambda one: list(Health).index(one.level))
    rows = [(one.level, one.subject, one.message, one.hint) for one in findings]
    columns = ("level", "subject", "message", "hint")
    print_listing(
        columns, rows, output, values=lambda: [asdict(one) for one in findings], people=lambda: _show(findings)
    )
    if any(one.level is Health.PROBLEM for one in findings):
        raise typer.Exit(1)


def _show(found: Iterable[Finding]) -> None:
    number = dict.fromkeys(Health, 0)
    for finding in found:
        number[finding.level] += 1
        say(
            f"{finding.level}: {finding.subject}: {finding.message}",
            _STYLES[finding.level] if finding.level is not Health.OK else "",
        )
        if finding.hint:
            say(f"  → {finding.hint}", "dim")
    say(f"{counted(number[Health.PROBLEM], 'problem')}, {counted(number[Health.WARNING], 'warning')}")
