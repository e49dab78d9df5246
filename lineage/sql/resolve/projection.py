"""The output columns of a query block, collected one by one."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from lineage.sql.resolve.relations import Relation, Sources
from lineage.sql.resolve.resolution import Resolution

__all__ = ["Projection"]


def _position(key: exp.Expr) -> int | None:
    """Return the position, from 0, that an integer literal in GROUP BY or ORDER BY refers to."""
    if type(key) is not exp.Literal or key.is_string or not str(key.this).isdigit():
        return None
    return int(key.this) - 1 if int(key.this) else None


class Projection:
    """Output columns in order: names, sources, and the expression of each (None for columns of a star)."""

    __slots__ = ("expressions", "names", "opens", "sources")

    def __init__(self, names: Sequence[str] = (), sources: Sequence[Sources] = ()) -> None:
        self.names = list(names)
        self.sources = list(sources)
        self.expressions: list[exp.Expr | None] = [None] * len(names)
        self.opens: list[Relation] = []

    def add(self, name: str, sources: Sources, expression: exp.Expr | None) -> None:
        """Append a column."""
        self.names.append(name)
        self.sources.append(sources)
        self.expressions.append(expression)

    def sources_of(self, name: str) -> list[Sources]:
        """Return the sources of the columns of a name."""
        return [sources for own, sources in zip(self.names, self.sources, strict=True) if own == name]

    def keep(self, indexes: Sequence[int]) -> None:
        """Remove all columns but those at these indexes."""
        self.names = [self.names[index] for index in indexes]
        self.sources = [self.sources[index] for index in indexes]
        self.expressions = [self.expressions[index] for index in indexes]

    def ordinal(self, key: exp.Expr) -> Sources | None:
        """Return the sources of the column that an integer literal in GROUP BY or ORDER BY refers to."""
        position = _position(key)
        return self.sources[position] if position is not None and position < len(self.sources) else None

    def key_expression(self, key: exp.Expr) -> exp.Expr:
        """Return a key's expression: for an integer literal, that of the column it refers to."""
        position = _position(key)
        found = self.expressions[position] if position is not None and position < len(self.expressions) else None
        return found or key

    def key_name(self, key: exp.Expr) -> str | None:
        """Return the name of the column that a key is, also by an integer literal; None if it is an expression."""
        position = _position(key)
        if position is not None and position < len(self.names) and self.expressions[position] is None:
            return self.names[position]
        written = self.key_expression(key)
        return written.name if type(written) is exp.Column else None

    def sources_of_alias(self, key: exp.Expr, resolver: Resolution) -> Sources | None:
        """Return the sources of the output column that an unqualified name in ORDER BY refers to, if there is one."""
        if type(key) is exp.Column and type(key.this) is exp.Identifier and key.args.get("table") is None:
            name = resolver.identifiers.column(key.this)
            name = resolver.unnamed.get(name, name)
            if name in self.names:
                return self.sources[self.names.index(name)]
        return None
