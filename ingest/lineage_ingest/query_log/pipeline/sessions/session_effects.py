"""What a template does to its session: to its defaults, its transaction, its temporary tables and its variables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lineage.model.dialects import dialect_named
from lineage.model.statement import ChangeKind, DatasetKind, StatementLineage
from lineage.sql.parse.statements import parse_statements
from lineage.sql.procedural.variables import Names
from lineage.sql.resolve.targets import SHARED_PREFIX
from lineage.sql.scan.leading import LEADING
from lineage.sql.script.sessions.session import SessionDefaults, session_defaults
from lineage.sql.script.sessions.temporary_ends import discards_temporary, drops_on_commit, empties_on_commit
from lineage.sql.script.sessions.transactions import DDL, TransactionStep, may_not_run, settled, step_of
from lineage_ingest.query_log.pipeline.extraction_units import LogStatement
from lineage_ingest.query_log.pipeline.versions.names_of_parts import keeps_what_is_there, last_part

__all__ = ["SessionEffects", "session_effects"]

_SETS = re.compile(r"\b(?:use|search_path|schema|current_schema|(?:reset|discard)\s+all)\b", re.IGNORECASE)
_MAX_SETTING = 2_000
_TRANSACTION = re.compile(
    rf"(?:^|;){LEADING}(?:begin|start|commit|end|rollback|abort|save|savepoint|"
    r"prepare|xa|bt|et|(?:alter\s+session\s+)?set\b[^;]*(?:autocommit|implicit_transactions))\b",
    re.IGNORECASE,
)
_VARIABLE = re.compile(r"'(?:[^'\\]|\\.|'')*'|(?<![@$\w])([@$][A-Za-z_][\w$]*)")
"""A session variable, or a text in quotes: MySQL's `@m`, Snowflake's `$m`."""
_SET = re.compile(rf"{LEADING}set\b", re.IGNORECASE)
_MAX_WITH_VARIABLES = 100_000
_REMOVALS = frozenset(("DELETE", "TRUNCATE"))


class SessionEffects(NamedTuple):
    """A template's effects on its session, and the last parts of the names of all tables that it mentions."""

    tables: tuple[str, ...] = ()
    database: str | None = None
    schema: str | None = None
    transaction: str = ""
    temporary: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    renames: tuple[tuple[str, str], ...] = ()
    writes: bool = False
    rebuilds: tuple[str, ...] = ()
    """The temporary tables that are created from a table of the same name."""
    search_path: tuple[str, ...] = ()
    """The schemas searched after `schema`. Setting `schema` replaces the earlier path, even if this is empty."""
    alters: tuple[str, ...] = ()
    """Tables whose columns it adds, renames or drops."""
    reads: tuple[str, ...] = ()
    resets: bool = False
    """Whether the search path is reset to its value at the start of the session."""
    is_local: bool = False
    """Whether the settings are local to the transaction."""
    savepoint: str = ""
    chain: bool = False
    """Whether a new transaction begins when this one ends (AND CHAIN)."""
    discards: bool = False
    """Whether it drops all temporary tables of the session."""
    until_commit: bool = False
    """Whether the temporary tables that it creates are dropped when the transaction ends."""
    rows_until_commit: bool = False
    """Whether they are emptied when a transaction ends."""
    unless_there: bool = False
    """Whether it creates temporary tables only if the session does not have them."""
    empties: bool = False
    """Whether it only removes rows."""
    assigns: tuple[str, ...] = ()
    """The session variables that it assigns to."""
    variables: tuple[str, ...] = ()
    """Those whose earlier value it reads."""
    commits: bool = False
    """Whether it commits by itself, as DDL of some dialects does."""

    @property
    def stateful(self) -> bool:
        """Whether it can change the meaning of later statements of the session."""
        names = self.database or self.schema or self.search_path or self.resets
        return bool(names or self.transaction or self.temporary or self.assigns)


def session_effects(part: LogStatement, statements: Sequence[StatementLineage]) -> SessionEffects:
    """Return the effects of a text, by the lineage of its statements."""
    changed = _changed_tables(statements)
    creates = [
        (last_part(s.target), s)
        for s in statements
        if s.target is not None
        and s.defines
        and (s.target_kind is DatasetKind.TEMPORARY or s.target.startswith(SHARED_PREFIX))
    ]
    defaults = SessionDefaults()
    step = _transaction(part)
    if len(part.text) <= _MAX_SETTING and _SETS.search(part.text):
        defaults = session_defaults(part.text, dialect_named(part.dialect))
    return SessionEffects(
        tables=changed.tables,
        database=defaults.database,
        schema=defaults.schema,
        transaction=step.verb if step is not None else "",
        temporary=_distinct(table for table, _ in creates),
        drops=changed.drops,
        renames=changed.renames,
        writes=any(statement.target is not None or statement.changes for statement in statements),
        rebuilds=_distinct(table for table, statement in creates if table in map(last_part, statement.sources)),
        search_path=defaults.search_path,
        alters=changed.alters,
        reads=_distinct(last_part(source) for statement in statements for source in statement.sources),
        resets=defaults.resets,
        is_local=defaults.local,
        savepoint=step.savepoint if step is not None else "",
        chain=step is not None and step.chain,
        discards=discards_temporary(part.text),
        until_commit=bool(creates) and drops_on_commit(part.text),
        rows_until_commit=bool(creates) and empties_on_commit(part.text),
        unless_there=bool(creates) and keeps_what_is_there(part.text),
        empties=bool(statements) and all(statement.operation in _REMOVALS for statement in statements),
        **_session_variables(part),
        commits=dialect_named(part.dialect).ddl_commits and any(map(_is_lasting_ddl, statements)),
    )


def _session_variables(part: LogStatement) -> dict[str, tuple[str, ...]]:
    """Return the session variables that a text assigns to, and whose earlier values it reads."""
    dialect = dialect_named(part.dialect)
    if not (dialect.select_into_variables or dialect.search_path_has_variables) or len(part.text) > _MAX_WITH_VARIABLES:
        return {}  # DuckDB's getvariable('m') is left out: the names are literals, in which statements may differ
    mentioned = Counter(name for name in _VARIABLE.findall(part.text) if name)
    if not mentioned and not _SET.match(part.text):
        return {}
    names = Names(dialect)
    steps = [one.step for one in parse_statements(part.text, dialect) if one.step is not None]
    assigned = [name for step in steps if not step.blocks for name in step.assigns]
    written = Counter(name for name in assigned if name.startswith("@"))
    read = Counter({names.fold(name.lstrip("$")): count for name, count in mentioned.items()}) - written
    return {"assigns": _distinct(assigned), "variables": tuple(read)}


def _is_lasting_ddl(statement: StatementLineage) -> bool:
    return statement.operation.partition("_")[0] in DDL and statement.target_kind is not DatasetKind.TEMPORARY


class _ChangedTables(NamedTuple):
    """The last parts of the names of all tables in a text, and what it changes in which of them."""

    tables: tuple[str, ...]
    drops: tuple[str, ...]
    alters: tuple[str, ...]
    renames: tuple[tuple[str, str], ...]


def _changed_tables(statements: Iterable[StatementLineage]) -> _ChangedTables:
    tables: dict[str, None] = {}
    drops: dict[str, None] = {}
    alters: dict[str, None] = {}
    renames: list[tuple[str, str]] = []
    for statement in statements:
        if statement.altered and statement.target is not None:
            alters[last_part(statement.target)] = None
        names = [*statement.sources, *([statement.target] if statement.target else [])]
        tables.update(dict.fromkeys(map(last_part, names)))
        for change in statement.changes:
            tables[last_part(change.table)] = None
            if change.kind.of_column:
                alters[last_part(change.table)] = None
            if change.kind is ChangeKind.DROP:
                drops[last_part(change.table)] = None
            elif not change.kind.of_column and change.other is not None:
                tables[last_part(change.other)] = None
                renames.append((last_part(change.table), last_part(change.other)))
    return _ChangedTables(tuple(tables), tuple(drops), tuple(alters), tuple(renames))


def _transaction(part: LogStatement) -> TransactionStep | None:
    """Return the combined effect of a text's statements on the transaction of its session."""
    text = part.text
    if len(text) > _MAX_SETTING or not _TRANSACTION.search(text):
        return None
    parsed = list(parse_statements(text, dialect_named(part.dialect)))
    steps = [step for one in parsed if not may_not_run(one) and (step := step_of(one)) is not None]
    if len(parsed) == 1:
        return steps[0] if steps else None
    ended: TransactionStep | None = None
    is_open = False
    for step in steps:
        if step.verb == "begin":
            is_open = True
        elif settled(step.verb, begun=is_open) in ("commit", "rollback"):
            ended = ended if is_open or ended is not None else step
            is_open = step.chain
    if ended is not None:
        return ended._replace(chain=is_open)
    return TransactionStep("begin") if is_open else None


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
