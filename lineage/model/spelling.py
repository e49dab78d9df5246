"""How a name is written, beside the name by which it is compared: T-SQL finds `FactSales` as `factsales`."""

from __future__ import annotations

__all__ = ["Spelled", "likelier_spelling", "spelling_of"]


class Spelled(str):
    """A name as its dialect compares it, which is all that counts, and how it was written.

    Only names of dialects whose products show names as they were written are such, and only where the two differ.
    It is equal to the bare name, so that nothing that looks names up has to know of it.

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
        # By itself pickle makes it without its second argument.
        return Spelled, (str(self), self.spelling)


def spelling_of(name: str, spelling: str | None) -> str | None:
    """Return a spelling if it is one of this name, and differs from it: a name that changed has another.

    >>> spelling_of("dbo.factsales", "dbo.FactSales"), spelling_of("dbo.sales", "dbo.FactSales")
    ('dbo.FactSales', None)
    """
    if spelling is None or spelling == name or spelling.casefold() != name.casefold():
        return None
    return spelling


def likelier_spelling(one: str | None, other: str | None) -> str | None:
    """Return which spelling counts of two references that nothing else tells apart, whichever comes first.

    Mixed case counts before upper case, which people type for any name; what is written as it is compared comes last.

    >>> likelier_spelling("ORDERID", "OrderID"), likelier_spelling(None, "ORDERID")
    ('OrderID', 'ORDERID')
    """
    if one is None or other is None:
        return one or other
    return min(one, other, key=lambda text: (text.isupper(), text))
