"""The functions that a query may be run for: what they do is their own, and no query shows it."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from lineage.model.dialect import Dialect
from lineage.sql.parse.statements import parse_statements

__all__ = ["user_functions"]

_MOVE_NO_ROWS = frozenset(("setval", "nextval", "set_config", "txid_current"))
_OF_THE_SYSTEM = ("pg_", "system$", "current_")


def user_functions(text: str, dialect: Dialect) -> tuple[str, ...]:
    """Return the names of the functions in a text, as written, that may do something to tables.

    These are the ones that SQL does not define: others only compute a value.

    >>> from lineage.model.dialects import dialect_named
    >>> user_functions("SELECT audit.refresh(max(id)), pg_notify('a', 'b') FROM t", dialect_named("postgres"))
    ('audit.refresh',)
    """
    trees = (parsed.tree for parsed in parse_statements(text, dialect))
    return tuple(dict.fromkeys(name for tree in trees if tree is not None for name in _calls(tree)))


def _calls(tree: exp.Expr) -> Iterator[str]:
    for call in tree.find_all(exp.Anonymous, bfs=False):
        name = call.name.lower()
        if name in _MOVE_NO_ROWS or name.startswith(_OF_THE_SYSTEM):
            continue
        schema = call.parent.this.sql() if isinstance(call.parent, exp.Dot) else ""
        yield f"{schema}.{call.name}" if schema else call.name
