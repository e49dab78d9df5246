"""The SQL of a warehouse's statements, and a whole warehouse as a script to read."""

from __future__ import annotations

from tests.soundness.render import Renderer
from tests.soundness.tree import Expr, Type
from tests.soundness.warehouse.tree import (
    AddColumn,
    Branch,
    Commit,
    CreateAs,
    CreateTable,
    Delete,
    Drop,
    DropColumn,
    Insert,
    Merge,
    RenameColumn,
    RenameTable,
    SetPath,
    Step,
    Update,
    Warehouse,
)

__all__ = ["SQL_TYPES", "script_of", "sql_of"]

SQL_TYPES: dict[Type, str] = {"int": "HUGEINT", "text": "VARCHAR", "bool": "BOOLEAN", "list": "HUGEINT[]"}


def sql_of(step: Step) -> str:
    """Return a statement's text, without a semicolon."""
    write = Renderer()
    match step:
        case CreateTable(name, columns):
            return f"CREATE TABLE {name} ({', '.join(f'{column} {SQL_TYPES[kind]}' for column, kind in columns)})"
        case CreateAs(kind, name, query, _, columns, replaces, _, on_commit):
            word = "CREATE OR REPLACE" if replaces else "CREATE"
            end = f" ON COMMIT {on_commit}" if on_commit else ""
            return f"{word} {kind} {name}{_listed(columns)}{end} AS {write.query(query)}"
        case Commit():
            return "COMMIT"
        case Insert(name, columns, query):
            return f"INSERT INTO {name}{_listed(columns)} {write.query(query)}"
        case Update(name, _, alias, sets, source, where):
            listed = ", ".join(f"{column} = {write.value(value)}" for column, value in sets)
            origin = "" if source is None else f" FROM {write.from_item(source)}"
            return f"UPDATE {_named(name, alias)} SET {listed}{origin}{_where(write, where)}"
        case Delete(name, _, alias, source, where):
            origin = "" if source is None else f" USING {write.from_item(source)}"
            return f"DELETE FROM {_named(name, alias)}{origin}{_where(write, where)}"
        case Merge(name, _, alias, source, on, branches):
            head = f"MERGE INTO {_named(name, alias)} USING {write.from_item(source)} ON {write.value(on)}"
            return " ".join([head, *(_branch(write, branch) for branch in branches)])
        case AddColumn(name, column, kind):
            return f"ALTER TABLE {name} ADD COLUMN {column} {SQL_TYPES[kind]}"
        case DropColumn(name, column):
            return f"ALTER TABLE {name} DROP COLUMN {column}"
        case RenameColumn(name, column, new):
            return f"ALTER TABLE {name} RENAME COLUMN {column} TO {new}"
        case RenameTable(name, new):
            return f"ALTER TABLE {name} RENAME TO {new}"
        case Drop(kind, name):
            return f"DROP {kind} {name}"
        case SetPath("USE", (schema,)):
            return f"USE {schema}"
        case SetPath("schema", (schema,)):
            return f"SET schema = '{schema}'"
        case SetPath(_, schemas):
            return f"SET search_path = '{','.join(schemas)}'"


def script_of(warehouse: Warehouse) -> str:
    """Return a warehouse as text: what a person who looks for the cause reads, and can run."""
    lines = [f"-- {warehouse.way}; columns of base tables are known from the {warehouse.known}"]
    for number, part in enumerate(warehouse.parts):
        lines.append(f"-- log {number}, at minutes of the day, each with its session")
        lines += [f"{sql_of(run.step)};  -- {minute}: session {run.session}" for minute, run in enumerate(part.runs)]
    for number, state in enumerate(warehouse.states):
        before = warehouse.states[number - 1].files if number else ()
        lines.append(f"-- day {number}: {state.change}; ingested: {', '.join(state.ingested)}")
        lines += [f"-- (gone: {old.project}/{old.path})" for old in before if not _has(state.files, old)]
        for file in state.files:
            if file in before:
                continue
            lines.append(f"-- {file.project}/{file.path}")
            lines += [f"{sql_of(run.step)};" for run in file.runs]
    return "\n".join(lines)


def _has(files: tuple[object, ...], wanted: object) -> bool:
    return any((f.project, f.path) == (wanted.project, wanted.path) for f in files)  # type: ignore[attr-defined]


def _listed(columns: tuple[str, ...]) -> str:
    return f" ({', '.join(columns)})" if columns else ""


def _named(name: str, alias: str | None) -> str:
    return f"{name} AS {alias}" if alias else name


def _where(write: Renderer, where: Expr | None) -> str:
    return "" if where is None else f" WHERE {write.value(where)}"


def _branch(write: Renderer, branch: Branch) -> str:
    head = f"WHEN {'MATCHED' if branch.matched else 'NOT MATCHED'}"
    if branch.condition is not None:
        head += f" AND {write.value(branch.condition)}"
    match branch.action:
        case "DELETE":
            return f"{head} THEN DELETE"
        case "UPDATE":
            return f"{head} THEN UPDATE SET {', '.join(f'{c} = {write.value(v)}' for c, v in branch.sets)}"
        case _:
            columns, values = zip(*branch.sets, strict=True)
            return f"{head} THEN INSERT ({', '.join(columns)}) VALUES ({', '.join(map(write.value, values))})"
