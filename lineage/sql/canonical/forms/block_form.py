"""One query block while its canonical form is built: what its names mean, and what it was found to contain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from sqlglot import exp

from lineage.sql.canonical.forms.digests import Part, digest
from lineage.sql.canonical.forms.table_form import ClauseForm, Stability, TableForm, ValueForm

__all__ = ["BlockForm", "FromItem", "UnsupportedError"]


class UnsupportedError(Exception):
    """The block has syntax that no rule reads: only its text can be compared."""


class FromItem(NamedTuple):
    """A relation in FROM by its alias; `hidden` columns are merged into those of an earlier one by USING.

    `is_lookup`: it is joined so that it adds columns to the rows that there are, and neither adds nor removes any;
    `condition` is the digest of what finds its row.
    """

    alias: str
    relation: TableForm
    hidden: frozenset[str] = frozenset()
    is_lookup: bool = False
    condition: str = ""


class BlockForm:
    """The names of a query block. `rows` are the rows at the clause that is being read."""

    def __init__(self, parent: BlockForm | None, ctes: Mapping[str, TableForm]) -> None:
        self.parent = parent
        self.ctes: dict[str, TableForm] = dict(ctes)
        self.items: list[FromItem] = []
        self.rows = digest("one row")
        self.order = ""
        self.stability = Stability.STABLE
        self.clauses: list[ClauseForm] = []
        self.merged: dict[str, ValueForm] = {}
        """Columns of USING."""
        self.aliases: dict[str, exp.Expr] = {}
        """The expressions of the select list, by alias; of two with one name, the first."""
        self.open_aliases: set[str] = set()
        """The aliases that are being read."""
        self.keys: frozenset[str] | None = None
        """The values that rows are grouped by; None if they are not."""
        self.unique: set[frozenset[str]] = set()
        """Sets of values in which no two rows are equal."""
        self.windows: dict[str, exp.Expr] = {}
        self.wild: list[str] = []
        """Expressions that may return several rows, or aggregate: functions that are not known."""
        self.is_unread = False
        """Whether there is syntax that no rule reads: it may make other rows each time."""
        self.templates: list[str] = []
        """Macro calls: they may aggregate."""
        self.unknown_functions: set[str] = set()
        """A phrase for each of their functions."""
        self.volatile_values: Counter[str] = Counter()
        """How often each volatile value is computed in the select list."""
        self.sees_aliases = False
        """Whether a name may be an alias although a column of FROM has the name."""
        self.columns_first = False
        """Whether no alias is visible here: a name is a column of FROM if one may have it."""

    def chain(self) -> Iterator[BlockForm]:
        """Yield this block and the enclosing ones, innermost first."""
        block: BlockForm | None = self
        while block is not None:
            yield block
            block = block.parent

    def computed(self, value: ValueForm) -> ValueForm:
        """Return the value of an output column: of two that are computed alike, volatile ones differ.

        Without this, `random() AS x, random() AS y` would equal two columns that read the same random number.
        """
        if value.stability is not Stability.VOLATILE:
            return value
        number = self.volatile_values[value.digest]
        self.volatile_values[value.digest] += 1
        uncast = digest("computed", number, value.uncast) if value.uncast else ""
        return replace(value, digest=digest("computed", number, value.digest), uncast=uncast)

    def note(self, name: str, meaning: Part, text: Part) -> None:
        """Record a clause that decides the rows."""
        self.clauses.append(ClauseForm(name, digest(meaning), digest(text)))

    @property
    def all_clauses(self) -> tuple[ClauseForm, ...]:
        """The clauses of this block and of the relations that it reads."""
        return (*self.clauses, *(clause for item in self.items for clause in item.relation.clauses))

    @property
    def environment(self) -> str:
        """The digest of all that a name in this block can mean."""
        return digest(
            "environment",
            [
                (
                    [(item.alias, item.relation.content, sorted(item.hidden)) for item in block.items],
                    sorted((name, relation.content) for name, relation in block.ctes.items()),
                    [(name, value.digest) for name, value in block.merged.items()],
                    block.rows,
                )
                for block in self.chain()
            ],
        )

    @property
    def order_of_rows(self) -> str:
        """The digest of the order in which the rows of FROM are read."""
        return digest("read in order", self.rows, [item.relation.order for item in self.items])

    def refer(self, number: int, value: ValueForm) -> ValueForm:
        """Return the value of a column of the item with that number, as seen in this block."""
        item = self.items[number]
        if item.is_lookup:
            found = digest("looked up", item.relation.rows, item.condition, value.digest)
            return ValueForm(found, stability=max(value.stability, item.relation.stability))
        if len(self.row_items) == 1:
            return value
        place = sum(not one.is_lookup for one in self.items[:number])
        return ValueForm(digest("of", place, value.digest), stability=value.stability)

    @property
    def row_items(self) -> list[FromItem]:
        """The items of FROM that decide the rows."""
        return [item for item in self.items if not item.is_lookup]

    def refer_outer(self, level: int, value: ValueForm) -> ValueForm:
        """Return a value of this block as seen in a query inside it, `level` queries deeper."""
        items = [item.relation.rows for item in self.row_items]
        return ValueForm(digest("outer", level, items, value.digest), stability=value.stability)
