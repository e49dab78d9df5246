"""`lineage store`: look after the embedded store's file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lineage.cli.listing import counted, say
from lineage.cli.store_options import StoreOption
from lineage.store.opening import DEFAULT_PATH

if TYPE_CHECKING:
    from lineage.store.cypher.contents import Contents

__all__ = ["app"]

app = typer.Typer(
    help="Verify, back up, restore, compact, export and import the store.\n\n"
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
    edges = f"{counted(held.edges, 'edge')} and {counted(held.ended_edges, 'ended edge')}"
    return (
        f"{counted(held.tables, 'table')}, {counted(held.columns, 'column')}, {counted(held.jobs, 'job')}, {edges}; "
        f"fingerprint {held.fingerprint:016x}"
    )


@app.command()
def verify(store: StoreOption = None) -> None:
    """Check the pages, references and counts of a store.

    Every page of a file is read with its checksum, and whatever one row says of another is looked up. On both stores,
    tables, columns, jobs and edges are counted, and compared with what each commit has recorded. Nothing is written.
    Exit status 0: nothing is wrong; 3: it is damaged.

    Example: lineage store verify --store lineage.db
    """
    from lineage.cli.progress import progress_bar  # noqa: PLC0415  --help needs no SQLite
    from lineage.store.moving import miscounted  # noqa: PLC0415
    from lineage.store.sqlite.maintenance import find_damage  # noqa: PLC0415

    address = _address(store)
    damage = [] if "://" in address else find_damage(_path(store))
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
    from lineage.cli.progress import progress_bar  # noqa: PLC0415
    from lineage.store.moving import export_store  # noqa: PLC0415

    with progress_bar() as show:
        held = export_store(_address(store), to, show)
    say(f"exported to {to}: {_listed(held)}")


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `lineage store export` wrote.")],
    store: StoreOption = None,
) -> None:
    """Make a store from an exported graph.

    The store is a new file, or an empty Neo4j database.

    Example: lineage store import graph.jsonl.gz --store bolt://localhost:7687
    """
    from lineage.cli.progress import progress_bar  # noqa: PLC0415
    from lineage.store.moving import import_store  # noqa: PLC0415

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

    The copy is verified, and nothing is written over.

    Example: lineage store backup lineage-2026-01-31.db
    """
    _copy(_path(store), to)
    say(f"copied and verified: {to}")


@app.command()
def restore(
    backup_file: Annotated[Path, typer.Argument(metavar="FILE", help="The backup.")],
    store: StoreOption = None,
) -> None:
    """Make the store from a backup.

    Move a damaged store away first: nothing is written over.

    Example: lineage store restore lineage-2026-01-31.db --store lineage.db
    """
    path = _path(store)
    _copy(backup_file, path)
    say(f"restored and verified: {path}")


@app.command()
def recover(store: StoreOption = None) -> None:
    """Keep what can be read, if the log is damaged.

    What was stored last is lost: ingest it again.

    Example: lineage store recover
    """
    from lineage.store.sqlite.maintenance import recover as recover_file  # noqa: PLC0415

    path = _path(store)
    recover_file(path)
    say(f"{path}: what could be read is kept; `lineage runs` lists the ingests that it has")


@app.command()
def compact(store: StoreOption = None) -> None:
    """Give the space of deleted rows back.

    It needs as much room again meanwhile, and that no other process uses the store.

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
