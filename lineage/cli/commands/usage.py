"""`lineage usage`: who used a table or column, how often and when, by day."""

from __future__ import annotations

import shlex
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any

import typer

from lineage.cli.name_argument import NameArgument
from lineage.cli.store_options import FormatOption, RowsOption, StoreOption
from lineage.model.text.name_lists import name_list
from lineage.model.usage import UserCounts
from lineage.screen.formats import OutputFormat, print_listing
from lineage.screen.layout import Look
from lineage.screen.listing import counted, note, say
from lineage.store import open_store
from lineage.store.values import Direction, StoredUsage
from lineage.traversal import Target, UsageTotal, resolve, total_usage

__all__ = ["usage"]

_TOP, _TOP_OF_DAY, _READERS = 5, 3, 3
_COLUMNS = ("day", "reads", "writes", "users", "most by", "last read", "last write")
_LOOK = Look(words=("most by",), cuts=("users",), styles={"most by": "dim"})


def usage(
    name: NameArgument,
    store: StoreOption = None,
    days: Annotated[
        int | None, typer.Option("--days", min=1, help="Only this many days, up to today (UTC). Default: all.")
    ] = None,
    rows: RowsOption = 40,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """Who used this column or table, how often and when? By day, latest first.

    Reads and writes count the queries in ingested logs.

    Example: lineage usage shop.orders.amount --days 30
    """
    since = datetime.now(UTC).date() - timedelta(days=days - 1) if days else None
    with open_store(store, read_only=True) as opened:
        target = resolve(opened, name)
        usages = opened.usage(target.key, since=since)
        last = _last_day(opened.usage(target.key)) if since and not usages else None
        if not usages:
            is_known = bool(opened.usage_totals())
            feeds = opened.feed_keys([target.dataset], Direction.DOWNSTREAM)
            readers = sorted(opened.dataset_names({feed.target for feed in feeds}).values())
    usages.reverse()
    total = total_usage(usages)
    if not usages:
        span = f" in {_last_days(days)}" if days else ""
        logs = "" if is_known else ": no ingested query log shows any use (lineage ingest log)"
        note(f"no known use of {target.name}{span}{f'; last used on {last}' if last else ''}{logs}", "yellow")
        if readers:
            note(f"its table is read for {name_list(readers, _READERS)}: lineage impact {shlex.quote(target.name)}")
    if usages and output.is_for_people:
        _print_total(target, total)
    shown = usages[: rows or None] if output.is_for_people else usages
    print_listing(
        _COLUMNS,
        (_row(one, times="%H:%M:%S" if output.is_for_people else "%Y-%m-%d %H:%M:%S") for one in shown),
        output,
        _LOOK,
        values=lambda: {"key": target.key, "name": target.name, **total.to_dict(), "by_day": _by_day(usages)},
    )
    if len(shown) < len(usages):
        note(f"… and {counted(len(usages) - len(shown), 'more day')}; --rows 0 shows all")


def _last_day(found: list[StoredUsage]) -> date | None:
    return found[-1].day if found else None


def _last_days(days: int | None) -> str:
    return "the last day" if days == 1 else f"the last {days:,} days"


def _print_total(target: Target, total: UsageTotal) -> None:
    span = (
        f"on {total.first_day}" if total.days == 1 else f"on {total.days:,} days, {total.first_day} to {total.last_day}"
    )
    reads, writes, users = total.reads, total.writes, total.users
    by = f"{counted(reads, 'read')} and {counted(writes, 'write')} by {counted(users.distinct, 'known user')}"
    say(f"{target.name}: {by} {span}", subject=target.name)
    if users.named:
        say(f"most by {', '.join(_most(users, _TOP))}", "dim")


def _row(one: StoredUsage, times: str) -> tuple[object, ...]:
    last = (_time(one.last_read, times), _time(one.last_write, times))
    return (one.day, one.reads, one.writes, one.users.distinct, _most(one.users, _TOP_OF_DAY), *last)


def _most(users: UserCounts, top: int) -> list[str]:
    return [f"{user} ({queries:,})" for user, queries in users.named[:top]]


def _time(at: datetime | None, written: str) -> str | None:
    return f"{at:{written}}" if at else None


def _by_day(found: list[StoredUsage]) -> list[dict[str, Any]]:
    left_out = ("days", "first_day", "last_day")
    totals = ((one.day, total_usage([one]).to_dict()) for one in found)
    return [
        {"day": day, **{name: value for name, value in total.items() if name not in left_out}} for day, total in totals
    ]
