"""`lineage export`: write the graph in other formats."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, BinaryIO, TextIO, cast

import typer

from lineage.cli.commands.ask import AsOfOption
from lineage.cli.store_options import StoreOption
from lineage.export.openlineage import openlineage_events
from lineage.model.namespaces import normal_namespace
from lineage.screen.listing import counted, note
from lineage.store import open_store

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True)


@app.callback()
def export() -> None:
    """Write the graph as OpenLineage events.

    Example: lineage export openlineage --output lineage.ndjson
    """


@app.command("openlineage", short_help="Write OpenLineage events, one JSON object per line.")
def openlineage(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Output file, compressed if it ends in .gz. Default: standard output."),
    ] = None,
    namespace: Annotated[
        str | None, typer.Option(help="Only datasets of this namespace, such as postgres://host:5432, and their jobs.")
    ] = None,
    as_of: AsOfOption = None,
    store: StoreOption = None,
) -> None:
    """Write the graph as OpenLineage events, one JSON object per line.

    Each job becomes a JobEvent; each dataset that no job writes becomes a DatasetEvent.

    Example: lineage export openlineage --output lineage.ndjson
    """
    wanted = normal_namespace(namespace) if namespace else None
    then = as_of.replace(tzinfo=UTC) if as_of is not None and as_of.tzinfo is None else as_of
    count = 0
    with open_store(store, read_only=True) as opened, _writing(output) as out:
        for event in openlineage_events(opened, namespace=wanted, as_of=then):
            out.write(json.dumps(event, ensure_ascii=False) + "\n")
            count += 1
    note(f"{counted(count, 'event')} → {output or 'standard output'}")


@contextmanager
def _writing(path: Path | None) -> Iterator[TextIO]:
    if path is None:
        yield sys.stdout
        return
    with ExitStack() as stack:
        try:
            raw = stack.enter_context(path.open("wb"))
        except OSError as error:
            raise typer.BadParameter(f"{path} cannot be written: {error.strerror}", param_hint="--output") from error
        # Without a timestamp in the header, so that the same graph gives the same file.
        packed = stack.enter_context(gzip.GzipFile("", "wb", fileobj=raw, mtime=0)) if path.suffix == ".gz" else raw
        yield stack.enter_context(TextIOWrapper(cast("BinaryIO", packed), encoding="utf-8"))
