"""`lineage store`: look after the embedded store's file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from lineage.cli.store_options import StoreOption
from lineage.screen.listing import counted, say
from lineage.screen.progress import progress_bar
from lineage.store.graph.contents import Contents
from lineage.store.moving import export_store, import_store, miscounted
from lineage.store.opening import DEFAULT_PATH, open_store
from lineage.store.sqlite import maintenance

__all__ = ["app"]

app = typer.Typer(
    help="Verify, back up, restore, upgrade, compact, export and import the store.\n\n"
    "Example: lineage store verify --store lineage.db",
    no_args_is_help=True,
)


def _address(store: str | None) -> str:
    return store or os.environ.get("LINEAGE_STORE") or DEFAULT_PATH


def _path(store: str | None) -> Path:
    """Return the path of the store's file.

    Raises:
        typer.BadParameter: the store is no file.
    """
    address = _address(store)
    if "://" in address:
        raise typer.BadParameter(f"{address} is no file: use the tools of that server (neo4j-admin)")
    return Path(address).expanduser()


def _listed(held: Contents) -> str:
    """Return what a store holds in words; equal graphs have equal fingerprints."""
    *numbers, _ = zip(Contents._fields, held, strict=True)
    listed = [counted(number, name.removesuffix("s").replace("_", " ")) for name, number in numbers]
    return f"{', '.join(listed)}; fingerprint {held.fingerprint:016x}"


@app.command()
def verify(store: StoreOption = None) -> None:
    """Check the pages, references and counts of a store.

    In a file, the checksum of every page and every reference between rows is checked. In both kinds of store, tables,
    columns, jobs and edges are counted and compared with the counts that each commit recorded. Nothing is written. Exit
    status 0: nothing is wrong; 3: it is damaged.

    Example: lineage store verify --store lineage.db
    """
    address = _address(store)
    damage = [] if "://" in address else maintenance.find_damage(_path(store))
    with progress_bar() as show:
        held, wrong = miscounted(address, show)
    for line in damage + wrong:
        say(line)
    if damage or wrong:
        say(f"{address} is damaged: restore a backup, or ingest again into a new store")
        raise typer.Exit(3)
    say(f"{address}: nothing is wrong. {_listed(held)}")


@app.command()
def export(
    to: Annotated[Path, typer.Argument(metavar="FILE", help="Where it goes, such as graph.jsonl or graph.jsonl.gz.")],
    store: StoreOption = None,
) -> None:
    """Write the graph and its history as JSON Lines.

    Later versions read it, too. A store of either kind can be made from it.

    Example: lineage store export graph.jsonl.gz --store lineage.db
    """
    with progress_bar() as show:
        held = export_store(_address(store), to, show)
    say(f"exported to {to}: {_listed(held)}")


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `lineage store export` wrote.")],
    store: StoreOption = None,
) -> None:
    """Create a store from an exported graph.

    The store is a new file, or an empty Neo4j database.

    Example: lineage store import graph.jsonl.gz --store bolt://localhost:7687
    """
    address = _address(store)
    with progress_bar() as show:
        held = import_store(file, address, show)
    say(f"imported into {address}: {_listed(held)}")


@app.command()
def backup(
    to: Annotated[Path, typer.Argument(metavar="FILE", help="Where the copy goes; there must be no such file.")],
    store: StoreOption = None,
) -> None:
    """Copy the store while it is in use.

    The copy is verified. An existing file is never overwritten.

    Example: lineage store backup lineage-2026-01-31.db
    """
    _copy(_path(store), to)
    say(f"copied and verified: {to}")


@app.command()
def restore(
    backup_file: Annotated[Path, typer.Argument(metavar="FILE", help="The backup.")],
    store: StoreOption = None,
) -> None:
    """Restore the store from a backup.

    Move a damaged store away first: an existing file is never overwritten.

    Example: lineage store restore lineage-2026-01-31.db --store lineage.db
    """
    path = _path(store)
    _copy(backup_file, path)
    say(f"restored and verified: {path}")


@app.command()
def upgrade(store: StoreOption = None) -> None:
    """Migrate a store that an earlier version of lineage wrote.

    The next ingest does so, too; reading does not. A file is copied beside itself before, to a name such as
    lineage.db.version1. Back up a Neo4j database with its own tools.

    Example: lineage store upgrade --store lineage.db
    """
    address = _address(store)
    if address.startswith(("http://", "https://")):
        raise typer.BadParameter(f"{address} is a service: it migrates its store when it starts")
    if "://" not in address and not Path(address).expanduser().exists():
        raise typer.BadParameter(f"there is no store at {address}")
    with open_store(address) as opened:
        say(f"{opened.address} has schema version {opened.schema_version}, which this version of lineage writes")


@app.command()
def recover(store: StoreOption = None) -> None:
    """Keep what can be read, if the log is damaged.

    What was stored last is lost: ingest it again.

    Example: lineage store recover
    """
    path = _path(store)
    if maintenance.recover(path):
        say(f"{path}: what could be read is kept; `lineage runs` lists the ingests that it has")
    else:
        say(f"{path}: its log is whole, so there is nothing to recover")


@app.command()
def compact(store: StoreOption = None) -> None:
    """Return the disk space of deleted rows.

    While it runs, it needs the disk space of a second copy, and no other process may use the store.

    Example: lineage store compact
    """
    path = _path(store)
    before, after = maintenance.compact(path)
    say(f"{path}: {before / 1e6:.1f} MB, now {after / 1e6:.1f} MB")


def _copy(source: Path, target: Path) -> None:
    with progress_bar() as show:
        maintenance.copy_store(source, target, lambda done, pages: show("copying", done, pages))
