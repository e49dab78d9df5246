"""Fields of values: how they are read by name, and those of a value that is one of several."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TypeAlias

from lineage.model.dialect import Dialect
from lineage.model.names import ColumnPath
from lineage.sql.resolve.relations import STAR, ColumnSource, Composite, Relation, Sources, absorb
from lineage.sql.resolve.transformation_codes import IDENTITY

__all__ = ["ValueFields", "RowFields", "known_names", "merged"]

Part: TypeAlias = "tuple[Sources, int]"
"""A value, and what is done to it."""


class ValueFields:
    """Reads fields of values."""

    def __init__(self, source: Callable[[str, str, bool], ColumnSource], dialect: Dialect) -> None:
        self._source = source
        self._dialect = dialect

    def __call__(self, value: Sources, path: Sequence[str], *, closed: bool = False) -> Sources:
        """Return the sources of a nested field, given its path below a value.

        The fields of a struct that the query builds are known exactly; if it is `closed`, other keys read nothing. A
        field of a base column is a column with a path. A field of any other value may come from the whole value.
        """
        for depth, name in enumerate(path):
            while isinstance(value, Composite) and value.fields is None and value.whole is not None:
                closed = closed or value.closed
                value = value.whole
            if not isinstance(value, Composite) or value.fields is None:
                return self._path(value, path[depth:])
            closed = closed or value.closed
            key = self._key(value.fields, name) if closed else name
            if key in value.fields:
                value = value.fields[key]
            elif closed and STAR not in value.fields:
                return {}
            else:
                return self._path(value, path[depth:])
        return value

    def _key(self, fields: Collection[str], key: str) -> str:
        """Return the field that a key means. Snowflake's keys are columns' names, in capitals."""
        fold = self._dialect.fold_column
        candidates = (key, fold(key, quoted=True), _upper(fold, key))
        return key if STAR in fields else next((one for one in candidates if one in fields), key)

    def _path(self, value: Sources, path: Sequence[str]) -> Sources:
        suffix = f".{ColumnPath(tuple(path))}"
        nested: Sources = {}
        for (source, effect), place in value.items():
            is_column = effect == IDENTITY
            inner = self._source(source.table, source.column + suffix, source.ambiguous) if is_column else source
            nested[(inner, effect)] = place
        return nested


def _upper(fold: Callable[[str], str], key: str) -> str:
    folded = fold(key)
    return folded if folded == key.upper() else key


def known_names(value: Sources) -> tuple[str, ...] | None:
    """Return the names of the fields that the query gives a value; None if they are not known."""
    if not isinstance(value, Composite) or value.fields is None or STAR in value.fields:
        return None
    return tuple(value.fields)


def merged(
    field: ValueFields,
    parts: Sequence[Part],
    deciding: Sources,
    names: tuple[str, ...] | None = None,
    *,
    compared: bool = False,
) -> Sources:
    """Return the sources of a value that is one of several, with the fields of all; `deciding` influences each.

    `names` are those of the fields: by default those of the first value that the query builds. If the values are
    `compared`, the fields before a field decide it, too.
    """
    total: Sources = {}
    for value, effect in parts:
        absorb(total, value, effect, None)
    absorb(total, deciding, IDENTITY, None)
    given = [value for value, _ in parts if value]
    if not any(isinstance(value, Composite) or _is_stored(value) for value in given):
        return total
    names = names or next((own for value in given if (own := known_names(value)) is not None), None)
    composites = [value for value in given if isinstance(value, Composite)]
    lists = max((value.lists for value in composites), default=0)
    closed = bool(composites) and all(value.closed for value in composites)
    fields = _MergedFields(field, parts, deciding, names, compared=compared)
    return Composite(total, fields, lists=lists, closed=closed)


def _is_stored(value: Sources) -> bool:
    return any(effect == IDENTITY for _, effect in value)


class _MergedFields(Mapping[str, Sources]):
    """The fields of a value that is one of several: by their names, where one has other names by their positions."""

    def __init__(
        self,
        field: ValueFields,
        parts: Sequence[Part],
        deciding: Sources,
        names: tuple[str, ...] | None,
        *,
        compared: bool,
    ) -> None:
        self._field = field
        self._parts = parts
        self._deciding = deciding
        self._names = names
        self._compared = compared

    def __getitem__(self, name: str) -> Sources:
        if self._names is not None and name not in self._names:
            raise KeyError(name)
        deciding = self._deciding
        if self._compared:
            deciding = dict(deciding)
            for value, effect in self._parts:
                for before in self._before(name):
                    absorb(deciding, self._of(value, before) if before != STAR else value, effect, None)
        parts = [(self._of(value, name), effect) for value, effect in self._parts]
        return merged(self._field, parts, deciding, compared=self._compared)

    def _before(self, name: str) -> tuple[str, ...]:
        return (STAR,) if self._names is None else self._names[: self._names.index(name)]

    def _of(self, value: Sources, name: str) -> Sources:
        own = known_names(value)
        if own is not None and self._names is not None and set(own) != set(self._names):
            position = self._names.index(name)
            name = own[position] if position < len(own) else name
        return self._field(value, [name])

    def __contains__(self, name: object) -> bool:
        return self._names is None or name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter((STAR,) if self._names is None else self._names)

    def __len__(self) -> int:
        return 1 if self._names is None else len(self._names)


class RowFields(Mapping[str, Sources]):
    """The fields of a row as a value: the columns of its relation."""

    def __init__(self, relation: Relation) -> None:
        self._relation = relation

    def __getitem__(self, name: str) -> Sources:
        sources = self._relation.find(name)
        if sources is None and self._relation.is_open:
            sources = self._relation.infer(name)
        if sources is None:
            raise KeyError(name)
        return sources

    def __iter__(self) -> Iterator[str]:
        return iter(name for name, _ in self._relation.columns())

    def __len__(self) -> int:
        return sum(1 for _ in self)
