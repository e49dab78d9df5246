"""A project at one revision: what defines its tables, and the tables that it only reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from enum import StrEnum

from lineage.frozen import frozen
from lineage.model.names import Naming
from lineage.sql.canonical.forms.table_form import TableForm
from lineage.sql.parse.alterations import ColumnAlteration

__all__ = ["NOT_KNOWN", "TEMPLATE_OF_LATER_BUILDS", "Build", "TableDefinition", "ProjectRevision"]

TEMPLATE_OF_LATER_BUILDS = "SQL of later builds"
"""The setting of an incremental model of which only the SQL of one build is known: a digest of its template."""

NOT_KNOWN = ""
"""The value of a setting in SQL that does not parse: it is not compared."""


class Build(StrEnum):
    """How a definition becomes a relation of the database."""

    VIEW = "view"
    TABLE = "table"
    INCREMENTAL = "incremental"
    SNAPSHOT = "snapshot"
    SEED = "seed"
    CONSUMER = "consumer"
    """It is none: a semantic model, which is a query that tools run."""
    EPHEMERAL = "ephemeral"
    """It is none: the models that read it contain its SQL. Tests and dashboards name it nevertheless."""

    @property
    def has_history(self) -> bool:
        """Whether its rows depend on earlier builds, so that a changed definition needs a full refresh."""
        return self in (Build.INCREMENTAL, Build.SNAPSHOT)

    @property
    def is_kept(self) -> bool:
        """Whether a build fills the table that is there, unless it is a full refresh: with its columns and types."""
        return self.has_history or self is Build.SEED


@frozen
class TableDefinition:
    """What defines one table: a dbt model, snapshot or seed, or the SQL of a file.

    `key` identifies it in both revisions, `name` is the table's full name, `title` what people call it, `source` the
    file. `text` is its SQL; `later_text` the SQL of later builds, if it is another one (incremental models). `reads`
    are tables that it is known to read. `content` are settings that may change what it contains, `physical` those that
    change how it is stored only. `keys` are the columns by which rows are merged into it. `relation` is given where no
    SQL defines it (seeds, Python models): then `text` is not read.
    """

    key: str
    name: str
    title: str
    source: str
    text: str
    build: Build = Build.TABLE
    later_text: str | None = None
    reads: tuple[str, ...] = ()
    content: tuple[tuple[str, str], ...] = ()
    physical: tuple[tuple[str, str], ...] = ()
    keys: tuple[str, ...] = ()
    relation: TableForm | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    """Types of its columns as the database or a contract states them."""
    contract: Mapping[str, str] = field(default_factory=dict)
    """Types that a build casts its columns to, whatever its SQL returns."""
    column_order: tuple[str, ...] = ()
    """The columns in the order in which a contract or a CREATE makes the table, whatever that of its SQL is."""
    doubts: tuple[str, ...] = ()
    """Why its SQL is not known for certain: then its text is compared as a whole."""
    guesses: tuple[str, ...] = ()
    """What of its template is not known, though its SQL is compared: a loop that is read once."""
    written: str | None = None
    """The text that people wrote, where `text` is made of it."""
    unread: str | None = None
    """What of it is not compared, for people."""
    applied: tuple[tuple[str, str], ...] = ()
    """Settings that any build applies to the table, whatever it contains: privileges, labels."""
    made_by: str | None = None
    """The SQL whose columns the table has, where several statements make it, before `alterations`."""
    alterations: tuple[ColumnAlteration, ...] = ()
    names: tuple[str, ...] = ()
    """The names of its columns, where its SQL fills them by position."""

    def is_same(self, other: TableDefinition | None) -> bool:
        """Return whether another revision has the same definition, wherever its file is; doubts name the file."""
        if other is None:
            return False
        return self == other or self == replace(other, source=self.source, doubts=self.doubts)


@frozen
class ProjectRevision:
    """The definitions of a project, and the tables that they read, by full name."""

    label: str
    naming: Naming
    definitions: Mapping[str, TableDefinition]
    tables: Mapping[str, TableForm] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    functions: frozenset[str] = frozenset()
    """The user's functions whose value depends on their arguments alone."""
    unparsed: Mapping[str, str] = field(default_factory=dict)
    """Statements that do not parse and of which it is not known what they write, for people, by their digests."""
