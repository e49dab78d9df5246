"""The queries that the generator builds: trees whose references point at what they mean, not at names.

A reference holds the number of the FROM item, CTE or select item that it means, and beside it the text that SQL
writes for it. So what a query means is known without looking a name up, and the extractor has to find the same by
name. Every node is frozen: the shrinker builds smaller ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

Type: TypeAlias = Literal["int", "text", "bool", "list", "struct"]

FIELDS: dict[str, Type] = {"x": "int", "y": "text"}
"""The fields of every struct."""


class Step(NamedTuple):
    """What an operation does to one of its operands."""

    subtype: str
    masking: bool = False
    limited: bool = False
    grade: int = 0
    """What is left of the value, apart from masking: 0 all of it, 1 a part, 2 a summary of many."""


IDENTITY, TRANSFORMATION, AGGREGATION = Step("IDENTITY"), Step("TRANSFORMATION"), Step("AGGREGATION")
PARTLY, SUMMED = Step("TRANSFORMATION", grade=1), Step("AGGREGATION", grade=2)
HASHED, COUNTED = Step("TRANSFORMATION", masking=True), Step("AGGREGATION", masking=True)
CONDITIONAL, WINDOW, FILTER = Step("CONDITIONAL"), Step("WINDOW"), Step("FILTER")
JOIN, GROUP_BY, DISTINCT, SET_OPERATION = Step("JOIN"), Step("GROUP_BY"), Step("DISTINCT"), Step("SET_OPERATION")
SORT, LIMITED_SORT = Step("SORT"), Step("SORT", limited=True)


@dataclass(frozen=True, slots=True)
class Constant:
    text: str
    type: Type


@dataclass(frozen=True, slots=True)
class Ref:
    """Column `name` of the FROM item (or of the merging join) `owner`, or a field of it, written as `text`."""

    owner: int
    name: str
    text: str
    type: Type
    field: str = ""


@dataclass(frozen=True, slots=True)
class ItemRef:
    """A select item, by its alias or, in GROUP BY and ORDER BY, by its position."""

    item: int
    type: Type
    ordinal: bool = False


@dataclass(frozen=True, slots=True)
class OutputRef:
    """A column of a set operation's result, in its ORDER BY."""

    position: int
    type: Type
    ordinal: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """Any operation: `{0}`, `{1}` … in the template stand for the operands; `steps` say what is done to each."""

    template: str
    args: tuple[Expr, ...]
    steps: tuple[tuple[Step, ...], ...]
    type: Type
    window: int | None = None
    """The named window that `{w}` stands for."""
    builds: bool = False
    """Whether it makes a struct, a field of each operand."""


@dataclass(frozen=True, slots=True)
class QueryValue:
    """A sub-query in an expression, `{q}` in the template; `step` is done to its columns, None: only rows count."""

    template: str
    args: tuple[Expr, ...]
    query: Query
    step: Step | None
    type: Type


Expr: TypeAlias = "Constant | Ref | ItemRef | OutputRef | Call | QueryValue"


@dataclass(frozen=True, slots=True)
class TableItem:
    uid: int
    table: str
    alias: str | None = None
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CteItem:
    """A CTE, or a temporary table of the script."""

    uid: int
    cte: int
    name: str
    alias: str | None = None
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Derived:
    uid: int
    query: Query
    alias: str
    columns: tuple[str, ...] = ()
    lateral: bool = False


@dataclass(frozen=True, slots=True)
class ValuesItem:
    uid: int
    rows: tuple[tuple[Expr, ...], ...]
    alias: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FunctionItem:
    """A function that makes rows, `unnest` or `generate_series`, called in FROM."""

    uid: int
    template: str
    args: tuple[Expr, ...]
    alias: str
    columns: tuple[str, ...]
    ordinality: bool = False


@dataclass(frozen=True, slots=True)
class Pivoted:
    """`PIVOT (aggregates FOR key IN (values))`: the columns are those that it does not name, then one a value."""

    uid: int
    source: TableItem | CteItem | Derived
    aggregates: tuple[tuple[str, str, Step], ...]
    """The text, the column and what is done to it."""
    key: str
    values: tuple[str, ...]
    alias: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unpivoted:
    """`UNPIVOT (value FOR key IN (turned))`: a row for each of the turned columns, if NULLs count."""

    uid: int
    source: TableItem | CteItem | Derived
    turned: tuple[str, ...]
    alias: str
    with_nulls: bool


FromItem: TypeAlias = "TableItem | CteItem | Derived | ValuesItem | FunctionItem | Pivoted | Unpivoted"


@dataclass(frozen=True, slots=True)
class Using:
    """A column that a join merges; `left` is the item or the earlier merging join that has it on the left."""

    name: str
    left: int


@dataclass(frozen=True, slots=True)
class Join:
    """One step of FROM. The first has the kind ""; `uid` owns the columns that it merges."""

    uid: int
    kind: str
    item: FromItem
    on: Expr | None = None
    using: tuple[Using, ...] = ()
    natural: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """An output column; without a name it is a plain column that keeps its own."""

    uid: int
    value: Expr
    name: str
    written: bool = True
    aggregates: bool = False


@dataclass(frozen=True, slots=True)
class Star:
    """`*` (no owner) or `owner.*`."""

    uid: int
    owner: int | None
    prefix: str = ""
    exclude: tuple[str, ...] = ()
    replace: tuple[tuple[str, Expr], ...] = ()
    rename: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Grouping:
    """GROUP BY: `form` is "", ROLLUP, CUBE, ALL or GROUPING SETS; `sets` are positions among the keys."""

    form: str
    keys: tuple[Expr, ...] = ()
    sets: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class NamedWindow:
    uid: int
    name: str
    base: int | None
    partition: tuple[Expr, ...]
    order: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Key:
    """A sort key; `suffix` is DESC, NULLS FIRST or nothing."""

    value: Expr
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class Limit:
    """`LIMIT n OFFSET m`; a sub-query may give the count."""

    count: Expr
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Cte:
    uid: int
    name: str
    query: Query
    columns: tuple[str, ...] = ()
    recursive: bool = False
    materialized: str = ""


@dataclass(frozen=True, slots=True)
class Select:
    items: tuple[Item | Star, ...]
    joins: tuple[Join, ...] = ()
    ctes: tuple[Cte, ...] = ()
    distinct: bool = False
    distinct_on: tuple[Expr, ...] = ()
    where: Expr | None = None
    group: Grouping | None = None
    having: Expr | None = None
    windows: tuple[NamedWindow, ...] = ()
    qualify: Expr | None = None
    order: tuple[Key, ...] = ()
    order_all: bool = False
    limit: Limit | None = None
    from_first: bool = False


@dataclass(frozen=True, slots=True)
class SetOperation:
    """UNION, INTERSECT or EXCEPT of two queries."""

    kind: str
    keeps_all: bool
    by_name: bool
    left: Query
    right: Query
    ctes: tuple[Cte, ...] = ()
    order: tuple[Key, ...] = ()
    limit: Limit | None = None


Query: TypeAlias = "Select | SetOperation"


@dataclass(frozen=True, slots=True)
class Temporary:
    """A temporary table that the script makes before its last statement."""

    uid: int
    name: str
    query: Query


@dataclass(frozen=True, slots=True)
class Statement:
    """A whole script. `form` says what is around the query: QUERY, VIEW, TABLE, INSERT or INSERT BY NAME."""

    query: Query
    form: str = "QUERY"
    columns: tuple[str, ...] = ()
    """A view's column list, or that of the INSERT."""
    schema: tuple[tuple[str, str], ...] = ()
    """The columns of the table that an INSERT writes to, with their types."""
    temporaries: tuple[Temporary, ...] = ()
    dialect: str = "duckdb"


TARGET = "target"

TABLES: dict[str, dict[str, Type]] = {
    "t": {"id": "int", "a": "int", "b": "int", "s": "text", "l": "list"},
    "u": {"id": "int", "b": "int", "c": "int", "n": "text"},
    "v": {"id": "int", "a": "int", "d": "int", "s": "text", "p": "bool"},
    "w": {"k": "int", "c": "int", "e": "int", "l": "list"},
}
"""The base tables: names overlap, so that USING, NATURAL and prefixes matter."""
