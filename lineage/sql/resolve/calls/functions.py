"""The effect of functions on their arguments: transform, aggregate or mask. The names are in functions.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from sqlglot import exp

from lineage.model.dialects import DIALECTS
from lineage.sql.plugins import Rules, installed_rules
from lineage.sql.resolve.transformation_codes import (
    AGGREGATION,
    MASKED_AGGREGATION,
    MASKED_TRANSFORMATION,
    STEPS,
    TRANSFORMATION,
)

__all__ = [
    "FunctionEffects",
    "FunctionsFileError",
    "deterministic_functions",
    "hierarchy_columns",
    "pseudo_columns",
    "value_functions",
]


class FunctionsFileError(ValueError):
    """A file of functions is not TOML, or has another format; the message states where, and what was expected."""


class FunctionEffects:
    """Looks up the effect of a function by its type in the syntax tree or, if it has none, by its name."""

    def __init__(self, masking: Iterable[str], aggregates: Iterable[str]) -> None:
        self._masking = frozenset(map(_plain, masking))
        self._aggregates = frozenset(map(_plain, aggregates))
        self.steps: dict[type[exp.Expr], int] = {}
        """Cached effects by type. No function has the effect 0."""

    def listed(self) -> tuple[list[str], list[str]]:
        """Return the names of the masking and of the aggregate functions, sorted."""
        return sorted(self._masking), sorted(self._aggregates)

    @classmethod
    def load(cls, dialect: str = "ansi", files: Iterable[str | Path] = ()) -> FunctionEffects:
        """Return the functions of a dialect: the built-in list, and what plug-ins and files add to it.

        Raises:
            FunctionsFileError: a file does not have the format of functions.toml.
            OSError: a file cannot be read.
        """
        return _effects(installed_rules(), dialect, tuple(_user_file(Path(file)) for file in files))

    def of_name(self, name: str) -> int:
        """Return the effect of a function that the parser knows by name only.

        >>> from lineage.sql.resolve.transformation_codes import STEPS
        >>> STEPS[FunctionEffects.load().of_name("SHA256")]
        StepEffect(subtype=<Subtype.TRANSFORMATION: 'TRANSFORMATION'>, masking=True)
        """
        plain = _plain(name)
        return self._effect(plain in self._masking, plain in self._aggregates)

    def knows(self, name: str) -> bool:
        """Return whether a function of this name is listed."""
        plain = _plain(name)
        return plain in self._masking or plain in self._aggregates

    def of_type(self, kind: type[exp.Func]) -> int:
        """Return the effect of a function that the parser has a type for."""
        names = set(map(_plain, kind.sql_names()))
        picks = not names.isdisjoint(map(_plain, _data()["aggregates"]["picks"]))
        aggregates = (issubclass(kind, exp.AggFunc) and not picks) or not names.isdisjoint(self._aggregates)
        return self._effect(not names.isdisjoint(self._masking), aggregates)

    @staticmethod
    def _effect(masking: bool, aggregates: bool) -> int:
        if masking:
            return MASKED_AGGREGATION if aggregates else MASKED_TRANSFORMATION
        return AGGREGATION if aggregates else TRANSFORMATION


def _plain(name: str) -> str:
    """Return a function's name as it is compared: without underscores, which sqlglot's names add."""
    return name.lower().replace("_", "")


class _UserFile(NamedTuple):
    """The content of a user's file: masking, partial and deterministic functions by dialect, and aggregates."""

    masking: tuple[tuple[str, tuple[str, ...]], ...]
    deterministic: tuple[tuple[str, tuple[str, ...]], ...]
    aggregates: tuple[str, ...]
    partial: tuple[tuple[str, tuple[str, ...]], ...] = ()


class ValueFunctions(NamedTuple):
    """Functions by what is left of a value, by plain name (lower case, without underscores)."""

    partial: frozenset[str]
    """Their result is a part of the value."""
    summaries: frozenset[str]
    """Aggregates that do not return the value of any row."""
    files: tuple[Path, ...] = ()
    """What adds to the built-in functions."""

    def masks(self, name: str, dialect: str) -> bool:
        """Return whether a function hides its argument in a dialect.

        >>> value_functions().masks("md5", "postgres"), value_functions().masks("encode", "postgres")
        (True, False)
        """
        effects = FunctionEffects.load(dialect, self.files)
        return effects.knows(name) and STEPS[effects.of_name(name)].masking


def value_functions(files: Iterable[str | Path] = ()) -> ValueFunctions:
    """Return which functions leave a part of a value, and which sum values up; files add to the built-in list.

    >>> "splitpart" in value_functions().partial, "max" in value_functions().summaries
    (True, False)

    Raises:
        FunctionsFileError: a file does not have the format of functions.toml.
        OSError: a file cannot be read.
    """
    data = _data()
    paths = tuple(map(Path, files))
    added = [name for file in paths for _, names in _user_file(file).partial for name in names]
    partial = frozenset(map(_plain, (*data["partial"]["any"], *added)))
    return ValueFunctions(partial, frozenset(map(_plain, data["aggregates"]["summaries"])), paths)


@lru_cache(maxsize=64)
def _effects(installed: Rules, dialect: str, files_: tuple[_UserFile, ...]) -> FunctionEffects:
    """Return one object for all statements with the same functions, so that its cache is shared."""
    data = _data()
    asked = ["any", "parser", dialect]
    for name in asked:
        asked.extend(other for other in data["masking_like"].get(name, ()) if other not in asked)
    if dialect == "ansi":  # no particular dialect: the functions of all of them
        asked = list(data["masking"])
    masking = [name for group in asked for name in data["masking"].get(group, ())]
    masking += [name for file in files_ for group, names in file.masking if group in asked for name in names]
    aggregates = [*data["aggregates"]["names"], *(name for file in files_ for name in file.aggregates)]
    return FunctionEffects((*masking, *installed.masking_names), (*aggregates, *installed.aggregate_names))


@lru_cache(maxsize=64)
def _user_file(path: Path) -> _UserFile:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FunctionsFileError(f"{path}: not TOML: {error}") from error
    if unknown := sorted(data.keys() - _SECTIONS):
        expected = ", ".join(f"[{section}]" for section in sorted(_SECTIONS))
        raise FunctionsFileError(f"{path}: unknown section [{unknown[0]}]; expected one of {expected}")
    for section, held in data.items():
        if not isinstance(held, dict):
            raise FunctionsFileError(f"{path}: {section}: expected a section [{section}] with lists of function names")
    aggregates = _names(path, "[aggregates] names", data.get("aggregates", {}).get("names", []))
    masking, deterministic, partial = (
        _by_dialect(path, section, data) for section in ("masking", "deterministic", "partial")
    )
    return _UserFile(masking, deterministic, aggregates, partial)


_SECTIONS = {"masking", "deterministic", "aggregates", "partial"}


def _by_dialect(path: Path, section: str, data: dict[str, Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found = []
    for group, names in data.get(section, {}).items():
        if group != "any" and group not in DIALECTS:
            raise FunctionsFileError(f"{path}: [{section}] {group}: unknown dialect; `any` applies to all dialects")
        found.append((group, _names(path, f"[{section}] {group}", names)))
    return tuple(found)


def deterministic_functions(dialect: str, files: Iterable[str | Path]) -> frozenset[str]:
    """Return the functions in lower case whose value depends on their arguments alone, as the user's files list them.

    Raises:
        FunctionsFileError: a file does not have the format of functions.toml.
        OSError: a file cannot be read.
    """
    listed = (one for file in files for one in _user_file(Path(file)).deterministic)
    return frozenset(name.lower() for group, names in listed if group in ("any", dialect) for name in names)


def _names(path: Path, place: str, names: object) -> tuple[str, ...]:
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise FunctionsFileError(f"{path}: {place}: expected a list of function names")
    return tuple(names)


@cache
def pseudo_columns(dialect: str) -> frozenset[str]:
    """Return a dialect's pseudo-columns, which every table has and no schema lists, folded as the dialect does."""
    return frozenset(_listed_pseudo_columns().get(dialect, ()))


def hierarchy_columns(dialect: str) -> frozenset[str]:
    """Return the pseudo-columns of a query with CONNECT BY, where others have no such column."""
    return frozenset(_listed_pseudo_columns()["connect_by"].get(dialect, ()))


@cache
def _listed_pseudo_columns() -> dict[str, Any]:
    return tomllib.loads(files("lineage.sql.resolve").joinpath("pseudo_columns.toml").read_text(encoding="utf-8"))


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(files("lineage.sql.resolve.calls").joinpath("functions.toml").read_text(encoding="utf-8"))
