"""Name the clauses by which the row set of an edited definition differs."""

from __future__ import annotations

from collections import Counter, defaultdict

from lineage.sql.canonical.forms.table_form import ClauseForm, TableForm

__all__ = ["changed_clauses"]

_ORDER = ("FROM", "JOIN", "VALUES", "WHERE", "GROUP BY", "HAVING", "QUALIFY", "set operation", "DISTINCT",
          "DISTINCT ON", "ORDER BY", "LIMIT")  # fmt: skip
"""Clauses in the order in which SQL evaluates them."""


def changed_clauses(before: TableForm, after: TableForm) -> tuple[str, ...]:
    """Return the names of the clauses that differ, in the order of evaluation; none if the rows are the same.

    A clause that means something else only because of one before it, and is written as it was, is not named. If all
    are written as they were, the first that means something else is named.
    """
    if before.rows == after.rows:
        return ()
    one, other = _by_name(before.clauses), _by_name(after.clauses)
    differing = [name for name in one.keys() | other.keys() if _count(one, name, 1) != _count(other, name, 1)]
    differing.sort(key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name))
    written = [name for name in differing if _count(one, name, 2) != _count(other, name, 2)]
    return tuple(written or differing[:1])


def _by_name(clauses: tuple[ClauseForm, ...]) -> dict[str, list[ClauseForm]]:
    found: dict[str, list[ClauseForm]] = defaultdict(list)
    for clause in clauses:
        found[clause.name].append(clause)
    return found


def _count(clauses: dict[str, list[ClauseForm]], name: str, part: int) -> Counter[str]:
    return Counter(clause[part] for clause in clauses.get(name, ()))
