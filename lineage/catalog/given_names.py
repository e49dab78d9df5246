"""Names as people write them in catalog files, and as the database stores them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

__all__ = ["Fold", "flatten_tables", "stored_names", "unquote"]


class Fold(Protocol):
    """How a dialect compares names, unquoted and quoted."""

    def __call__(self, name: str, /, *, quoted: bool = False) -> str:
        """Return the folded name."""


def flatten_tables(tables: Mapping[str, Any], path: tuple[str, ...]) -> Iterable[tuple[str, Any]]:
    """Yield the tables of `{schema: {table: columns}}`, nested to any depth, by their dotted names."""
    for name, value in tables.items():
        full = (*path, str(name))
        if isinstance(value, Mapping) and value and all(isinstance(v, Mapping | list) for v in value.values()):
            yield from flatten_tables(value, full)
        else:
            yield ".".join(full), value


def stored_names(names: Sequence[tuple[str, bool]], fold: Fold) -> list[str]:
    """Return names as the database stores them, from names in a catalog file, each with a flag: whether it was quoted.

    A catalog file has stored names, but people often write stored upper case names in lower case, or vice versa. So a
    name that is quoted or in mixed case is kept as it is, and so are all names if one of them is in the case that the
    dialect folds to; otherwise names are folded.

    >>> from lineage.model.dialects import dialect_named
    >>> fold = dialect_named("snowflake").fold_column
    >>> stored_names([("id", False), ("userName", False)], fold), stored_names([("ID", False), ("note", False)], fold)
    (['ID', 'userName'], ['ID', 'note'])
    """
    as_stored = any(
        not quoted and name == fold(name) and name != name.swapcase() and fold("aA") != "aA" for name, quoted in names
    )

    def is_exact(name: str, quoted: bool) -> bool:
        return quoted or as_stored or not (name.islower() or name.isupper())

    return [fold(name, quoted=is_exact(name, quoted)) for name, quoted in names]


def unquote(name: str) -> tuple[str, bool]:
    """Return a column's name without surrounding quotes, and whether it was quoted."""
    for opening, closing in ('""', "``", "[]"):
        inside = name[1:-1]
        if (
            len(name) > 2
            and name[0] == opening
            and name[-1] == closing
            and opening not in inside.replace(closing * 2, "")
        ):
            return inside.replace(closing * 2, closing), True
    return name, False
