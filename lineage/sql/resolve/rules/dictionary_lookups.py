"""ClickHouse's functions that look values up in a table which a string names: dictGet and joinGet.

https://clickhouse.com/docs/sql-reference/functions/ext-dict-functions
https://clickhouse.com/docs/sql-reference/functions/other-functions#joinget
"""

from __future__ import annotations

import re

from sqlglot import exp

from lineage.model.names import split_name
from lineage.sql.resolve.relations import Sources, absorb
from lineage.sql.resolve.resolver import Resolver, Stack
from lineage.sql.resolve.transformation_codes import COMPOSE, CONDITIONAL, IDENTITY, TRANSFORMATION

__all__ = ["look_up"]

_LOOKUP = re.compile(r"(?:dict(?:get\w*|has|isin)|joinget(?:ornull)?)\Z")
_OF_KEYS = ("dicthas", "dictisin", "dictgethierarchy", "dictgetchildren", "dictgetdescendants")
"""Functions of a dictionary's keys, which name no column."""


def look_up(resolver: Resolver, node: exp.Expr, effect: int, stack: Stack, sink: Sources) -> bool:
    """Add the sources of `dictGet('db.dictionary', 'column', key)`; return whether the function is such a lookup.

    The key selects the row, so it is a CONDITIONAL reference; the default of `dictGetOrDefault` is a value.
    """
    name, arguments = node.name.lower(), node.expressions
    if not _LOOKUP.match(name) or not resolver.naming.dialect.functions_read_tables or len(arguments) < 2:
        return False
    named, columns = arguments[0], arguments[1:2]
    if not (isinstance(named, exp.Literal) and named.is_string):
        return False
    parts = [exp.to_identifier(part, quoted=True) for part, _ in split_name(named.name)]
    relation = resolver.table(exp.Table(**dict(zip(("this", "db", "catalog"), reversed(parts), strict=False))))
    if name.startswith(_OF_KEYS):
        stack.extend((argument, COMPOSE[effect][TRANSFORMATION]) for argument in reversed(arguments[1:]))
        return True
    listed = columns[0].expressions if isinstance(columns[0], exp.Tuple | exp.Struct) else columns
    step = IDENTITY if len(listed) == 1 and not name.endswith("ordefault") else TRANSFORMATION
    for column in listed:
        if isinstance(column, exp.Literal) and column.is_string:
            found = relation.find(column.name) or (relation.infer(column.name) if relation.is_open else None)
            absorb(sink, found or {}, COMPOSE[effect][step], column)
        else:
            stack.append((column, COMPOSE[effect][TRANSFORMATION]))
    keys, defaults = arguments[2:], []
    if name.endswith("ordefault") and keys:
        keys, defaults = keys[:-1], keys[-1:]
    stack.extend((value, COMPOSE[effect][TRANSFORMATION]) for value in defaults)
    stack.extend((key, COMPOSE[effect][CONDITIONAL]) for key in reversed(keys))
    return True
