"""A folder of SQL at one revision: each table by the statements that define it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath

from lineage.catalog import Catalog
from lineage.model.files import Environment, FileKey
from lineage.model.names import Naming, split_name
from lineage.sql.canonical.digests import digest
from lineage.sql.canonical.relation import Relation, base_table, opaque_relation
from lineage.sql.script.roles import Role, StatementRole, read_roles
from lineage_ingest.diff.definitions import Build, ProjectRevision, TableDefinition
from lineage_ingest.sql_files.discovery import find_sql_files
from lineage_ingest.sql_files.file_reader import read_sql_file

__all__ = ["sql_revision"]


def sql_revision(folder: Path, naming: Naming, catalog: Catalog, label: str, shown_as: str = "") -> ProjectRevision:
    """Return the definitions of the SQL files in a folder, or of one file. `shown_as` is the path that people see.

    Raises:
        NoSqlFilesError: the path does not exist.
    """
    by_table: dict[str, list[tuple[str, StatementRole]]] = {}
    context: list[str] = []
    problems: list[str] = []
    root = folder.resolve()
    for path in sorted(find_sql_files([folder]).files):
        shown = path.relative_to(root).as_posix() if root in path.parents else path.name
        file = read_sql_file(path, FileKey("", shown, Environment.of(naming)), shown, shown)
        problems += (str(problem) for problem in file.problems)
        for role in read_roles(file.text, PurePath(shown).name, naming):
            if role.table is not None:
                source = f"{shown_as}/{shown}" if shown_as and root in path.parents else shown_as or shown
                by_table.setdefault(role.table, []).append((source, role))
            elif role.role is Role.CONTEXT:
                context.append(role.digest)
    content = (("functions and other statements of the folder", digest(context)),) if context else ()
    definitions = {table: _definition(table, roles, content) for table, roles in by_table.items()}
    tables: dict[str, Relation] = {
        one.name: base_table(one.name, [(column.name, column.data_type) for column in one.columns])
        for one in catalog.qualified(naming)
    }
    return ProjectRevision(label, naming, definitions, tables, tuple(problems))


def _definition(
    table: str, roles: Sequence[tuple[str, StatementRole]], content: tuple[tuple[str, str], ...]
) -> TableDefinition:
    source, first = roles[0]
    written = "\n;\n".join(role.text for _, role in roles)
    reads = tuple(dict.fromkeys(name for _, role in roles for name in role.reads if name != table))
    physical: tuple[tuple[str, str], ...] = (("how it is stored", digest([role.settings for _, role in roles])),)
    title = split_name(table)[-1][0]
    build = Build.VIEW if first.is_view else Build.TABLE
    types: Mapping[str, str] = {}
    relation: Relation | None = None
    if len(roles) == 1 and first.role is Role.DEFINES:
        return TableDefinition(table, table, title, source, first.text, build, None, reads, content, physical)
    if len(roles) == 1 and first.role is Role.DECLARES:
        relation = base_table(table, [(one.name, one.data_type) for one in first.columns])
        types = {one.name: one.data_type for one in first.columns if one.data_type}
        return TableDefinition(table, table, title, source, "", build, None, (), content, physical, (), relation,
                               types, written=written)  # fmt: skip
    # Several statements make it: what it contains depends on all of them, in order.
    names = [one.name for one in first.columns] if first.role is Role.DECLARES else None
    relation = opaque_relation(digest("statements", [(path, role.digest) for path, role in roles]), names)
    return TableDefinition(table, table, title, source, "", build, None, reads, content, physical, (), relation,
                           types, written=written)  # fmt: skip
