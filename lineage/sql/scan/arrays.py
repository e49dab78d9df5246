"""The scanner over Arrow arrays of texts: one call a batch. Nulls and chunks are preserved.

The native engine works on the array's memory without the GIL; the Python engine works text by text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage.model.dialect import Dialect
from lineage.model.dialects import dialect_named
from lineage.sql.scan.executable_comments import open_executable_comments
from lineage.sql.scan.implementation import ScanEngine, chosen_engine

__all__ = ["fingerprint_array", "mask_literals_array", "nesting_depth_array", "split_statements_array"]

_STATEMENTS = pa.list_(pa.struct([("start", pa.int64()), ("end", pa.int64())]))


def split_statements_array(texts: Any, dialect: str | Dialect = "ansi", engine: ScanEngine | None = None) -> Any:
    """Return for each text the list of its statements' spans, as structs of `start` and `end` in characters.

    Raises:
        TypeError: the array is not one of string or large_string.
        UnknownDialectError: no dialect has that name.
    """
    used = engine or chosen_engine()

    def places(text: str, name: str) -> list[dict[str, int]]:
        return [{"start": start, "end": end} for start, end in used.split_statements(text, name)]

    return _over(texts, dialect, used, "split_statements_array", places, _STATEMENTS)


def mask_literals_array(texts: Any, dialect: str | Dialect = "ansi", engine: ScanEngine | None = None) -> Any:
    """Return the masked texts, as an array of the same type.

    >>> mask_literals_array(pa.array(["a = 'x'", None]), "postgres").to_pylist()
    ["a = '*'", None]

    Raises:
        TypeError: the array is not one of string or large_string.
        UnknownDialectError: no dialect has that name.
    """
    used = engine or chosen_engine()
    return _over(texts, dialect, used, "mask_literals_array", used.mask_literals, texts.type)


def fingerprint_array(texts: Any, dialect: str | Dialect = "ansi", engine: ScanEngine | None = None) -> Any:
    """Return the texts' fingerprints, in hexadecimal, as an array of string.

    Raises:
        TypeError: the array is not one of string or large_string.
        UnknownDialectError: no dialect has that name.
    """
    used = engine or chosen_engine()
    return _over(texts, dialect, used, "fingerprint_array", used.fingerprint, pa.string())


def nesting_depth_array(texts: Any, dialect: str | Dialect = "ansi", engine: ScanEngine | None = None) -> Any:
    """Return the nesting depth of each text, as an array of uint32.

    Raises:
        TypeError: the array is not one of string or large_string.
        UnknownDialectError: no dialect has that name.
    """
    used = engine or chosen_engine()
    return _over(texts, dialect, used, "nesting_depth_array", used.nesting_depth, pa.uint32())


def _over(
    texts: Any, dialect: str | Dialect, engine: ScanEngine, native: str, one: Callable[[str, str], Any], kind: Any
) -> Any:
    """Return a function's result for each text, as an array of a type, by the native function if there is one."""
    name = dialect_named(dialect).name
    if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
        raise TypeError(f"expected an array of string or large_string, got {texts.type}")
    if isinstance(texts, pa.ChunkedArray):
        chunks = [_over(chunk, dialect, engine, native, one, kind) for chunk in texts.chunks]
        return pa.chunked_array(chunks, kind)
    if dialect_named(dialect).runs_comments and pc.any(pc.match_substring_regex(texts, r"/\*M?!")).as_py():
        opened = (None if text is None else open_executable_comments(text, dialect) for text in texts.to_pylist())
        texts = pa.array(opened, texts.type)
    if engine.arrays is not None:
        return getattr(engine.arrays, native)(texts, name)
    return pa.array([None if text is None else one(text, name) for text in texts.to_pylist()], kind)
