"""M (Power Query): where a column of a query's result comes from, step by step, and what decides its rows.

https://learn.microsoft.com/en-us/powerquery-m/table-functions
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic
from lineage.model.text.name_lists import name_list
from lineage_ingest.bi.exported import QueryProblems
from lineage_ingest.bi.powerbi.m_row import row_reads
from lineage_ingest.bi.powerbi.m_source import DATABASES, MSource, source_of
from lineage_ingest.bi.powerbi.m_steps import MSteps, appended, called, navigation_of
from lineage_ingest.bi.powerbi.m_text import m_text, split_at, strings
from lineage_ingest.bi.templates.written_sql import LITERAL, quote

__all__ = ["MJoin", "MQuery"]

_SAME_COLUMNS = frozenset(
    (
        "Table.TransformColumnTypes", "Table.SelectColumns", "Table.RemoveColumns", "Table.ReorderColumns",
        "Table.Sort", "Table.Buffer", "Table.FirstN",
        "Table.RemoveLastN", "Table.Skip", "Table.RemoveFirstN", "Table.LastN",
        "Table.ReverseRows",
        "Table.AlternateRows", "Table.Range", "Table.Repeat",
        "Table.ReplaceErrorValues", "Table.StopFolding", "Table.AddKey", "Table.View",
    )
)  # fmt: skip
_FILTERS = frozenset(("Table.SelectRows", "Table.RemoveRows"))
_BY_NAME = frozenset(("Table.Distinct", "Table.Group", "Table.RemoveRowsWithErrors", "Table.SelectRowsWithErrors"))
"""Steps that keep rows by the columns in their second argument."""
_TRANSFORMS = frozenset(("Table.TransformColumns", "Table.ReplaceValue", "Table.FillDown", "Table.FillUp"))
_MADE_OF = {
    "Table.SplitColumn": 3,
    "Table.CombineColumns": 3,
    "Table.ExpandRecordColumn": -1,
    "Table.ExpandListColumn": 1,
}
"""Steps that make columns of others: the second argument names these, the one with this number the new ones."""
_MERGE = "Table.NestedJoin"
_NEW_COLUMNS = frozenset(
    ("Table.Pivot", "Table.Unpivot", "Table.UnpivotOtherColumns", "Table.Transpose", "Table.PromoteHeaders",
     "Table.DemoteHeaders", "Table.FromRecords", "Table.FromColumns", "Table.FromRows")
)  # fmt: skip
"""Steps whose columns have other names than those before, which their arguments need not have."""
_LIMITS = frozenset(
    ("Table.FirstN", "Table.LastN", "Table.Skip", "Table.RemoveFirstN", "Table.RemoveLastN", "Table.Range",
     "Table.AlternateRows")
)  # fmt: skip
"""Steps that keep rows by their order."""
_MAX_DEPTH = 200
_TOO_MANY = "the query has too many steps to be read, or steps that read themselves"


@frozen
class _Step:
    """A step of a query, seen from one column of its result; `before` returns the SQL of a column before the step."""

    function: str
    arguments: list[str]
    query: str
    previous: tuple[str, str]
    column: str
    alias: str
    depth: int
    before: Callable[[str], str]

    def named(self) -> set[str]:
        """Return the names in its arguments after the first, which is the step before."""
        return {text for one in self.arguments[1:] for text in strings(one)}


@frozen
class MJoin:
    """A table that is merged: its alias, its source, and the condition."""

    alias: str
    source: MSource
    condition: str


class MQuery:
    """One query. `others` are the queries and parameters that it may refer to, by name.

    `joins` has the tables that it merges; all of them are known after `filters`.
    """

    def __init__(
        self, text: str, others: Mapping[str, str], dialect: str = "ansi", parts: Mapping[str, int] | None = None
    ) -> None:
        """`parts` says which of the tables that a step appends is read, by the step (see `MSteps`)."""
        self.dialect = dialect
        self.joins: dict[tuple[str, ...], MJoin] = {}
        self._problems = QueryProblems()
        self._steps = MSteps(text, others, self._problems, parts or {})
        self._readers: dict[str, tuple[int, Callable[[_Step], str | None]]] = {
            "Table.AddColumn": (3, self._added),
            "Table.AddIndexColumn": (2, lambda _: "NULL"),
            "Table.ExpandTableColumn": (3, self._expanded),
            "Table.Group": (3, self._grouped),
            "Table.Unpivot": (4, _unpivoted),
            "Table.UnpivotOtherColumns": (4, _unpivoted),
            **dict.fromkeys(_TRANSFORMS, (1, _transformed)),
            **{function: (max(made, 1) + 1, _made_of) for function, made in _MADE_OF.items()},
        }
        """What reads a step that makes columns, with the number of arguments that this takes."""

    @property
    def problems(self) -> list[Diagnostic]:
        """What could not be read so far."""
        return self._problems.found

    def source(self) -> MSource | None:
        """Return what the query reads; None if that is no database."""
        return source_of(self._steps, "", self._steps.result(""))

    def trace(self, column: str, alias: str) -> str:
        """Return the SQL of a column of the result, over the query's source with this alias."""
        return self._trace("", self._steps.result(""), column, alias, 0)

    def filters(self, alias: str) -> list[str]:
        """Return the conditions that decide the rows, as SQL."""
        return self._filters("", self._steps.result(""), alias)

    def is_distinct(self) -> bool:
        """Return whether a step keeps one of equal rows: all columns decide."""
        at: tuple[str, str] | None = ("", self._steps.result(""))
        for _ in range(_MAX_DEPTH):
            if at is None:
                break
            function, arguments = called(at[1])
            if function == "Table.Distinct" and len(arguments) == 1:
                return True
            at = self._steps.previous(*at)
        return False

    def _filters(self, scope: str, expression: str, alias: str) -> list[str]:
        found: list[str] = []
        is_limited = False
        for _ in range(_MAX_DEPTH):
            function, arguments = called(expression)
            for name in self._deciding(scope, function, arguments, is_limited):
                text = self._trace(*self._steps.expression(scope, arguments[0]), name, alias, 0)
                found.append(f"({text} = {LITERAL})")
            is_limited = is_limited or function in _LIMITS
            if function == _MERGE and len(arguments) > 4 and self._join(scope, arguments, alias, 0) is None:
                self._problems.add_not_read(
                    f"the step {function} is not read: the table that it merges is of another source"
                )
            following = self._steps.previous(scope, expression)
            if following is None:
                break
            scope, expression = following
        else:
            self._problems.add_not_read(_TOO_MANY)
        return list(dict.fromkeys(found))

    def _deciding(self, scope: str, function: str, arguments: list[str], is_limited: bool) -> list[str]:
        """Return the columns by which a step decides which rows remain."""
        if len(arguments) < 2:
            return []
        if function in _BY_NAME or (function == "Table.Sort" and is_limited):
            return list(strings(arguments[1]))
        if function not in _FILTERS | _LIMITS:
            return []
        reads = row_reads(arguments[1])
        others = {*reads.others, *self._steps.tables_in(scope, arguments[1])}
        if others or reads.nested:
            what = name_list(sorted(others), 3) if others else "fields of another row"
            self._problems.add_not_read(
                f"the step {function} decides by {what}, too, which rows remain: it is not read"
            )
        if reads.whole:
            self._problems.add_not_read(f"the step {function} reads whole rows: which columns decide is not known")
        return list(reads.fields)

    # Columns

    def _trace(self, query: str, expression: str, column: str, alias: str, depth: int) -> str:
        if depth > _MAX_DEPTH:
            self._problems.add_not_read(_TOO_MANY)
            return "NULL"
        function, arguments = called(expression)
        previous = self._steps.previous(query, expression)
        if previous is None or function in DATABASES or navigation_of(expression) is not None:
            return f"{alias}.{quote(column, self.dialect)}"

        before = partial(self._trace, *previous, alias=alias, depth=depth + 1)
        if appended(expression):  # one of the tables was chosen
            return before(column)
        copied = _copied(function, arguments, column)
        if copied is not None:
            return before(copied)
        step = _Step(function, arguments, query, previous, column, alias, depth, before)
        needed, read = self._readers.get(function, (0, _no_column))
        text = read(step) if len(arguments) >= needed else None
        return self._kept(step) if text is None else text

    def _kept(self, step: _Step) -> str:
        """Return a column of a step that makes none, or of one that is not known."""
        if step.function in _SAME_COLUMNS | _FILTERS | _BY_NAME | {"Value.NativeQuery"} or not step.function:
            return step.before(step.column)
        if step.column in step.named() or step.function in _NEW_COLUMNS:
            self._problems.add_not_read(
                f"the step {step.function} is not read: where the column {step.column!r} comes from is not known"
            )
            return "NULL"
        self._problems.add_not_read(
            f"the step {step.function} is not read: columns that it does not name are taken to be those before it"
        )
        return step.before(step.column)

    def _expanded(self, step: _Step) -> str:
        """Return a column of Table.ExpandTableColumn: of the table that was merged, or one from before."""
        fields = list(strings(step.arguments[2]))
        names = list(strings(step.arguments[3])) if len(step.arguments) > 3 else fields
        if step.column not in names or len(names) != len(fields):
            return step.before(step.column)
        wanted, merged = fields[names.index(step.column)], m_text(step.arguments[1].strip())
        at: tuple[str, str] | None = step.previous
        for _ in range(_MAX_DEPTH):
            if at is None:
                break
            function, own = called(at[1])
            if function == _MERGE and len(own) > 4 and m_text(own[4].strip()) == merged:
                join = self._join(at[0], own, step.alias, step.depth)
                if join is not None:
                    other = self._steps.expression(at[0], own[2].strip())
                    return self._trace(*other, wanted, join.alias, step.depth + 1)
                break
            at = self._steps.previous(*at)
        self._problems.add_not_read(f"the column {step.column!r} is of a table that is not read")
        return "NULL"

    def _join(self, query: str, arguments: list[str], alias: str, depth: int) -> MJoin | None:
        """Return the table that Table.NestedJoin merges; None if it is not of the same database."""
        key = (query, *(one.strip() for one in arguments[:5]))
        if key not in self.joins:
            other = self._steps.expression(query, arguments[2].strip())
            source, main = source_of(self._steps, *other), self.source()
            if source is None or main is None or not source.is_beside(main) or not (source.sql or source.parts):
                return None
            own = f"j{len(self.joins) + 1}"
            self.joins[key] = MJoin(own, source, "TRUE")  # its own columns may need it
            left = self._steps.expression(query, arguments[0].strip())
            conditions = [
                f"{self._trace(*left, one, alias, depth + 1)} = {self._trace(*other, two, own, depth + 1)}"
                for one, two in zip(strings(arguments[1]), strings(arguments[3]), strict=False)
            ]
            conditions += self._filters(*other, own)
            self.joins[key] = MJoin(own, source, " AND ".join(conditions) or "TRUE")
        return self.joins[key]

    def _grouped(self, step: _Step) -> str:
        """Return a column of Table.Group: one of its keys, or what `{name, each …, type}` computes."""
        if step.column in strings(step.arguments[1]):
            return step.before(step.column)
        listed = step.arguments[2].strip()
        items = split_at(listed[1:-1], ",") if listed.startswith("{") else []
        if items and not items[0].strip().startswith("{"):
            items = [listed]
        for item in items:
            name, *rest = split_at(item.strip()[1:-1], ",")
            if m_text(name) == step.column and rest:
                text = self._function_of(step, rest[0], of_rows=True)
                return "COUNT(*)" if text == LITERAL else f"MAX({text})"
        self._problems.add_not_read(f"the column {step.column!r} of the step Table.Group is not read")
        return "NULL"

    def _added(self, step: _Step) -> str:
        return self._function_of(step, step.arguments[2])

    def _function_of(self, step: _Step, text: str, *, of_rows: bool = False) -> str:
        """Return what a function computes of the columns of a row, or of a table of rows."""
        column, reads = step.column, row_reads(text)
        others = {*reads.others, *self._steps.tables_in(step.query, text)}
        if others or (reads.nested and not of_rows):
            what = name_list(sorted(others), 3) if others else "fields of another row"
            self._problems.add_not_read(f"the column {column!r} is computed with {what}, too: what of it is not known")
        if reads.whole and not of_rows:
            self._problems.add_not_read(
                f"the column {column!r} is computed of a whole row: of which columns is not known"
            )
        named = [*reads.fields, *(reads.nested if of_rows else ())]
        return f"m_expression({', '.join(dict.fromkeys(map(step.before, named)))})" if named else LITERAL


_NEW_COLUMN = {"Table.AddColumn": 1, "Table.AddIndexColumn": 1, _MERGE: 4}
"""Steps that add one column: which argument names it."""


def _copied(function: str, arguments: list[str], column: str) -> str | None:
    """Return the column before a step of which this one has the values, maybe by another name; None of other steps."""
    if function == "Table.RenameColumns" and len(arguments) > 1:
        return {new: name for name, new in _pairs(arguments[1])}.get(column, column)
    if function == "Table.DuplicateColumn" and len(arguments) > 2:
        return m_text(arguments[1].strip()) if m_text(arguments[2].strip()) == column else column
    at = _NEW_COLUMN.get(function)
    return column if at is not None and at < len(arguments) and m_text(arguments[at].strip()) != column else None


def _made_of(step: _Step) -> str:
    """Return a column of a step that makes columns of others."""
    if step.column not in strings(step.arguments[_MADE_OF[step.function]]):
        return step.before(step.column)
    return f"m_transformed({', '.join(map(step.before, strings(step.arguments[1])))})"


def _unpivoted(step: _Step) -> str | None:
    """Return a column after Table.Unpivot or Table.UnpivotOtherColumns; None if what it is made of is not listed."""
    listed, values = list(strings(step.arguments[1])), m_text(step.arguments[3])
    if step.function == "Table.Unpivot" and step.column == values:
        return f"m_transformed({', '.join(map(step.before, listed))})" if listed else "NULL"
    is_kept = (step.column in listed) == (step.function == "Table.UnpivotOtherColumns")
    return step.before(step.column) if is_kept and step.column != m_text(step.arguments[2]) else None


def _transformed(step: _Step) -> str:
    """Return a column of a step that changes the values of the columns that it names, or of all others, too."""
    read = [one for text in step.arguments[1:] for one in row_reads(text).fields]
    texts = dict.fromkeys(step.before(one) for one in (step.column, *read))
    others = (
        step.arguments[2].strip() if step.function == "Table.TransformColumns" and len(step.arguments) > 2 else "null"
    )
    is_changed = step.column in step.named() or others != "null"
    return f"m_transformed({', '.join(texts)})" if is_changed else step.before(step.column)


def _no_column(_step: _Step) -> str | None:
    return None


def _pairs(text: str) -> list[tuple[str, str]]:
    listed = list(strings(text))
    return list(zip(listed[::2], listed[1::2], strict=False))
