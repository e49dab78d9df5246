"""The original spelling of a case-insensitive name: T-SQL compares `FactSales` as `factsales`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

__all__ = ["Spelled", "any_spelled", "as_written", "likelier_spelling", "own_spelling", "spelling_of"]


class Spelled(str):
    """A name as its dialect compares it, with its original spelling.

    Used only for dialects whose products display names as written, and only if the two differ. It equals and hashes
    like the plain name, so lookups need not handle it.

    >>> name = Spelled("factsales", "FactSales")
    >>> name == "factsales", {"factsales": 1}[name], name.spelling
    (True, 1, 'FactSales')
    """

    __slots__ = ("spelling",)

    spelling: str
    kinds: ClassVar[set[type]] = set()

    def __init_subclass__(cls) -> None:
        """Count names of the subclass among those with a spelling."""
        Spelled.kinds.add(cls)

    def __new__(cls, name: str, spelling: str) -> Spelled:
        """Return the name with its spelling."""
        made = super().__new__(cls, name)
        made.spelling = spelling
        return made

    def __reduce__(self) -> tuple[object, ...]:
        # By default pickle calls __new__ without the second argument.
        return Spelled, (str(self), self.spelling)


Spelled.kinds.add(Spelled)


def any_spelled(names: Iterable[str]) -> bool:
    """Return whether one of the names has a spelling. It is asked of each name of each query, so no loop runs here."""
    return not Spelled.kinds.isdisjoint(map(type, names))


def own_spelling(name: str | None) -> str | None:
    """Return the spelling that a name carries; None if it carries none.

    >>> own_spelling(Spelled("factsales", "FactSales")), own_spelling("factsales")
    ('FactSales', None)
    """
    return name.spelling if isinstance(name, Spelled) else None


def as_written(name: str) -> str:
    """Return the spelling that a name carries, else the name.

    >>> as_written(Spelled("factsales", "FactSales")), as_written("factsales")
    ('FactSales', 'factsales')
    """
    return name.spelling if isinstance(name, Spelled) else name


def spelling_of(name: str, spelling: str | None) -> str | None:
    """Return the spelling if it differs from this name in case only; None if it is equal, or of another name.

    >>> spelling_of("dbo.factsales", "dbo.FactSales"), spelling_of("dbo.sales", "dbo.FactSales")
    ('dbo.FactSales', None)
    """
    if spelling is None or spelling == name or spelling.casefold() != name.casefold():
        return None
    return spelling


def likelier_spelling(spelling: str | None, other: str | None) -> str | None:
    """Return the preferred one of two references' spellings, whatever their order.

    Mixed case is preferred to upper case, which people type for any name; no spelling (None) comes last.

    >>> likelier_spelling("ORDERID", "OrderID"), likelier_spelling(None, "ORDERID")
    ('OrderID', 'ORDERID')
    """
    if spelling is None or other is None:
        return spelling or other
    return min(spelling, other, key=lambda text: (text.isupper(), text))
