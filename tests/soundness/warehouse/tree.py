"""The statements that random warehouses are made of, and the ways in which they come.

As in the trees of single queries, a column reference holds the number of the FROM item that it means. A table is
meant by its name: what stands behind a name is looked up when the statement runs (`world.py`), so that a statement
may be left out and the others keep their meaning, or lose it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from tests.soundness.tree import Expr, FromItem, Query, Type

SCHEMAS = ("s1", "s2", "s3")
HOME = SCHEMAS[0]
"""The schema in which every session begins."""


@dataclass(frozen=True, slots=True)
class Read:
    """A table that a statement reads: `uid` is what references point at, `name` is how it is written."""

    uid: int
    name: str


@dataclass(frozen=True, slots=True)
class CreateTable:
    """A base table; what is in it is not part of the script."""

    name: str
    columns: tuple[tuple[str, Type], ...]
    content: int
    """The number of its content."""


@dataclass(frozen=True, slots=True)
class CreateAs:
    """`CREATE [OR REPLACE] kind name [(columns)] AS query`; the kind is VIEW, TABLE or TEMP TABLE."""

    kind: str
    name: str
    query: Query
    reads: tuple[Read, ...]
    columns: tuple[str, ...] = ()
    replaces: bool = False
    types: tuple[Type, ...] = ()
    on_commit: Literal["", "DROP", "DELETE ROWS"] = ""
    """What becomes of a temporary table when the transaction ends."""


@dataclass(frozen=True, slots=True)
class Insert:
    name: str
    columns: tuple[str, ...]
    query: Query
    reads: tuple[Read, ...]


@dataclass(frozen=True, slots=True)
class Update:
    """`uid` is the target as an owner of columns."""

    name: str
    uid: int
    alias: str | None
    sets: tuple[tuple[str, Expr], ...]
    source: FromItem | None
    where: Expr | None
    reads: tuple[Read, ...]


@dataclass(frozen=True, slots=True)
class Delete:
    name: str
    uid: int
    alias: str | None
    source: FromItem | None
    where: Expr | None
    reads: tuple[Read, ...]


Action: TypeAlias = Literal["UPDATE", "INSERT", "DELETE"]


@dataclass(frozen=True, slots=True)
class Branch:
    """`WHEN [NOT] MATCHED [AND condition] THEN` an UPDATE or INSERT of these columns, or a DELETE."""

    matched: bool
    condition: Expr | None
    action: Action
    sets: tuple[tuple[str, Expr], ...] = ()


@dataclass(frozen=True, slots=True)
class Merge:
    name: str
    uid: int
    alias: str | None
    source: FromItem
    on: Expr
    branches: tuple[Branch, ...]
    reads: tuple[Read, ...]


@dataclass(frozen=True, slots=True)
class AddColumn:
    name: str
    column: str
    type: Type


@dataclass(frozen=True, slots=True)
class DropColumn:
    name: str
    column: str


@dataclass(frozen=True, slots=True)
class RenameColumn:
    name: str
    column: str
    new: str


@dataclass(frozen=True, slots=True)
class RenameTable:
    """`new` has no schema: a table is renamed where it is."""

    name: str
    new: str


@dataclass(frozen=True, slots=True)
class Drop:
    kind: Literal["TABLE", "VIEW"]
    name: str


@dataclass(frozen=True, slots=True)
class SetPath:
    """`USE schema`, `SET schema = …` or `SET search_path = …`."""

    form: Literal["USE", "schema", "search_path"]
    schemas: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Commit:
    """The end of a transaction that began unseen."""


Step: TypeAlias = (
    "CreateTable | CreateAs | Insert | Update | Delete | Merge | AddColumn | DropColumn | RenameColumn | RenameTable"
    " | Drop | SetPath | Commit"
)


@dataclass(frozen=True, slots=True)
class Run:
    """A statement that ran in a session."""

    session: int
    step: Step
    kind: str
    """What kind the generator made it as: what `--without` leaves out."""


@dataclass(frozen=True, slots=True)
class Part:
    """A query log that is ingested at once; sessions do not go on in the next."""

    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class File:
    """A SQL file of a project: a session of its own, run in the order of paths."""

    project: str
    path: str
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class State:
    """What the projects are at one time, and what is ingested then: whole projects, or single files of them."""

    files: tuple[File, ...]
    ingested: tuple[str, ...]
    change: str


@dataclass(frozen=True, slots=True)
class Warehouse:
    """A history: parts of a query log, or states of projects of SQL files.

    `known` says where the columns of base tables are known from: their CREATE TABLE is in the input ("input"), or a
    catalog is given and their CREATE TABLE is not ("catalog").
    """

    way: Literal["files", "log", "events"]
    known: Literal["input", "catalog"]
    parts: tuple[Part, ...] = ()
    states: tuple[State, ...] = ()
    facets_too: bool = False
    """Whether events say the lineage of columns in a facet, beside the SQL."""
