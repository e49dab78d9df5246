"""The catalog of an SQLite file: views, triggers, generated columns. https://sqlite.org/schematab.html"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from lineage.catalog.database.errors import DatabaseError, DatabaseUnreachableError
from lineage_ingest.live_database.database_files.file_ingest import existing_file
from lineage_ingest.live_database.database_files.sqlite_fulltext import content_statement
from lineage_ingest.live_database.objects import LiveColumn, LiveDatabase, LiveFunction, LiveRelation, RelationKind
from lineage_ingest.live_database.stated_text import StatedText, function_name

__all__ = ["read_sqlite_file"]

_SECONDS = 5.0
"""How long to wait for another process that writes."""
_OBJECTS = """
SELECT type, name, sql FROM main.sqlite_schema
WHERE type IN ('table', 'view', 'trigger') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name
"""
_OF_SYSTEM = ("sqlite_schema", "sqlite_master", "sqlite_temp_schema", "sqlite_temp_master", "sqlite_sequence",
              "sqlite_stat1", "sqlite_stat4")  # fmt: skip
_COLUMNS = "SELECT cid, name, type, hidden, pk FROM pragma_table_xinfo(?, 'main')"
_GENERATED = (2, 3)
_OTHER_KEY = re.compile(r"\bWITHOUT\s+ROWID\b|\bPRIMARY\s+KEY\s+DESC\b", re.IGNORECASE)
"""A key that is not the row's number, even of type INTEGER: https://sqlite.org/lang_createtable.html#rowid"""
_NOT_WORDS = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/", re.DOTALL)
_BEFORE_BODY = re.compile(r".*?\bBEGIN\b", re.IGNORECASE | re.DOTALL)
_WHEN = re.compile(r"\bWHEN\b", re.IGNORECASE)
_INTERNAL = 1
"""A hidden column of a virtual table."""


def read_sqlite_file(path: Path, namespace: str) -> tuple[LiveDatabase, list[StatedText]]:
    """Return what the catalog of a file says, and the texts that state lineage.

    Raises:
        DatabaseUnreachableError: another process has locked the file.
        DatabaseError: the file is no SQLite database, or is damaged.
    """
    uri = f"{existing_file(path).resolve().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True, timeout=_SECONDS)) as connection:
            return _read(connection, path, namespace)
    except sqlite3.OperationalError as error:
        raise DatabaseUnreachableError(f"{path}: {error}", "close the other program, and ingest again") from None
    except sqlite3.DatabaseError as error:
        raise DatabaseError(f"{path}: {error}") from None


def _read(connection: sqlite3.Connection, path: Path, namespace: str) -> tuple[LiveDatabase, list[StatedText]]:
    relations: list[LiveRelation] = []
    triggers: list[LiveFunction] = []
    sql: dict[str, str] = {}
    generated: set[str] = set()
    for kind, name, text in connection.execute(_OBJECTS).fetchall():
        if kind == "trigger":
            triggers.append(LiveFunction(f"trigger {name}()", "sql", str(text), ()))
            continue
        sql[name] = str(text or "")
        relation = LiveRelation(len(relations), "", name, RelationKind("v" if kind == "view" else "r"), "")
        relations.append(_with_columns(connection, relation, sql[name], generated))
    database = LiveDatabase(
        namespace or "sqlite",
        "",
        datetime.now(UTC),
        ("main",),
        tuple(relations),
        tuple(triggers),
        product="sqlite",
        system_tables=_system_tables(connection),
        path=f"sqlite:{path.resolve().as_posix()}",
    )
    return database, list(_texts(database, sql, generated))


def _system_tables(connection: sqlite3.Connection) -> frozenset[str]:
    """Return the names that mean tables of SQLite itself, and those of table-valued functions."""
    try:
        modules = {name for (name,) in connection.execute("SELECT name FROM pragma_module_list")}
    except sqlite3.OperationalError:  # a build without the pragma
        modules = set()
    return frozenset((*_OF_SYSTEM, *modules))


def _with_columns(
    connection: sqlite3.Connection, relation: LiveRelation, sql: str, generated: set[str]
) -> LiveRelation:
    """Return a relation with its columns; a view that reads what is not there any more has none."""
    found = []
    try:
        rows = connection.execute(_COLUMNS, (relation.name,)).fetchall()
        has_one_key = sum(bool(key) for *_, key in rows) == 1 and _OTHER_KEY.search(sql) is None
        for number, name, data_type, hidden, key in rows:
            if hidden in _GENERATED:
                generated.add(relation.name)
            if hidden != _INTERNAL:
                is_row_id = bool(key) and has_one_key and data_type.upper() == "INTEGER"
                found.append(LiveColumn(number, name, data_type.lower(), is_row_id=is_row_id))
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "unable to open" in str(error):
            raise
        problem = f"SQLite cannot read it: {error}"
        return LiveRelation(relation.oid, "", relation.name, relation.kind, "", problem=problem)
    return LiveRelation(relation.oid, "", relation.name, relation.kind, "", columns=tuple(found))


def _texts(database: LiveDatabase, sql: dict[str, str], generated: set[str]) -> Iterator[StatedText]:
    for relation in database.relations:
        if relation.kind.is_view or relation.name in generated:
            yield StatedText(database.full_name(relation), relation.local_name, sql[relation.name], relation)
        elif (text := content_statement(relation, sql[relation.name])) is not None:
            yield StatedText(database.full_name(relation), relation.local_name, text, relation)
    for trigger in database.functions:
        name, text = function_name(database, trigger), trigger.definition
        yield StatedText(name, trigger.signature, text, has_condition=_has_condition(text))


def _has_condition(trigger: str) -> bool:
    """Return whether a trigger has WHEN before its body.

    >>> _has_condition("CREATE TRIGGER g AFTER INSERT ON t WHEN NEW.a > 1 BEGIN SELECT 1; END")
    True
    >>> _has_condition("CREATE TRIGGER g AFTER INSERT ON [when] BEGIN SELECT CASE WHEN 1 THEN 2 END; END")
    False
    """
    head = _BEFORE_BODY.match(_NOT_WORDS.sub(" ", trigger))
    return head is not None and _WHEN.search(head[0]) is not None
