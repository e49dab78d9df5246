"""Which of the scanner's twins works: the native one where its wheel is installed and of this source, else Python.

`LINEAGE_NATIVE=0` asks for the Python one.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from lineage.sql.scan.facts import facts_text
from lineage.sql.scan.fingerprints import fingerprint, normal_form
from lineage.sql.scan.mask import mask_literals
from lineage.sql.scan.nesting import nesting_depth
from lineage.sql.scan.split import split_statements

__all__ = ["PYTHON", "ScanEngine", "chosen_engine", "native_engine"]


@dataclass(frozen=True, slots=True)
class ScanEngine:
    """The scanner's functions, of a text and a dialect's own name; those over Arrow arrays are the native one's."""

    name: Literal["native", "python"]
    reason: str
    """Why it is in use, for a summary."""
    split_statements: Callable[[str, str], list[tuple[int, int]]]
    mask_literals: Callable[..., str]
    normal_form: Callable[[str, str], str]
    fingerprint: Callable[[str, str], str]
    nesting_depth: Callable[[str, str], int]
    arrays: Any = None
    """The module that holds the functions over arrays; None for the Python engine."""


def _python(reason: str) -> ScanEngine:
    return ScanEngine("python", reason, split_statements, mask_literals, normal_form, fingerprint, nesting_depth)


PYTHON = _python("it is the reference")


def _or_python(native: Callable[..., Any], python: Callable[..., Any]) -> Callable[..., Any]:
    """Return the native function; a text that is no Unicode (lone surrogates) goes to its twin."""

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
        return _python("LINEAGE_NATIVE=0 asks for it")
    return native_engine() or _python("lineage-native is not installed, or of another version; `make native` builds it")
