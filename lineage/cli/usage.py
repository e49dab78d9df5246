"""`lineage usage`: who used a dataset or a column, how often and when, by day."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any

import typer

from lineage.cli.ask import NameArgument, RowsOption
from lineage.cli.listing import OutputFormat, console, counted, note, print_listing, print_object
from lineage.cli.options import FormatOption, StoreOption
from lineage.model.usage import UserCounts
from lineage.store import open_store
from lineage.store.protocol import StoredUsage
from lineage.traversal import Target, UsageTotal, resolve, total_usage

__all__ = ["usage"]

_TOP, _TOP_OF_DAY = 5, 3
_COLUMNS = ("day", "reads", "writes", "users", "most by", "last read", "last write")


def usage(
    name: NameArgument,
    store: StoreOption = None,
    days: Annotated[
        int | None, typer.Option("--days", min=1, help="Only the last so many days, with today (UTC); else all.")
    ] = None,
    rows: RowsOption = 40,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """Who used this column or table, how often and when? By day, the latest first.

    Reads and writes are queries, as the logs that were ingested have them.

    Example: lineage usage shop.orders.amount --days 30
    """
    since = datetime.now(UTC).date() - timedelta(days=days - 1) if days else None
    with open_store(store, read_only=True) as opened:
        target = resolve(opened, name)
        found = opened.usage(target.key, since=since)
        last = _last_day(opened.usage(target.key)) if since and not found else None
    found.reverse()
    total = total_usage(found)
    if not found:
        span = f" in {_last_days(days)}" if days else ""
        note(f"no use of {target.name} is known{span}{f'; the last was on {last}' if last else ''}", "yellow")
    if output is OutputFormat.JSON:
        print_object({"key": target.key, "name": target.name, **total.to_dict(), "by_day": _by_day(found)})
        return
    if output is OutputFormat.CSV:
        print_listing(_COLUMNS, [_row(one) for one in found], output)
        return
    if found:
        _print_total(target, total)
        print_listing(_COLUMNS, [_row(one) for one in found[: rows or None]], output, styles={"most by": "dim"})
    if rows and len(found) > rows:
        note(f"… and {counted(len(found) - rows, 'more day')}; --rows 0 shows all")


def _last_day(found: list[StoredUsage]) -> date | None:
    return found[-1].day if found else None


def _last_days(days: int | None) -> str:
    return "the last day" if days == 1 else f"the last {days:,} days"


def _print_total(target: Target, total: UsageTotal) -> None:
    out = console()
    out.print(target.name, style="bold cyan", end=" ", markup=False)
    span = (
        f"on {total.first_day}" if total.days == 1 else f"on {total.days:,} days, {total.first_day} to {total.last_day}"
    )
    out.print(
        f"{counted(total.reads, 'read')} and {counted(total.writes, 'write')} "
        f"by {counted(total.users.distinct, 'known user')} {span}",
        markup=False,
    )
    if total.users.named:
        out.print(f"most by {_most(total.users, _TOP)}", style="dim", markup=False)


def _row(one: StoredUsage) -> tuple[object, ...]:
    times = (_time(one.last_read), _time(one.last_write))
    return (one.day, one.reads, one.writes, one.users.distinct, _most(one.users, _TOP_OF_DAY), *times)


def _most(users: UserCounts, top: int) -> str:
    return ", ".join(f"{user} ({queries:,})" for user, queries in users.named[:top])


def _time(at: datetime | None) -> str | None:
    return f"{at:%Y-%m-%d %H:%M:%S}" if at else None


def _by_day(found: list[StoredUsage]) -> list[dict[str, Any]]:
    left_out = ("days", "first_day", "last_day")
    totals = ((one.day, total_usage([one]).to_dict()) for one in found)
    return [
        {"day": day, **{name: value for name, value in total.items() if name not in left_out}} for day, total in totals
    ]
