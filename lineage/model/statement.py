"""What one statement says: edges between columns, and how sure the reading is.

Edges and what they are made of are named tuples: they are made by the million, and a frozen dataclass takes three
times as long to make.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Span
from lineage.model.evidence import Chain
from lineage.model.spelling import Spelled
from lineage.model.transformations import EdgeKind, Subtype

__all__ = [
    "ChangeKind",
    "ColumnRef",
    "ColumnSchema",
    "Completeness",
    "DatasetKind",
    "EarlierStatement",
    "Edge",
    "RowReference",
    "StatementLineage",
    "TableChange",
    "TableRef",
    "UnresolvedReference",
]


class ColumnRef(NamedTuple):
    """A column. A bare SELECT's output has the table None; a star that could not be expanded is the column `*`."""

    table: str | None
    column: str

    def __str__(self) -> str:
        return f"{self.table}.{self.column}" if self.table else self.column

    def to_dict(self) -> dict[str, Any]:
        """Return the reference as JSON values."""
        return {"table": self.table, "column": self.column}


class TableRef(NamedTuple):
    """A table as the target of an influence on which rows it has; a bare SELECT's output has the table None."""

    table: str | None

    def __str__(self) -> str:
        return self.table or "*"

    def to_dict(self) -> dict[str, Any]:
        """Return the reference as JSON values."""
        return {"table": self.table}


@dataclass(frozen=True, slots=True)
class EarlierStatement:
    """A statement that made a temporary table of the script: where it reads the source, in the order of `places`.

    `source` names its text, `span` is its place there; `before` is the one that made a temporary table that it reads.
    """

    source: str
    span: Span
    places: tuple[Span, ...]
    before: EarlierStatement | None = None

    @property
    def key(self) -> tuple[str, int]:
        """What tells it from the other statements of the script."""
        return self.source, self.span.start

    def in_order(self) -> list[EarlierStatement]:
        """Return the statements that are read before it, and it, in the order in which a value goes through them."""
        found: list[EarlierStatement] = []
        one: EarlierStatement | None = self
        while one is not None:
            found.append(one)
            one = one.before
        return found[::-1]

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as JSON values."""
        return {
            "source": self.source,
            "span": self.span.to_dict(),
            "places": [span.to_dict() for span in self.places],
        }


class Edge(NamedTuple):
    """A value flow or an influence that a statement states, and the place in the SQL that proves it.

    `span` is where the source is read, `via` where what that gives is read in turn, up to the output: in the queries
    around a CTE, sub-query or alias. `before` is the statement that made the temporary table which it comes through:
    there the source is read. `limited` marks a SORT that decides, with a LIMIT, which rows there are. `ambiguous` marks
    one of several tables that an unprefixed column may belong to; a diagnostic names them all.
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

    def __str__(self) -> str:
        marks = [str(self.subtype)]
        marks += ["masking"] if self.masking else []
        marks += ["limited"] if self.limited else []
        marks += ["ambiguous"] if self.ambiguous else []
        arrow = "->" if self.kind is EdgeKind.CONTRIBUTES else "~>"
        return f"{self.source} {arrow} {self.target} [{' '.join(marks)}]"

    def proof(self, offset: int = 0, earlier: Mapping[tuple[str, int], int] | None = None) -> Chain | None:
        """Return the places that prove it, moved by an offset; None where it has none.

        `earlier` says by how much those of the statements before it are moved; the others are left out.
        """
        if self.span is None:
            return None
        listed = self.before.in_order() if self.before is not None else []
        moves = earlier or {}
        spans = [(span, moves[one.key]) for one in listed if one.key in moves for span in one.places]
        spans += [(span, offset) for span in (self.span, *self.via)]
        return tuple(number + moved for span, moved in spans for number in (span.start, span.end))

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


class RowReference(NamedTuple):
    """A table whose rows decide the rows of the target, or the value of one of its columns: it is read in FROM.

    What decides the rows of `source` therefore decides those of the target too, whichever columns are read.
    """

    source: TableRef
    target: ColumnRef | TableRef
    subtype: Subtype
    span: Span | None = None
    via: tuple[Span, ...] = ()
    before: EarlierStatement | None = None

    def __str__(self) -> str:
        return f"{self.source} ~> {self.target} [{self.subtype}]"

    def as_edge(self) -> Edge:
        """Return the reference as an edge from a column without a name."""
        source = ColumnRef(self.source.table, "")
        return Edge(
            source, self.target, EdgeKind.REFERENCES, self.subtype, span=self.span, via=self.via, before=self.before
        )


class UnresolvedReference(NamedTuple):
    """A name of the statement that could not be traced to one thing: why, where, and what it may have meant.

    `code` is that of the diagnostic about it: UNKNOWN_COLUMN, UNKNOWN_TABLE, AMBIGUOUS_COLUMN or UNRESOLVED_STAR.
    `candidates` are the nearest names that there are; of an ambiguous column all columns that it may be; of a star
    the tables whose columns are unknown.
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
    """What a dataset is."""

    TABLE = "table"
    VIEW = "view"
    FILE = "file"
    TOPIC = "topic"
    TEMPORARY = "temporary"
    EXPOSURE = "exposure"


@dataclass(frozen=True, slots=True)
class ColumnSchema:
    """A column of a known schema; the type is as the source wrote it."""

    name: str
    data_type: str | None = None


class ChangeKind(StrEnum):
    """What DDL does to a dataset as a whole, or to one of its columns."""

    DROP = "drop"
    RENAME = "rename"
    SWAP = "swap"
    DROP_COLUMN = "drop_column"
    RENAME_COLUMN = "rename_column"

    @property
    def of_column(self) -> bool:
        """Whether it happens to a column."""
        return self in (ChangeKind.DROP_COLUMN, ChangeKind.RENAME_COLUMN)


@dataclass(frozen=True, slots=True)
class TableChange:
    """A dataset is dropped, takes the name `other`, or changes places with `other`.

    With a `column` (a path) that happens to it: it is dropped, or takes the path `other`.
    """

    kind: ChangeKind
    table: str
    other: str | None = None
    column: str | None = None


@dataclass(frozen=True, slots=True)
class StatementLineage:
    """What one statement reads, writes and states.

    `span` is the statement's place in the text it came from, `source` names that text (a file's path);
    `reason` says why it is less than full. `defines` marks a statement whose target is what it says and
    nothing else (a view, CREATE TABLE AS), and `schema` holds the target's columns where the statement fixes
    them. `inferred` are columns that no schema knew and that were concluded from their use; `unresolved` are the
    names that could not be traced. `presumed` says that a name was read in the likeliest of several ways, and that a
    schema may show another. `altered` are columns that it gives the target, or gives another type, whatever else the
    target has, `added` those of them that it adds. `temporary` are those of its targets that are temporary tables,
    `row_references` the tables whose rows decide the target's. `other_targets` are the tables that it writes beside
    `target`. `read_by_name` are those of its sources that are what has the name in the end, whatever had it when the
    statement ran: a view reads them so. `spellings` are tables with their names as the statement writes them, where
    that differs and the dialect's product shows names so; names of columns in `output_columns`, `schema`, `altered`
    and `inferred` bring their spellings along (`Spelled`). `spells`: it gives the target its name.
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

    @property
    def targets(self) -> tuple[str, ...]:
        """All tables that it writes, `target` first."""
        return (() if self.target is None else (self.target,)) + self.other_targets

    def to_dict(self) -> dict[str, Any]:
        """Return the statement's interface fields as JSON values, under the names of the attributes.

        `targets` are there where it writes several tables, `spellings` where names are written otherwise than they are
        compared: of a table its whole name, of a column its own (the key is `table.column`).
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
        """Yield tables by name, and columns by their table's name and theirs, each with how it alone is written."""
        yield from self.spellings
        columns: list[tuple[str | None, str]] = [(self.target, name) for name in self.output_columns]
        columns += [(self.target, column.name) for column in (*self.schema, *self.altered)]
        columns += [(reference.table, reference.column) for reference in self.inferred]
        for table, column in columns:
            if isinstance(column, Spelled):
                yield f"{table}.{column}" if table is not None else str(column), column.spelling
