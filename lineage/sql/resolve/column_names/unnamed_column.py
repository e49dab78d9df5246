"""The name of a column that an engine names by its expression, with the literals masked.

Names are stored and shown, and a literal may be personal data: `(a + 'Ann')` is `(a + ?)`. Within one run the name also
knows the text, so that a query can read the column by its real name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lineage.model.dialects import Dialect
from lineage.model.spelling import Spelled

__all__ = ["UncertainName", "UnnamedColumn", "mark_literal", "may_be_named", "unnamed_column"]

_BEGIN, _END = "\x01", "\x02"
_LITERAL = re.compile(f"{_BEGIN}[^{_END}]*{_END}")
_MARKS = str.maketrans("", "", _BEGIN + _END)
_MASKED = re.compile(r"\\\?\d*")


def mark_literal(text: str) -> str:
    """Return a literal with the marks by which `unnamed_column` finds it."""
    return f"{_BEGIN}{text.translate(_MARKS)}{_END}"


class UnnamedColumn(Spelled):
    """A masked name as the dialect compares it, its spelling, and the text without masks, as compared.

    The text never leaves the process: a pickled name is a `Spelled`.
    """

    __slots__ = ("text",)

    text: str

    def __reduce__(self) -> tuple[object, ...]:
        return Spelled, (str(self), self.spelling)


class UncertainName(str):
    """A name in place of one that is not known: the engine has another."""

    __slots__ = ()


def unnamed_column(marked: str, dialect: Dialect, earlier: Iterable[str] = ()) -> UnnamedColumn:
    """Return the name of a column, given the engine's text of it with marks around the literals.

    A literal is `?`. If an `earlier` column of the select list differs from this one in a literal only, the last
    literal is `?2`, and so on: they are two columns.
    """
    text = dialect.fold_column(marked.translate(_MARKS), quoted=True)
    masked = _LITERAL.sub("?", marked)
    taken = {str(name): name.text if isinstance(name, UnnamedColumn) else None for name in earlier}
    shown, number = masked, 1
    while (other := taken.get(dialect.fold_column(shown, quoted=True), "")) != "" and other != text:
        number += 1
        head, _, tail = masked.rpartition("?")
        shown = f"{head}?{number}{tail}" if "?" in masked else masked
        if shown == masked:
            break
    made = UnnamedColumn(str(dialect.fold_column(shown, quoted=True)), shown)
    made.text = str(text)
    return made


def may_be_named(column: str, name: str) -> bool:
    """Return whether `name`, without masks, may be that of a column whose name is masked.

    >>> may_be_named("(a + ?)", "(a + 1)"), may_be_named("(a + ?)", "(b + 1)"), may_be_named("a", "a")
    (True, False, False)
    """
    if isinstance(column, UnnamedColumn):
        return column.text == name
    return "?" in column and re.fullmatch(_MASKED.sub(".+", re.escape(column)), name, re.DOTALL) is not None
