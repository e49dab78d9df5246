"""`lineage prune`: retire ad-hoc lineage that was not seen for some time."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from lineage.cli.store_options import LockTimeoutOption, StoreOption
from lineage.screen.listing import counted, say
from lineage.store import open_store

__all__ = ["prune"]

_AGE = re.compile(r"(\d+)\s*(h|d|w)", re.IGNORECASE)
_HOURS = {"h": 1, "d": 24, "w": 168}


def _moment(value: str) -> datetime:
    """Return the time of an age (`90d`) or a date.

    Raises:
        typer.BadParameter: the value is neither.
    """
    if age := _AGE.fullmatch(value.strip()):
        return datetime.now(UTC) - timedelta(hours=int(age.group(1)) * _HOURS[age.group(2).lower()])
    try:
        moment = datetime.fromisoformat(value)
    except ValueError as error:
        raise typer.BadParameter(f"{value!r} is neither an age (90d, 12h, 4w) nor a date (2026-01-31)") from error
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def prune(
    older_than: Annotated[str, typer.Option(help="An age (90d, 12h, 4w) or a date (2026-01-31).")],
    store: StoreOption = None,
    lock_timeout: LockTimeoutOption = None,  # noqa: ARG001
) -> None:
    """Retire lineage of ad-hoc statements (INSERT, MERGE, UPDATE) not seen since a date.

    `--as-of` an earlier time still shows it. Ingesting an old log again does not make it live again. Lineage of views
    and SQL files is retired when their definition changes, not by age.

    Example: lineage prune --older-than 90d
    """
    moment = _moment(older_than)
    with open_store(store) as opened:
        count = opened.prune(moment)
    say(f"retired {counted(count, 'edge')} last seen before {moment:%Y-%m-%d %H:%M} UTC")
