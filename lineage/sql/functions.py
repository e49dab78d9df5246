"""What functions do to a value: compute with it, aggregate it, hide it. The names are data, in functions.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from sqlglot import exp

from lineage.sql.effects import AGGREGATION, MASKED_AGGREGATION, MASKED_TRANSFORMATION, TRANSFORMATION
from lineage.sql.extensions import Rules, installed_rules

__all__ = ["FunctionEffects", "pseudo_columns"]


class FunctionEffects:
    """Tells the effect of a function by its type in the syntax tree or, where it has none, by its name."""

    def __init__(self, masking: Iterable[str], aggregates: Iterable[str]) -> None:
        self._masking = frozenset(map(_plain, masking))
        self._aggregates = frozenset(map(_plain, aggregates))
        self.steps: dict[type[exp.Expr], int] = {}
        """Effects by type, once they were asked for. No effect of a function is 0."""

    @classmethod
    def load(cls, *, masking: Iterable[str] = (), aggregates: Iterable[str] = ()) -> FunctionEffects:
        """Return the product's own list, with the installed packages' and the given names added to it."""
        return _effects(installed_rules(), tuple(masking), tuple(aggregates))

    def of_name(self, name: str) -> int:
        """Return the effect of a function that the parser knows by name only.

        >>> from lineage.sql.effects import STEPS
        >>> STEPS[FunctionEffects.load().of_name("SHA256")]
        Step(subtype=<Subtype.TRANSFORMATION: 'TRANSFORMATION'>, masking=True)
        """
        plain = _plain(name)
        return self._effect(plain in self._masking, plain in self._aggregates)

    def of_type(self, kind: type[exp.Func]) -> int:
        """Return the effect of a function that the parser knows."""
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
    """Return a function's name as it is compared: the parser's own names set underscores where others have none."""
    return name.lower().replace("_", "")


@lru_cache(maxsize=32)
def _effects(installed: Rules, masking: tuple[str, ...], aggregates: tuple[str, ...]) -> FunctionEffects:
    """Return one object for all statements that know the same functions: what it learns of types is shared."""
    data = _data()
    listed = (name for group in data["masking"].values() for name in group)
    return FunctionEffects(
        (*listed, *installed.masking_names, *masking),
        (*data["aggregates"]["names"], *installed.aggregate_names, *aggregates),
    )


@cache
def pseudo_columns(dialect: str) -> frozenset[str]:
    """Return the columns of a dialect that every row has and no schema lists, folded as the dialect folds them."""
    data = tomllib.loads(files("lineage.sql").joinpath("pseudo_columns.toml").read_text(encoding="utf-8"))
    return frozenset(data.get(dialect, ()))


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(files("lineage.sql").joinpath("functions.toml").read_text(encoding="utf-8"))
