"""Rewrite statements that return a whole node or relationship to return its properties.

ladybug takes twice as long to build a node, and repeats the property names in each row.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from lineage.frozen import frozen
from lineage.store.cypher.schema import LABELS, RELATIONSHIPS

__all__ = ["ReturnedProperties", "projection"]

_WHOLE = re.compile(r"(?P<before>\sRETURN .*, |\sRETURN )(?P<name>[ne])(?P<after>, o\.key AS of)?\s*$", re.DOTALL)


@frozen
class ReturnedProperties:
    """A statement that returns the properties of a node or relationship `name` as adjacent columns."""

    statement: str
    name: str
    properties: tuple[str, ...]

    def rows(self, names: Sequence[str], answers: Iterable[Sequence[Any]]) -> Iterator[dict[str, Any]]:
        """Yield rows as the original statement returns them."""
        begin = names.index(f"{self.name}_{self.properties[0]}")
        end = begin + len(self.properties)
        others = (*names[:begin], *names[end:])
        for values in answers:
            row = dict(zip(others, (*values[:begin], *values[end:]), strict=True))
            row[self.name] = dict(zip(self.properties, values[begin:end], strict=True))
            yield row


@cache
def projection(statement: str) -> ReturnedProperties | None:
    """Return the rewritten statement; None if the labels or types are not known.

    >>> projection("MATCH (a)-[e:READS]->(b) RETURN a.key AS job, e").properties
    ('type', 'first_seen', 'last_seen')
    """
    found = _WHOLE.search(statement)
    if found is None:
        return None
    name = found.group("name")
    kinds = re.search(rf"[(\[]{name}:([\w|`]+)", statement)
    if kinds is None:
        return None
    named = kinds.group(1).replace("`", "").split("|")
    if name == "n":
        properties: tuple[str, ...] = ("key", *LABELS[named[0]])
        asked = [f"n.`{one}`" for one in properties]
    else:
        properties = tuple(dict.fromkeys(("type", *(one for kind in named for one in RELATIONSHIPS[kind].properties))))
        asked = ["label(e)", *(f"e.`{one}`" for one in properties[1:])]
    listed = ", ".join(f"{one} AS `{name}_{of}`" for one, of in zip(asked, properties, strict=True))
    text = f"{statement[: found.start()]}{found.group('before')}{listed}{found.group('after') or ''}"
    return ReturnedProperties(text, name, properties)
