"""Verify a store of either kind, and move its graph to another one."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Literal, TypeAlias

from lineage.store.errors import StoreAccessError, StoreError
from lineage.store.graph.contents import Contents, differences
from lineage.store.graph.store import CypherStore
from lineage.store.graph.transfer import import_changes
from lineage.store.opening import open_store
from lineage.store.sqlite.files import check_file, place, remove_files

__all__ = ["export_store", "import_store", "miscounted"]

_Progress: TypeAlias = Callable[[str, int, int | None], None]


def miscounted(address: str, progress: _Progress) -> tuple[Contents, list[str]]:
    """Return what a store holds, counted, and what of it is not as its writers have recorded, a line each.

    Raises:
        StoreError: the store cannot be read.
    """
    with _graph(address, read_only=True) as store:
        counted, recorded = store.count_contents(progress)
    return counted, differences(recorded, counted)


def export_store(address: str, file: Path, progress: _Progress) -> Contents:
    """Write the graph of a store into a new file, which is there as a whole or not at all; one ending in `.gz` is
    compressed.

    Raises:
        StoreAccessError: the file is there already, or cannot be written.
        StoreError: the store cannot be read, or a server was written to meanwhile.
    """
    _refuse_existing(file)
    made = file.with_name(f".{os.getpid()}.{file.name}")
    try:
        with _graph(address, read_only=True) as store, _opened(made, "x") as out:
            held, recorded = store.export_graph(out.write, progress)
        if lacking := differences(recorded, held):
            raise StoreError(
                f"{address} does not hold what its writers have recorded: {lacking[0]}",
                "was something ingested meanwhile? Else look with `lineage store verify`",
            )
        place(made, file)
    except OSError as error:
        raise StoreAccessError(f"{file} cannot be written: {error.strerror}") from error
    finally:
        made.unlink(missing_ok=True)
    return held


def import_store(file: Path, address: str, progress: _Progress) -> Contents:
    """Make a store from an exported graph: a new file, which is there as a whole or not at all, or an empty Neo4j.

    The whole file is looked at before anything is written to a server.

    Raises:
        StoreAccessError: the file cannot be read, or the store is there already.
        StoreError: the file does not hold a whole graph, or the store cannot be written.
    """
    if "://" in address:
        with _graph(address, read_only=False) as store:
            with _lines_of(file) as lines:
                for _ in import_changes(lines, lambda _, number, total: progress("reading", number, total)):
                    pass
            return _import_into(store, file, progress)
    path = Path(address).expanduser()
    _refuse_existing(path)
    check_file(path, read_only=False)
    made = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with _graph(str(made), read_only=False) as store:
            held = _import_into(store, file, progress)
        place(made, path)
    finally:
        remove_files(made)
    return held


def _import_into(store: CypherStore, file: Path, progress: _Progress) -> Contents:
    with _lines_of(file) as lines:
        store.import_graph(lines, progress)
    return store.contents()


def _refuse_existing(path: Path) -> None:
    if path.exists():
        raise StoreAccessError(f"{path} is there already", "name another file, or move that one away")


@contextmanager
def _lines_of(file: Path) -> Iterator[IO[str]]:
    try:
        with _opened(file, "r") as lines:
            yield lines
    except (gzip.BadGzipFile, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise StoreAccessError(f"{file} is no exported graph, or damaged", "export it again") from error
    except OSError as error:
        raise StoreAccessError(f"{file} cannot be read: {error.strerror}") from error


@contextmanager
def _graph(address: str, *, read_only: bool) -> Iterator[CypherStore]:
    with open_store(address, read_only=read_only) as store:
        if not isinstance(store, CypherStore):
            raise StoreError(f"{address} is a service", "name the store that it serves")
        yield store


def _opened(file: Path, mode: Literal["r", "x"]) -> IO[str]:
    if file.suffix == ".gz":
        return gzip.open(file, "rt" if mode == "r" else "xt", encoding="utf-8", compresslevel=4)
    return file.open(mode, encoding="utf-8")
