"""Verify a store of either kind, and move its graph to another one."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Literal, TypeAlias

from lineage.store.cypher.contents import Contents, differences
from lineage.store.cypher.store import CypherStore
from lineage.store.errors import StoreAccessError, StoreError
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
        recorded = store.contents()
        counted = store.count_contents(progress)
        if counted != recorded:  # somebody may have written to a server meanwhile
            recorded = store.contents()
        return counted, differences(recorded, counted)


def export_store(address: str, file: Path, progress: _Progress) -> Contents:
    """Write the graph of a store into a file, which must not be there; with `.gz` at its end, it is compressed.

    Raises:
        StoreAccessError: the file is there, or cannot be written.
        StoreError: the store cannot be read, or was written to meanwhile; no file is left then.
    """
    try:
        with _graph(address, read_only=True) as store:
            with _opened(file, "x") as out:
                held = store.export_graph(out.write, progress)
            lacking = differences(store.contents(), held)
    except FileExistsError:
        raise StoreAccessError(f"{file} is there already", "name another file, or move that one away") from None
    except OSError as error:
        file.unlink(missing_ok=True)
        raise StoreAccessError(f"{file} cannot be written: {error.strerror}") from error
    except BaseException:
        file.unlink(missing_ok=True)
        raise
    if lacking:
        file.unlink()
        raise StoreError(
            f"{address} does not hold what its writers have recorded: {lacking[0]}",
            "was something ingested meanwhile? Else look with `lineage store verify`",
        )
    return held


def import_store(file: Path, address: str, progress: _Progress) -> Contents:
    """Make a store from an exported graph: a new file, which is there as a whole or not at all, or an empty Neo4j.

    Raises:
        StoreAccessError: the file cannot be read, or the store is there already.
        StoreError: the file does not hold a whole graph, or the store cannot be written.
    """
    path = None if "://" in address else Path(address).expanduser()
    if path is not None:
        if path.exists():
            raise StoreAccessError(f"{path} is there already", "name another file, or move that one away")
        check_file(path, read_only=False)
    made = None if path is None else path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with _graph(str(made or address), read_only=False) as store:
            with _opened(file, "r") as lines:
                store.import_graph(lines, progress)
            held = store.contents()
        if path is not None and made is not None:
            place(made, path)
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise StoreAccessError(f"{file} cannot be read: {error}", "is it the file that was exported?") from error
    finally:
        if made is not None:
            remove_files(made)
    return held


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
