"""The original spelling of a case-insensitive name: T-SQL compares `FactSales` as `factsales`."""

from __future__ import annotations

__all__ = ["Spelled", "likelier_spelling", "spelling_of"]


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

    def __new__(cls, name: str, spelling: str) -> Spelled:
        """Return the name with its spelling."""
        made = super().__new__(cls, name)
        made.spelling = spelling
        return made

    def __reduce__(self) -> tuple[object, ...]:
        # By default pickle calls __new__ without the second argument.
        return Spelled, (str(self), self.spelling)


def spelling_of(name: str, spelling: str | None) -> str | None:
    """Return the spelling if it differs from this name in case only; None if it is equal, or of another name.

    >>> spelling_of("dbo.factsales", "dbo.FactSales"), spelling_of("dbo.sales", "dbo.FactSales")
    ('dbo.FactSales', None)
    """
    if spelling is None or spelling == name or spelling.casefold() != name.casefold():
        return None
    return spelling


def likelier_spelling(one: str | None, other: str | None) -> str | None:
    """Return the preferred one of two references' spellings, whatever their order.

    Mixed case is preferred to upper case, which people type for any name; no spelling (None) comes last.

    >>> likelier_spelling("ORDERID", "OrderID"), likelier_spelling(None, "ORDERID")
    ('OrderID', 'ORDERID')
    """
    if one is None or other is None:
        return one or other
    return min(one, other, key=lambda text: (text.isupper(), text))
