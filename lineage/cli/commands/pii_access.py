"""`lineage pii access` and `lineage pii grants`: who read personal data, and who may but did not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from lineage.cli.commands.tag import RulesOption, rules_of
from lineage.cli.pii_options import BreakersOption, ClassOption, FunctionsOption, breakers_of, functions_of
from lineage.cli.store_options import FormatOption, StoreOption
from lineage.governance.access import audit_access, pseudonyms
from lineage.governance.grant_use import GrantState, audit_grants
from lineage.governance.log_coverage import NoLogError
from lineage.governance.report.pii_report import PiiReport, make_report
from lineage.governance.tags.tagging import classify
from lineage.screen.formats import OutputFormat, print_listing
from lineage.screen.layout import Look
from lineage.screen.listing import counted, note, say
from lineage.store import GraphStore, open_store

__all__ = ["access", "grants"]

_SinceOption = Annotated[
    datetime | None, typer.Option("--since", formats=["%Y-%m-%d"], help="From this day on.", metavar="DAY")
]
_UntilOption = Annotated[
    datetime | None, typer.Option("--until", formats=["%Y-%m-%d"], help="Up to this day.", metavar="DAY")
]
_NAMED = 10
"""Number of new readers that are named."""


def access(
    class_: ClassOption = None,
    user: Annotated[list[str] | None, typer.Option("--user", help="Only this user. Repeatable.")] = None,
    since: _SinceOption = None,
    until: _UntilOption = None,
    hide_users: Annotated[bool, typer.Option("--hide-users", help="Show `user 1`, … instead of names.")] = False,
    rules: RulesOption = None,
    functions: FunctionsOption = None,
    breakers: BreakersOption = None,
    store: StoreOption = None,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """Who read personal data, by the query logs?

    Each user and column: masked or not, how often, first and last day.

    It first says what the logs cannot show. It needs a query log of that time.

    Example: lineage pii access --class email --since 2026-01-01
    """
    days = [one.date() if one else None for one in (since, until)]
    with open_store(store, read_only=True) as opened:
        made = _report(opened, class_, rules, functions, breakers)
        with _needs_log():
            audit = audit_access(opened, made, since=days[0], until=days[1], users=user or ())
    shown = pseudonyms(audit) if hide_users else {}
    columns = ("user", "class", "column", "shows", "queries", "first", "last", "new", "from", "warehouse")
    rows = [
        (
            shown.get(use.user, use.user) if use.user else "(unknown)", use.classes, use.column, str(use.exposure),
            use.queries, use.first_day, use.last_day, "new" if use.is_new else None, use.sources,
            list(use.protection.sentences),
        )
        for use in audit.accesses
    ]  # fmt: skip
    new = audit.new_readers

    def values() -> dict[str, object]:
        listed = [
            {**dict(zip(columns, row, strict=True)), "path": [step.to_dict() for step in one.path]}
            for one, row in zip(audit.accesses, rows, strict=True)
        ]
        named = None if new is None else {name: [shown.get(one, one) for one in users] for name, users in new.items()}
        return {"blind_spots": list(audit.blind_spots), "new_readers": named, "accesses": listed}

    if output is not OutputFormat.JSON:
        _print_blind_spots(audit.blind_spots)
    if not rows and output.is_for_people:
        say(f"in what the logs cover, {'none of these users' if user else 'nobody'} read it")
    for name, users in (new or {}).items() if rows and output.is_for_people else ():
        first = ", ".join(shown.get(one, one) for one in users[:_NAMED])
        more = f" and {len(users) - _NAMED:,} more" if len(users) > _NAMED else ""
        say(f"new readers of {name} in the last 30 days of the logs: {first}{more}")
    print_listing(columns, rows, output, Look(names=("column",), cuts=("queries",)), values=values)


def grants(
    class_: ClassOption = None,
    unused: Annotated[bool, typer.Option("--unused", help="Only grants that nobody used.")] = False,
    since: _SinceOption = None,
    until: _UntilOption = None,
    hide_users: Annotated[bool, typer.Option("--hide-users", help="Show the number of users only.")] = False,
    rules: RulesOption = None,
    functions: FunctionsOption = None,
    breakers: BreakersOption = None,
    store: StoreOption = None,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """Which grants on personal data did nobody use?

    Each grant to read a table or column that shows personal data: unused, used, or unknown, and why. A role counts as
    used if, by the query logs, a user who has it read the table.

    It first says what the logs cannot show. It needs a query log of that time.

    Example: lineage pii grants --class email --unused
    """
    days = [one.date() if one else None for one in (since, until)]
    with open_store(store, read_only=True) as opened:
        made = _report(opened, class_, rules, functions, breakers)
        with _needs_log():
            audit = audit_grants(opened, made, since=days[0], until=days[1])
    columns = ("role", "on", "class", "state", "why", "granted", "queries", "last", "users")
    rows = [
        (
            grant.role, grant.name, grant.classes, str(grant.state), grant.why or None,
            grant.granted.date() if grant.granted else None, grant.queries, grant.last_day,
            len(grant.users) if hide_users else grant.users,
        )
        for grant in audit.grants
        if grant.state is GrantState.UNUSED or not unused
    ]  # fmt: skip
    if output is not OutputFormat.JSON:
        _print_blind_spots(audit.blind_spots)
    if output.is_for_people:
        states = [one.state for one in audit.grants]
        counts = ", ".join(f"{states.count(one):,} {one}" for one in GrantState)
        none = "no grant on these tables is known: `lineage ingest` the GRANT statements, or a live PostgreSQL"
        say(f"{counted(len(states), 'grant')} on personal data: {counts}" if states else none)
    listed = {"blind_spots": list(audit.blind_spots), "grants": [dict(zip(columns, row, strict=True)) for row in rows]}
    print_listing(columns, rows, output, Look(names=("on",), words=("why",)), values=lambda: listed)


def _report(
    store: GraphStore,
    classes: list[str] | None,
    rules: Path | None,
    functions: list[Path] | None,
    breakers: Path | None,
) -> PiiReport:
    """Return where the values of some classes go; exit with 2 if a file is wrong."""
    found = classify(store, rules_of(rules))
    wanted = {one.lower() for one in classes or ()}
    anonymous = breakers_of(breakers, store)
    return make_report(store, found, functions_of(functions), datetime.now(UTC), classes=wanted, breakers=anonymous)


@contextmanager
def _needs_log() -> Iterator[None]:
    """Exit with 1 if no log covers the time that is asked about."""
    try:
        yield
    except NoLogError as error:
        note(f"error: {error}", "red")
        note(error.hint)
        raise typer.Exit(1) from error


def _print_blind_spots(spots: Iterable[str]) -> None:
    for spot in spots:
        note(f"not seen: {spot}" if not spot.startswith("only") else spot, "yellow")
