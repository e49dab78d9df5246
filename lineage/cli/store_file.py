"""`lineage store`: look after the embedded store's file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from lineage.cli.listing import say
from lineage.cli.store_options import StoreOption
from lineage.store.opening import DEFAULT_PATH

__all__ = ["app"]

app = typer.Typer(
    help="Verify, back up, restore and compact the store's file.\n\nExample: lineage store verify --store lineage.db",
    no_args_is_help=True,
)


def _path(store: str | None) -> Path:
    """Return the path of the store's file.

    Raises:
        typer.BadParameter: the store is no file.
    """
    address = store or os.environ.get("LINEAGE_STORE") or DEFAULT_PATH
    if "://" in address:
        raise typer.BadParameter(f"{address} is no file: use the tools of that server (neo4j-admin)")
    return Path(address).expanduser()


@app.command()
def verify(store: StoreOption = None) -> None:
    """Check every page, and all that refers to something.

    Nothing is written. Exit status 0: nothing is wrong; 3: the file is damaged.

    Example: lineage store verify --store lineage.db
    """
    from lineage.store.sqlite.maintenance import find_damage  # noqa: PLC0415  --help needs no SQLite

    path = _path(store)
    damage = find_damage(path)
    for line in damage:
        say(line)
    if damage:
        say(f"{path} is damaged: restore a backup, or ingest again into a new file")
        raise typer.Exit(3)
    say(f"{path}: nothing is wrong")


@app.command()
def backup(
    to: Annotated[Path, typer.Argument(metavar="FILE", help="Where the copy goes; there must be no such file.")],
    store: StoreOption = None,
) -> None:
    """Copy the store while it is in use, and verify the copy.

    Example: lineage store backup lineage-2026-01-31.db
    """
    _copy(_path(store), to)
    say(f"copied and verified: {to}")


@app.command()
def restore(
    backup_file: Annotated[Path, typer.Argument(metavar="FILE", help="The backup.")],
    store: StoreOption = None,
) -> None:
    """Make the store from a backup. Move a damaged store away first: nothing is written over.

    Example: lineage store restore lineage-2026-01-31.db --store lineage.db
    """
    path = _path(store)
    _copy(backup_file, path)
    say(f"restored and verified: {path}")


@app.command()
def recover(store: StoreOption = None) -> None:
    """Keep what can be read of a store whose log is damaged. What was stored last is lost: ingest it again.

    Example: lineage store recover
    """
    from lineage.store.sqlite.maintenance import recover as recover_file  # noqa: PLC0415

    path = _path(store)
    recover_file(path)
    say(f"{path}: what could be read is kept; `lineage runs` lists the ingests that it has")


@app.command()
def compact(store: StoreOption = None) -> None:
    """Give the space of what was deleted back to the disk. It needs as much room again meanwhile.

    Example: lineage store compact
    """
    from lineage.store.sqlite.maintenance import compact as compact_file  # noqa: PLC0415

    path = _path(store)
    before, after = compact_file(path)
    say(f"{path}: {before / 1e6:.1f} MB, now {after / 1e6:.1f} MB")


def _copy(source: Path, target: Path) -> None:
    from lineage.cli.progress import progress_bar  # noqa: PLC0415
    from lineage.store.sqlite.maintenance import copy_store  # noqa: PLC0415

    with progress_bar() as show:
        copy_store(source, target, lambda done, pages: show("copying", done, pages))
