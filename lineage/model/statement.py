"""The lineage of one statement: edges between columns, and how complete they are.

Edges and their parts are named tuples: there are millions of them, and a frozen dataclass takes three times as long to
create.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias

from lineage.frozen import frozen
from lineage.model.data_frames import WithRows
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Span
from lineage.model.influence.evidence import Chain
from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage.model.policies import PolicyStatement
from lineage.model.spelling import Spelled

__all__ = [
    "ChangeKind",
    "ColumnRef",
    "ColumnSchema",
    "Completeness",
    "DatasetKind",
    "EarlierStatement",
    "Edge",
    "Place",
    "RowIdType",
    "RowReference",
    "StatementLineage",
    "TableChange",
    "TableRef",
    "UnresolvedReference",
]


class ColumnRef(NamedTuple):
    """A column. The table is None for the output of a bare SELECT; the column is `*` for an unexpanded star."""

    table: str | None
    column: str

    def __repr__(self) -> str:
        return f"<ColumnRef {self}>"

    def __str__(self) -> str:
        return f"{self.table}.{self.column}" if self.table else self.column

    def to_dict(self) -> dict[str, Any]:
        """Return the reference as JSON values."""
        return {"table": self.table, "column": self.column}


class TableRef(NamedTuple):
    """A table whose rows are influenced; the table is None for the output of a bare SELECT."""

    table: str | None

    def __repr__(self) -> str:
        return f"<TableRef {self}>"

    def __str__(self) -> str:
        return self.table or "*"

    def to_dict(self) -> dict[str, Any]:
        """Return the reference as JSON values."""
        return {"table": self.table}


@frozen
class EarlierStatement:
    """An earlier statement of the script that created a temporary table, with the spans (`places`) of a proof in it.

    `source` is the name of its text, `span` its span there; `before` is the statement that created a temporary table
    that it reads.
    """

    source: str
    span: Span
    places: tuple[Span, ...]
    before: EarlierStatement | None = None

    @property
    def key(self) -> tuple[str, int]:
        """The identity of the statement within the script."""
        return self.source, self.span.start

    def in_order(self) -> list[EarlierStatement]:
        """Return this statement and those before it, in the order in which a value flows through them."""
        found: list[EarlierStatement] = []
        statement: EarlierStatement | None = self
        while statement is not None:
            found.append(statement)
            statement = statement.before
        return found[::-1]

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as JSON values."""
        return {
            "source": self.source,
            "span": self.span.to_dict(),
            "places": [span.to_dict() for span in self.places],
        }


Place: TypeAlias = "tuple[Span | None, tuple[Span, ...], EarlierStatement | None]"
"""Where a source is read, where each intermediate result is read, and the statement before: see `Edge`."""


class Edge(NamedTuple):
    """A value flow or an influence in a statement, and the spans of the SQL that prove it.

    `span` is where the source is read, `via` where each intermediate result is read, up to the output: in the queries
    around a CTE, sub-query or alias. `before` is the statement that created the temporary table through which the value
    flows: the source is read there. `others` are more such places, if the value is read more than once. `limited` marks
    a SORT that determines, with a LIMIT, which rows are returned. `ambiguous` marks one of several tables that an
    unqualified column may belong to; a diagnostic lists them all.
    """

    source: ColumnRef
    target: ColumnRef | TableRef
    kind: EdgeKind
    subtype: Subtype
    masking: bool = False
    span: Span | None = None
    limited: bool = False
    ambiguous: bool = False
    via: tuple[Span, ...] = ()
    before: EarlierStatement | None = None
    others: tuple[Place, ...] = ()

    def __repr__(self) -> str:
        return f"<Edge {self}>"

    def __str__(self) -> str:
        marks = [str(self.subtype)]
        marks += ["masking"] if self.masking else []
        marks += ["limited"] if self.limited else []
        marks += ["ambiguous"] if self.ambiguous else []
        arrow = "->" if self.kind is EdgeKind.CONTRIBUTES else "~>"
        return f"{self.source} {arrow} {self.target} [{' '.join(marks)}]"

    def proofs(self, offset: int = 0, earlier: Mapping[tuple[str, int], int] | None = None) -> list[Chain]:
        """Return the spans that prove the edge, for each time that the source is read, shifted by an offset.

        `earlier` maps the keys of earlier statements to the offsets of their spans; statements not in it are omitted.
        """
        places = ((self.span, self.via, self.before), *self.others)
        return [chain for place in places if (chain := _proof(place, offset, earlier or {})) is not None]

    @property
    def earlier(self) -> list[EarlierStatement]:
        """The statements that created temporary tables through which the value flows."""
        return [before for before in (self.before, *(one[2] for one in self.others)) if before is not None]

    def to_dict(self) -> dict[str, Any]:
        """Return the edge as JSON values."""
        return {
            "source": self.source.to_dict(),
            "target": self.target.to_dict(),
            "kind": str(self.kind),
            "subtype": str(self.subtype),
            "masking": self.masking,
            "span": self.span.to_dict() if self.span else None,
            "via": [span.to_dict() for span in self.via],
            "before": [one.to_dict() for one in self.before.in_order()] if self.before is not None else [],
            "limited": self.limited,
            "ambiguous": self.ambiguous,
        }


def _proof(place: Place, offset: int, moves: Mapping[tuple[str, int], int]) -> Chain | None:
    span, via, before = place
    if span is None:
        return None
    own = tuple([number + offset for one in (span, *via) for number in (one.start, one.end)])
    if before is None:
        return own
    spans = [(one, moves[each.key]) for each in before.in_order() if each.key in moves for one in each.places]
    return (*(number + moved for one, moved in spans for number in (one.start, one.end)), *own)


class RowReference(NamedTuple):
    """A table in FROM, whose rows determine the rows of the target or the value of one of its columns.

    So what determines the rows of `source` also determines those of the target, whichever columns are read.
    """

    source: TableRef
    target: ColumnRef | TableRef
    subtype: Subtype
    span: Span | None = None
    via: tuple[Span, ...] = ()
    before: EarlierStatement | None = None
    masking: bool = False

    def __repr__(self) -> str:
        return f"<RowReference {self}>"

    def __str__(self) -> str:
        return f"{self.source} ~> {self.target} [{self.subtype}{' masking' if self.masking else ''}]"

    def as_edge(self) -> Edge:
        """Return the reference as an edge from a column with an empty name."""
        source = ColumnRef(self.source.table, "")
        return Edge(
            source,
            self.target,
            EdgeKind.REFERENCES,
            self.subtype,
            self.masking,
            self.span,
            via=self.via,
            before=self.before,
        )


class UnresolvedReference(NamedTuple):
    """A name in the statement that could not be resolved: why, where, and what it may have meant.

    `code` is that of its diagnostic: UNKNOWN_COLUMN, UNKNOWN_TABLE, AMBIGUOUS_COLUMN or UNRESOLVED_STAR. `candidates`
    are the nearest existing names; for an ambiguous column, all columns that match; for a star, the tables whose
    columns are unknown.
    """

    name: str
    code: DiagnosticCode
    span: Span | None
    candidates: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the reference as JSON values."""
        return {
            "name": self.name,
            "code": str(self.code),
            "span": self.span.to_dict() if self.span else None,
            "candidates": list(self.candidates),
        }


class Completeness(StrEnum):
    """How much of a statement was resolved."""

    FULL = "full"
    PARTIAL = "partial"
    TABLES = "tables"
    NONE = "none"


class DatasetKind(StrEnum):
    """The kind of a dataset."""

    TABLE = "table"
    VIEW = "view"
    FILE = "file"
    TOPIC = "topic"
    TEMPORARY = "temporary"
    EXPOSURE = "exposure"


class RowIdType(str):
    """The type of a column that is another name of the row's number: SQLite's `INTEGER PRIMARY KEY`.

    https://sqlite.org/lang_createtable.html#rowid
    """

    __slots__ = ()


@frozen
class ColumnSchema:
    """A column of a known schema; the type is as written in the source."""

    name: str
    data_type: str | None = None

    def __reduce__(self) -> tuple[object, ...]:
        # Statements have many of them, and by default each field is set by a call when they are read.
        return ColumnSchema, (self.name, self.data_type)


class ChangeKind(StrEnum):
    """What DDL does to a dataset as a whole, or to one of its columns."""

    DROP = "drop"
    RENAME = "rename"
    SWAP = "swap"
    DROP_COLUMN = "drop_column"
    RENAME_COLUMN = "rename_column"
    FORMER_NAME = "former_name"
    """A rename of a dataset that has its present name in the graph throughout: another dataset has the former one."""

    @property
    def of_column(self) -> bool:
        """Whether the change is to a column."""
        return self in (ChangeKind.DROP_COLUMN, ChangeKind.RENAME_COLUMN)


@frozen
class TableChange:
    """A dataset is dropped, renamed to `other`, or swapped with `other`.

    With `column` (a path), the change is to that column: it is dropped, or renamed to the path `other`.
    """

    kind: ChangeKind
    table: str
    other: str | None = None
    column: str | None = None


_EDGE_COLUMNS = {
    **dict.fromkeys(("source_table", "source_column", "target_table", "target_column", "kind", "subtype"), "string"),
    "masking": "bool", "line": "int64", "column": "int64", "operation": "string", "source": "string",
}  # fmt: skip


@frozen
class StatementLineage(WithRows):
    """What one statement reads and writes, and the edges between them.

    `span` is the statement's span in its text, `source` the name of that text (a file's path); `reason` explains why
    the lineage is not full. `defines` marks a statement that defines its target completely (a view, CREATE TABLE AS),
    and `schema` has the target's columns if the statement fixes them. `inferred` are columns in no schema, derived from
    their usage; `unresolved` are the names that could not be resolved. `presumed` means that a name has several
    readings and the likeliest was taken; a schema may decide otherwise. `altered` are columns that the statement adds
    to the target or changes the type of, `added` those of them that it adds. `temporary` are the targets that are
    temporary tables, `row_references` the tables whose rows determine the target's. `other_targets` are the tables that
    it writes besides `target`. `read_by_name` are the sources that are looked up by name when they are read, as a view
    does, not when the statement runs. `spellings` maps tables to their names as written, if that differs and the
    dialect's product displays names as written; column names in `output_columns`, `schema`, `altered` and `inferred`
    have their own spellings (`Spelled`). `spells`: the statement determines the target's spelling. `policies` are what
    it says of who may see what, `returned` the columns that its RETURNING shows the client.
    """

    operation: str
    target: str | None = None
    sources: list[str] = field(default_factory=list)
    output_columns: list[str] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    completeness: Completeness = Completeness.FULL
    reason: str | None = None
    span: Span | None = None
    source: str | None = None
    target_kind: DatasetKind = DatasetKind.TABLE
    defines: bool = False
    schema: tuple[ColumnSchema, ...] = ()
    inferred: tuple[ColumnRef, ...] = ()
    unresolved: tuple[UnresolvedReference, ...] = ()
    changes: tuple[TableChange, ...] = ()
    altered: tuple[ColumnSchema, ...] = ()
    added: tuple[str, ...] = ()
    temporary: tuple[str, ...] = ()
    row_references: tuple[RowReference, ...] = ()
    presumed: bool = False
    other_targets: tuple[str, ...] = ()
    read_by_name: tuple[str, ...] = ()
    spellings: tuple[tuple[str, str], ...] = ()
    spells: bool = False
    policies: tuple[PolicyStatement, ...] = ()
    returned: tuple[ColumnRef, ...] = ()

    def __repr__(self) -> str:
        what = f"{self.operation} {self.target}" if self.target else self.operation
        count = f"{len(self.edges):,} edge{'' if len(self.edges) == 1 else 's'}"
        return f"<StatementLineage {what}: {count}, {self.completeness}>"

    @property
    def _columns(self) -> Mapping[str, str]:  # type: ignore[override]
        return _EDGE_COLUMNS

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield a row for each edge; the target has no column where all rows of a table are influenced."""
        for edge in self.edges:
            yield {
                "source_table": edge.source.table,
                "source_column": edge.source.column,
                "target_table": edge.target.table,
                "target_column": edge.target.column if isinstance(edge.target, ColumnRef) else None,
                "kind": str(edge.kind),
                "subtype": str(edge.subtype),
                "masking": edge.masking,
                "line": edge.span.line if edge.span else None,
                "column": edge.span.column if edge.span else None,
                "operation": self.operation,
                "source": self.source,
            }

    @property
    def targets(self) -> tuple[str, ...]:
        """All tables that it writes, `target` first."""
        return (() if self.target is None else (self.target,)) + self.other_targets

    def in_doubt(self, problem: Diagnostic) -> StatementLineage:
        """Return the lineage with a diagnostic that says why it may not be complete: it is partial then, at most.

        >>> from lineage.model.diagnostics import DiagnosticCode, Severity
        >>> found = Diagnostic(DiagnosticCode.NOT_FOLLOWED, Severity.WARNING, "the trigger is not followed")
        >>> StatementLineage("INSERT").in_doubt(found).reason
        'NOT_FOLLOWED: the trigger is not followed'
        """
        diagnostics = [*self.diagnostics, problem]
        if self.completeness is not Completeness.FULL:
            return replace(self, diagnostics=diagnostics)
        reason = f"{problem.code}: {problem.message}"
        return replace(self, diagnostics=diagnostics, completeness=Completeness.PARTIAL, reason=reason)

    def to_dict(self) -> dict[str, Any]:
        """Return the statement's interface fields as JSON values, under the names of the attributes.

        `targets` is present if the statement writes several tables, `spellings` if names are written in another case
        than they are compared in: the full name of a table, the name of a column alone (the key is `table.column`).
        """
        spellings = dict(self.written_names())
        return {
            "operation": self.operation,
            "target": self.target,
            **({"targets": list(self.targets)} if self.other_targets else {}),
            "sources": list(self.sources),
            "output_columns": list(self.output_columns),
            "edges": [edge.to_dict() for edge in self.edges],
            "diagnostics": [diagnostic.to_dict() for diagnostic in self.diagnostics],
            "completeness": str(self.completeness),
            **({"spellings": spellings} if spellings else {}),
        }

    def written_names(self) -> Iterator[tuple[str, str]]:
        """Yield the names of tables (`table`) and columns (`table.column`), each with its own spelling."""
        yield from self.spellings
        columns: list[tuple[str | None, str]] = [(self.target, name) for name in self.output_columns]
        columns += [(self.target, column.name) for column in (*self.schema, *self.altered)]
        columns += [(reference.table, reference.column) for reference in self.inferred]
        for table, column in columns:
            if isinstance(column, Spelled):
                yield f"{table}.{column}" if table is not None else str(column), column.spelling
