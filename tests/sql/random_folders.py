"""Folders of SQL files that random edits change: views on views, temporary tables, variables, renames, search paths.

Few names for many things, so that an edit of one file often changes what another one means.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from lineage import Catalog
from lineage.sql.budget import Budget
from lineage.sql.extraction import ExtractionOptions, options_for

__all__ = ["DIALECTS", "Folder", "edited", "random_folder", "random_statement"]

DIALECTS = ("postgres", "snowflake", "tsql", "duckdb", "spark", "mysql", "bigquery")
_TABLES = tuple("abcdefgh")
_COLUMNS = tuple("uvwxyz")
_SCHEMAS = ("s1", "s2")
_KINDS = (
    "or replace", "table", "empty", "insert", "insert columns", "drop", "drop view", "rename", "rename column",
    "add column", "update", "delete", "copy", "merge", "temp", "path", "transaction", "broken", "function", "program",
)  # fmt: skip
_PATHS = {
    "postgres": ("SET search_path = s1, s2", "SET search_path TO s2", "SET LOCAL search_path = s2, s1",
                 "RESET search_path"),
    "snowflake": ("USE SCHEMA s1", "USE s2", "USE DATABASE db", "ALTER SESSION SET search_path = 's1, s2'"),
    "tsql": ("USE db", "USE other"),
    "duckdb": ("SET search_path = 's1,s2'", "USE s2", "SET schema = 's1'"),
    "spark": ("USE s1", "USE SCHEMA s2"),
    "mysql": ("USE s1", "USE s2"),
    "bigquery": ("SET @@dataset_id = 's1'",),
}  # fmt: skip


@dataclass(frozen=True)
class Folder:
    """Files by name, each a list of statements; the schemas of some tables, and options."""

    dialect: str
    files: dict[str, tuple[str, ...]]
    tables: dict[str, tuple[str, ...]]
    settings: dict[str, str | None] = field(default_factory=dict)
    budget: int = 2_000_000
    names: tuple[str, ...] = _TABLES
    """The tables that its statements name."""
    kinds: frozenset[str] = frozenset()
    """The kinds of statements that are written: few, so that some folders have no renames, others no functions."""
    last: str = ""
    """The last edit."""

    @property
    def texts(self) -> dict[str, str]:
        """The texts of the files, in the order of their names."""
        return {name: ";\n".join(self.files[name]) for name in sorted(self.files)}

    def options(self) -> ExtractionOptions:
        """Return the options."""
        return options_for(self.dialect, budget=Budget(edges=self.budget), **self.settings)  # type: ignore[arg-type]

    def catalog(self) -> Catalog:
        """Return the schemas: the types of some columns are in capitals, so that they can change, too."""
        tables = {
            name: {one.lower(): "INT" if one.isupper() else "int" for one in own} for name, own in self.tables.items()
        }
        return Catalog.from_dict(tables, self.dialect)


class _Writer:
    """Writes random statements of a dialect."""

    def __init__(self, rng: random.Random, dialect: str, names: Sequence[str], kinds: Collection[str]) -> None:
        self.rng = rng
        self.dialect = dialect
        self.names = names
        self.kinds = kinds

    def table(self) -> str:
        schema = self.rng.choice(("", "", "", *(f"{one}." for one in _SCHEMAS)))
        return schema + self.rng.choice(self.names)

    def column(self) -> str:
        return self.rng.choice(_COLUMNS)

    def query(self, depth: int = 0) -> str:
        rng = self.rng
        table, other, one, two = self.table(), self.table(), self.column(), self.column()
        forms = [
            f"SELECT * FROM {table}",
            f"SELECT {one}, {two} AS {self.column()} FROM {table}",
            f"SELECT p.{one}, q.{two} FROM {table} p JOIN {other} q ON p.{self.column()} = q.{self.column()}",
            f"SELECT {one}, {two} FROM {table} p JOIN {other} q ON p.{one} = q.{one}",
            f"SELECT p.*, {two} + 1 AS {one} FROM {table} p, {other}",
            f"SELECT {one}, count(*) AS {two} FROM {table} WHERE {self.column()} = 'secret' GROUP BY {one}",
            f"SELECT {one} FROM {table} UNION ALL SELECT {two} FROM {other}",
            f"SELECT {one} + 7, {two} FROM {table}",
            f"SELECT {one} + 8, {two} FROM {table}",
            f"SELECT f1({one}) AS {two} FROM {table}",
            f"SELECT (SELECT max({one}) FROM {other}) AS {two} FROM {table}",
            f"SELECT {table.rpartition('.')[2]}.{one}, {two} FROM {table} JOIN {other} USING ({self.column()})",
        ]
        if self.dialect == "spark":
            forms += [f"SELECT `({one} + 8)` AS {two} FROM {table}"]
        if depth < 2:
            forms += [
                f"SELECT {one} FROM ({self.query(depth + 1)}) AS n",
                f"WITH {rng.choice(self.names)} AS ({self.query(depth + 1)}) {self.query(depth + 1)}",
            ]
        return rng.choice(forms)

    def statement(self) -> str:
        rng, table, one = self.rng, self.table(), self.column()
        temp = "temp" if self.dialect != "mysql" else "temporary"
        forms: dict[str, Callable[[], str]] = {
            "view": lambda: f"CREATE VIEW {table} AS {self.query()}",
            "or replace": lambda: f"CREATE OR REPLACE VIEW {table} AS {self.query()}",
            "table": lambda: f"CREATE TABLE {table} AS {self.query()}",
            "empty": lambda: f"CREATE TABLE {table} ({one} int, {self.column()}2 text)",
            "insert": lambda: f"INSERT INTO {table} {self.query()}",
            "insert columns": lambda: f"INSERT INTO {table} ({one}) SELECT {self.column()} FROM {self.table()}",
            "drop": lambda: f"DROP TABLE {table}",
            "drop view": lambda: f"DROP VIEW IF EXISTS {table}",
            "rename": lambda: f"ALTER TABLE {table} RENAME TO {rng.choice(self.names)}",
            "rename column": lambda: f"ALTER TABLE {table} RENAME COLUMN {one} TO {self.column()}",
            "add column": lambda: f"ALTER TABLE {table} ADD COLUMN {one} int",
            "update": lambda: f"UPDATE {table} SET {one} = (SELECT max({self.column()}) FROM {self.table()})",
            "delete": lambda: f"DELETE FROM {table} WHERE {one} IN (SELECT {one} FROM {self.table()})",
            "copy": lambda: (
                f"COPY {table} FROM 'rows.csv'"
                if self.dialect != "spark"
                else f"LOAD DATA INPATH 'x' INTO TABLE {table}"
            ),
            "merge": lambda: (
                f"MERGE INTO {table} p USING {self.table()} q ON p.{one} = q.{one} "
                f"WHEN MATCHED THEN UPDATE SET {self.column()} = q.{self.column()}"
            ),
            "temp": lambda: f"CREATE {temp} TABLE {rng.choice(self.names)} AS {self.query()}",
            "path": lambda: rng.choice(_PATHS[self.dialect]),
            "query": self.query,
            "transaction": lambda: rng.choice(("BEGIN", "COMMIT", "ROLLBACK")),
            "broken": lambda: f"CREATE VIEW {table} AS SELECT {one} FROM FROM {self.table()} WHERE",
            "function": self.function,
            "program": self.program,
        }
        return forms[rng.choice([kind for kind in forms if kind in self.kinds or kind in ("view", "query")])]()

    def function(self) -> str:
        if self.rng.random() < 0.7:
            return self.query()
        body = self.rng.choice(("n + 1", f"(SELECT max({self.column()}) FROM {self.table()})"))
        return {
            "duckdb": f"CREATE OR REPLACE MACRO f1(n) AS {body}",
            "postgres": f"CREATE FUNCTION f1(n int) RETURNS int LANGUAGE sql AS $$ SELECT {body} $$",
        }.get(self.dialect, f"CREATE FUNCTION f1(n INT) RETURNS INT AS 'SELECT {body}'")

    def program(self) -> str:
        table, one, two = self.table(), self.column(), self.column()
        if self.dialect == "tsql":
            return self.rng.choice((
                f"DECLARE @k INT; SELECT @k = max({one}) FROM {table}; INSERT INTO {self.table()} ({two}) SELECT @k",
                f"DECLARE @i INT = 0, @j INT = 0; WHILE @i < 9 BEGIN SET @j = @i; SELECT @i = max({one}) FROM {table};"
                f" INSERT INTO {self.table()} ({two}) SELECT @j END",
                f"SELECT {one}, {two} INTO #t FROM {table}; INSERT INTO #t {self.query()};"
                f" SELECT * INTO {self.table()} FROM #t",
            ))  # fmt: skip
        if self.dialect in ("snowflake", "mysql", "bigquery", "spark"):
            return f"SET k = (SELECT max({one}) FROM {table}); INSERT INTO {self.table()} SELECT $k"
        return (
            f"CREATE TEMP TABLE t AS SELECT {one}, {two} FROM {table}; INSERT INTO t {self.query()};"
            f" CREATE TABLE {self.table()} AS SELECT * FROM t; DROP TABLE t"
        )

    def file(self) -> tuple[str, ...]:
        if self.rng.random() < 0.35:
            return (self.query(),)
        path = [self.rng.choice(_PATHS[self.dialect])] if "path" in self.kinds and self.rng.random() < 0.4 else []
        return (*path, *(self.statement() for _ in range(self.rng.choice((1, 1, 2, 3)))))

    def name(self) -> str:
        return f"{self.rng.choice(('', '0_', '1_', 'sub/'))}{self.rng.choice(self.names)}.sql"

    def schema(self) -> tuple[str, ...]:
        columns = self.rng.sample(_COLUMNS, self.rng.randint(1, 4))
        return tuple(one.upper() if self.rng.random() < 0.2 else one for one in columns)

    def catalog_name(self) -> str:
        return f"{self.rng.choice(_SCHEMAS)}.{self.rng.choice(self.names)}"


def random_folder(rng: random.Random, dialect: str = "", kinds: frozenset[str] = frozenset()) -> Folder:
    """Return a folder of some files, of a given dialect and given kinds of statements or any."""
    dialect = dialect or rng.choice(DIALECTS)
    names = tuple(rng.sample(_TABLES, rng.randint(3, len(_TABLES))))
    kinds = kinds or frozenset(rng.sample(_KINDS, rng.randint(1, 6)))
    writer = _Writer(rng, dialect, names, kinds)
    files = {writer.name(): writer.file() for _ in range(rng.randint(3, 12))}
    tables = {writer.catalog_name(): writer.schema() for _ in range(rng.randint(0, 5))}
    return Folder(
        dialect, files, tables, {"default_schema": rng.choice((None, None, "s1", "s2"))}, names=names, kinds=kinds
    )


def random_statement(rng: random.Random, folder: Folder) -> str:
    """Return a statement of any kind over the tables that a folder names."""
    return _Writer(rng, folder.dialect, folder.names, _KINDS).statement()


def edited(folder: Folder, rng: random.Random) -> Folder:
    """Return the folder with one edit."""
    writer = _Writer(rng, folder.dialect, folder.names, folder.kinds)
    files, tables = dict(folder.files), dict(folder.tables)
    name = rng.choice(sorted(files))
    kind = rng.choices(
        ("statement", "add", "remove", "delete", "move", "copy", "swap", "break", "append", "catalog", "settings",
         "nothing", "order", "budget", "comment"),
        (8, 3, 3, 3, 3, 2, 2, 3, 3, 4, 0.6, 1, 3, 0.3, 2),
    )[0]  # fmt: skip
    own = list(files[name])
    at = rng.randrange(len(own))
    if kind == "statement":
        own[at] = writer.statement()
        files[name] = tuple(own)
    elif kind == "append":
        files[name] = (*own, writer.statement())
    elif kind == "add":
        files[writer.name()] = writer.file()
    elif kind == "remove" and len(own) > 1:
        del own[at]
        files[name] = tuple(own)
    elif kind == "delete" and len(files) > 2:
        del files[name]
    elif kind == "move":
        files[writer.name()] = files.pop(name)
    elif kind == "copy":
        files[writer.name()] = files[name]
    elif kind == "swap":
        other = rng.choice(sorted(files))
        files[name], files[other] = files[other], files[name]
    elif kind == "order":
        rng.shuffle(own)
        files[name] = tuple(own)
    elif kind == "break":
        own[at] = (
            own[at].replace(" FROM ", " FRM FROM ", 1) if " FRM " not in own[at] else own[at].replace(" FRM ", " ")
        )
        files[name] = tuple(own)
    elif kind == "comment":
        own[at] = f"-- a comment\n{own[at]}"
        files[name] = tuple(own)
    elif kind == "catalog":
        changed = writer.catalog_name()
        if changed in tables and rng.random() < 0.5:
            del tables[changed]
        else:
            tables[changed] = writer.schema()
    elif kind == "settings":
        settings = {**folder.settings, "default_schema": rng.choice((None, "s1", "s2"))}
        return replace(folder, settings=settings, last=kind)
    elif kind == "budget":
        return replace(folder, budget=rng.choice((1, 3, 2_000_000)), last=kind)
    return replace(folder, files=files, tables=tables, last=f"{kind} {name}")
