"""The name of a column that an engine names by its expression, with the literals masked.

Names are stored and shown, and a literal may be personal data: `(a + 'Ann')` is `(a + ?)`. Within one run the name also
knows the text, so that a query can read the column by its real name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lineage.model.dialect import Dialect
from lineage.model.spelling import Spelled

__all__ = ["UncertainName", "UnnamedColumn", "mark_literal", "may_be_named", "unnamed_column"]

_BEGIN, _END = "\x01", "\x02"
_LITERAL = re.compile(f"{_BEGIN}[^{_END}]*{_END}")
_LISTED = re.compile(r"((?:\bIN ?|, ?)\()\?(?:, ?\?)+\)", re.IGNORECASE)
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


def unnamed_column(
    marked: str, dialect: Dialect, earlier: Sequence[str] = (), shown: str | None = None
) -> UnnamedColumn:
    """Return the name of a column, given the engine's text of it with marks around the literals.

    A literal is `?`, and so is a list of them. If columns before it in the select list have the same masked name, its
    last literal is `?2`, and so on, whatever the literals are: statements of one fingerprint have the same names.
    `shown` is the text to mask and show, if that is not the engine's own (spaces as written).
    """
    masked = shown if shown is not None else marked
    if _BEGIN in masked or "?" in masked:
        masked = _LISTED.sub(r"\1?)", _LITERAL.sub("?", masked))
    head, mark, tail = masked.rpartition("?")
    number = 1
    folded = dialect.fold_column(masked, quoted=True)
    while mark and folded in earlier:
        number += 1
        masked = f"{head}?{number}{tail}"
        folded = dialect.fold_column(masked, quoted=True)
    made = UnnamedColumn(str(folded), masked)
    made.text = str(dialect.fold_column(marked.translate(_MARKS), quoted=True))
    return made


def may_be_named(column: str, name: str) -> bool:
    """Return whether `name`, without masks, may be that of a column whose name is masked; spaces do not count.

    >>> may_be_named("(a + ?)", "(a + 1)"), may_be_named("(a + ?)", "(b + 1)"), may_be_named("a", "a")
    (True, False, False)
    """
    if "?" not in column and not isinstance(column, UnnamedColumn):
        return False
    pattern = _MASKED.sub(".+", re.escape("".join(column.split())))
    return re.fullmatch(pattern, "".join(name.split()), re.DOTALL) is not None
