"""Choose the scanner's implementation: the native one if a matching wheel is installed, else Python.

`LINEAGE_NATIVE=0` selects the Python implementation.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from functools import cache
from typing import Any, Literal

from lineage.frozen import frozen
from lineage.sql.scan.facts import facts_text
from lineage.sql.scan.fingerprinting.fingerprints import fingerprint, normal_form
from lineage.sql.scan.mask import mask_literals
from lineage.sql.scan.nesting import nesting_depth
from lineage.sql.scan.split import split_statements

__all__ = ["PYTHON", "ScanEngine", "chosen_engine", "native_engine"]


@frozen
class ScanEngine:
    """The scanner's functions of a text and a dialect; the native engine has functions over Arrow arrays, too."""

    name: Literal["native", "python"]
    reason: str
    """Why this engine is in use, for summaries."""
    split_statements: Callable[[str, str], list[tuple[int, int]]]
    mask_literals: Callable[..., str]
    normal_form: Callable[[str, str], str]
    fingerprint: Callable[[str, str], str]
    nesting_depth: Callable[[str, str], int]
    arrays: Any = None
    """The module with the functions over arrays; None for the Python engine."""


def _python(reason: str) -> ScanEngine:
    return ScanEngine("python", reason, split_statements, mask_literals, normal_form, fingerprint, nesting_depth)


PYTHON = _python("it is the reference")


def _or_python(native: Callable[..., Any], python: Callable[..., Any]) -> Callable[..., Any]:
    """Return the native function, with the Python one for texts that are not valid Unicode (lone surrogates)."""

    def scan(sql: str, dialect: str, *options: Any) -> Any:
        try:
            return native(sql, dialect, *options)
        except UnicodeEncodeError:
            return python(sql, dialect, *options)

    return scan


@cache
def native_engine() -> ScanEngine | None:
    """Return the native engine, or None where the wheel is not installed or was built from other sources."""
    try:
        native = importlib.import_module("lineage_native")
    except ImportError:
        return None
    if facts_text() != native.FACTS:
        return None
    return ScanEngine(
        "native",
        f"lineage-native {native.__version__}",
        _or_python(native.split_statements, split_statements),
        _or_python(native.mask_literals, mask_literals),
        _or_python(native.normal_form, normal_form),
        _or_python(native.fingerprint, fingerprint),
        _or_python(native.nesting_depth, nesting_depth),
        native,
    )


@cache
def chosen_engine() -> ScanEngine:
    """Return the engine in use."""
    if os.environ.get("LINEAGE_NATIVE") == "0":
        return _python("LINEAGE_NATIVE=0 selects it")
    return native_engine() or _python("lineage-native is missing or has another version; build it with `make native`")
