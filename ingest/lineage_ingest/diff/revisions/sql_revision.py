"""A folder of SQL at one revision: each table by the statements that define it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath

from lineage.catalog import Catalog
from lineage.catalog.ddl import altered_columns
from lineage.model.files import Environment, FileKey
from lineage.model.names import Naming, split_name
from lineage.model.text.name_lists import name_list
from lineage.sql.canonical.forms.digests import digest
from lineage.sql.canonical.forms.table_form import TableForm, ValueForm, base_table, opaque_table
from lineage.sql.canonical.statement_purpose import Purpose, StatementPurpose, read_purposes
from lineage_ingest.diff.definitions.table_definitions import NOT_KNOWN, Build, ProjectRevision, TableDefinition
from lineage_ingest.diff.revisions.statement_order import orders_that_count
from lineage_ingest.sql_files.files.discovery import find_sql_files
from lineage_ingest.sql_files.files.file_reader import read_sql_file

__all__ = ["KnownPurposes", "sql_revision"]


_Statements = Sequence[tuple[str, StatementPurpose]]
KnownPurposes = dict[tuple[str, str], list[StatementPurpose]]
"""What the statements of files do, by the file's own name and its text."""


def sql_revision(
    folder: Path, naming: Naming, catalog: Catalog, label: str, shown_as: str = "", known: KnownPurposes | None = None
) -> ProjectRevision:
    """Return the definitions of the SQL files in a folder, or of one file. `shown_as` is the path that people see.

    The statements of files in `known` are not read again; the others are added to it.

    Raises:
        NoSqlFilesError: the path does not exist.
    """
    known = {} if known is None else known
    by_table: dict[str, list[tuple[str, StatementPurpose]]] = {}
    ordered: list[tuple[str, StatementPurpose]] = []
    context: list[str] = []
    unparsed: dict[str, str] = {}
    problems: list[str] = []
    root = folder.resolve()
    files = find_sql_files([folder])
    problems += (f"{path.relative_to(root).as_posix()}: {why}" for path, (_, why) in files.unreadable.items())
    for path in sorted(files.files):
        shown = path.relative_to(root).as_posix() if root in path.parents else path.name
        file = read_sql_file(path, FileKey("", shown, Environment.of(naming)), shown, shown)
        problems += (str(problem) for problem in file.problems)
        which = PurePath(shown).name, file.text
        if which not in known:
            known[which] = list(read_purposes(file.text, which[0], naming))
        for statement in known[which]:
            ordered.append((shown, statement))
            if statement.table is not None:
                source = f"{shown_as}/{shown}" if shown_as and root in path.parents else shown_as or shown
                by_table.setdefault(statement.table, []).append((source, statement))
            elif statement.purpose is Purpose.CONTEXT:
                context.append(statement.digest)
                if statement.problem is not None:
                    unparsed[statement.digest] = f"{shown}:{statement.line}: {statement.problem}"
    content = (("functions and other statements of the folder", digest(context)),) if context else ()
    orders = orders_that_count(ordered)
    definitions: dict[str, TableDefinition] = {}
    for table, statements in by_table.items():
        order = orders.get(table)
        after = () if order is None else (("the order of the statements", order.digest),)
        made = _definition(table, statements, (*content, *after), naming)
        if order is not None and order.altered:  # which columns it has was decided by those of before
            doubt = f"a later statement changes the columns of {name_list(order.altered, 3)}, which it reads"
            made = replace(made, doubts=(*made.doubts, f"{doubt}: it is compared as a whole"))
        definitions[table] = made
    titles = Counter(one.title for one in definitions.values())
    definitions = {
        table: one if titles[one.title] == 1 else replace(one, title=table) for table, one in definitions.items()
    }
    tables: dict[str, TableForm] = {
        one.name: base_table(one.name, [(column.name, column.data_type) for column in one.columns])
        for one in catalog.qualified(naming)
    }
    return ProjectRevision(label, naming, definitions, tables, tuple(problems), unparsed=unparsed)


def _definition(
    table: str,
    statements: _Statements,
    content: tuple[tuple[str, str], ...],
    naming: Naming,
) -> TableDefinition:
    """Return the definition that statements make: one query, a declaration, maybe with what fills it, or several."""
    dropped, statements = _parts(statements)
    source, first = statements[0]
    stored = digest([statement.settings for _, statement in statements if statement.settings])
    if any(statement.problem is not None for _, statement in statements):
        stored = NOT_KNOWN
    physical: tuple[tuple[str, str], ...] = (("how it is stored", stored),)
    if cascades := [one.digest for _, one in dropped if "CASCADE" in one.text.upper()]:  # with what reads the table
        physical = (*physical, ("what is dropped with it", digest(cascades)))
    if any(statement.placeholders for _, statement in statements):
        content = (*content, ("placeholders", digest([statement.placeholders for _, statement in statements])))
    content = (*content, *first.decided)
    if first.without_rows:
        content = (*content, ("without rows", "true"))
    common = TableDefinition(
        table,
        table,
        split_name(table)[-1][0],
        source,
        "",
        Build.VIEW if first.is_view else Build.TABLE,
        reads=tuple(dict.fromkeys(name for _, statement in statements for name in statement.reads if name != table)),
        content=content,
        physical=physical,
    )
    if len(statements) == 1 and (first.purpose is Purpose.DEFINES or (first.fills and not first.by_position)):
        return replace(common, text=first.text)
    common = replace(common, written="\n;\n".join(statement.text for _, statement in statements))
    if len(statements) == 1 and first.purpose is Purpose.DECLARES:
        return _declared(common, first)
    if len(statements) == 2 and first.purpose is Purpose.DECLARES and statements[1][1].fills:
        return _declared_and_filled(common, first, statements[1][1])
    return _made_in_order(common, statements, naming)


def _declared(common: TableDefinition, declaration: StatementPurpose) -> TableDefinition:
    relation = base_table(common.key, [(one.name, one.data_type) for one in declaration.columns])
    types = {one.name: one.data_type for one in declaration.columns if one.data_type}
    return replace(common, reads=(), relation=_filled(relation, dict(declaration.computed)), types=types)


def _declared_and_filled(
    common: TableDefinition, declaration: StatementPurpose, filling: StatementPurpose
) -> TableDefinition:
    declared = tuple(str(one.name) for one in declaration.columns)
    content = (*common.content, ("its CREATE TABLE", declaration.digest))
    if filling.by_position:
        return replace(common, text=filling.text, content=content, names=declared)
    return replace(common, text=filling.text, content=content, column_order=declared)


def _made_in_order(common: TableDefinition, statements: _Statements, naming: Naming) -> TableDefinition:
    """Return the definition of a table that several statements make: it depends on all of them, in order."""
    first = statements[0][1]
    changes = [statement.alterations for _, statement in statements[1:]]
    alterations = tuple(one for listed in changes for one in listed or ())
    columns: list[str] | None = None
    made_by: str | None = None
    if first.purpose is Purpose.DECLARES:
        columns = [one.name for one in altered_columns(first.columns, alterations, naming.dialect)]
    elif first.purpose is Purpose.DEFINES and None not in changes:
        made_by = first.text
    unknown = ", and which columns it has is not known" if columns is None and made_by is None else ""
    return replace(
        common,
        relation=opaque_table(digest("statements", [statement.digest for _, statement in statements]), columns),
        doubts=(f"{_doubt(statements)}{unknown}",),
        made_by=made_by,
        alterations=alterations if made_by is not None else (),
    )


def _parts(statements: _Statements) -> tuple[_Statements, _Statements]:
    """Return the first statements, which drop what an earlier run has left, and those that make the table."""
    start = 0
    while start < len(statements) - 1 and statements[start][1].drops:
        start += 1
    return statements[:start], statements[start:]


def _filled(relation: TableForm, computed: Mapping[str, str]) -> TableForm:
    """Return a declared table whose columns have values that constraints make, by digests of these."""

    def made(value: ValueForm, how: str) -> ValueForm:
        return ValueForm(digest(value.digest, how), digest(value.before_cast, how), value.type, value.stability)

    columns = ((name, made(value, computed[name]) if name in computed else value) for name, value in relation.columns)
    return replace(relation, columns=tuple(columns))


def _doubt(statements: _Statements) -> str:
    """Return why a table that several statements make is compared as a whole."""
    files = sorted({path for path, _ in statements})
    where = f"{len(files)} files ({name_list(files, 3)})" if files[1:] else files[0]
    for path, statement in statements:
        if statement.problem is not None:
            where = f"{path}:{statement.line}"
            return f"its SQL does not parse ({where}: {statement.problem}), so that it is compared by its text"
    if len(statements) == 1:
        why = "is an INSERT without a list of columns" if statements[0][1].by_position else "is no definition"
        return f"its statement in {where} {why}: it is compared by its text"
    defining = sum(statement.purpose is Purpose.DEFINES for _, statement in statements)
    what = f"{defining} definitions" if defining > 1 else f"{len(statements)} statements"
    return f"{what} in {where} make it: it is compared as a whole"
