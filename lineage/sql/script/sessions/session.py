"""Session statements that change how names are qualified: USE, SET search_path, ALTER SESSION."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from lineage.model.dialect import Dialect
from lineage.model.names import Naming, format_name, parse_table_name
from lineage.sql.parse.statements import parse_statements
from lineage.sql.resolve.identifiers import identifiers_of
from lineage.sql.script.sessions.transactions import TransactionStep, transaction_step

__all__ = ["SessionDefaults", "SessionNaming", "naming_after", "session_defaults"]

_SEARCH_PATH = re.compile(
    r"^(?:(?:local|session)\s+)?(?:search_path|schema|current_schema)\s*(?:=|to)?\s*(.+)$", re.I | re.S
)
_ALTER_SESSION = re.compile(r"^session\s+set\s+current_schema\s*=\s*(\S+)", re.I)
# Schemas of a search path that hold no user tables.
_SYSTEM = frozenset(("pg_catalog", "information_schema", "$user", "pg_temp"))
# An entry of a search path: up to a comma outside quotes.
_ENTRY = re.compile(r"""(?:'(?:[^']|'')*'|"(?:[^"]|"")*"|[^,'"])+""")


_TRUE = frozenset(("true", "t", "on", "1", "yes"))
_MIN_RESET_WORDS = 2

_CURRENT = ("$current",)
"""Snowflake's word for the schema of the session: https://docs.snowflake.com/en/sql-reference/name-resolution"""


class SessionDefaults(NamedTuple):
    """The default database and schema, and the schemas searched after it; None where unchanged."""

    database: str | None = None
    schema: str | None = None
    search_path: tuple[str, ...] = ()
    """If `schema` is set, this replaces the previous path, even if empty."""
    resets: bool = False
    """The search path is reset to that of the session's start."""
    local: bool = False
    """The setting ends with the transaction."""


def naming_after(naming: Naming, tree: exp.Expr | None) -> Naming:
    """Return how names are qualified after a statement.

    >>> import sqlglot
    >>> from lineage.model.dialects import dialect_named
    >>> statement = sqlglot.parse_one("USE SCHEMA prod.shop", dialect="snowflake")
    >>> after = naming_after(Naming(dialect_named("snowflake")), statement)
    >>> after.default_database, after.default_schema
    ('PROD', 'SHOP')
    """
    if isinstance(tree, exp.Use) and isinstance(tree.this, exp.Table):
        return _after_use(naming, tree)
    if isinstance(tree, exp.Command):
        text = str(tree.args.get("expression") or "").strip()
        pattern = {"SET": _SEARCH_PATH, "ALTER": _ALTER_SESSION}.get(str(tree.this).upper())
        if pattern is not None and (found := pattern.match(text)):
            return _with_path(naming, _ENTRY.findall(found.group(1)))
    for name, value in _assignments(tree):
        if name in ("search_path", "schema"):
            return _with_path(naming, _entries(value, naming.dialect))
    if isinstance(tree, exp.Select) and len(tree.expressions) == 1:
        return _after_set_config(naming, tree.expressions[0])
    return naming


def session_defaults(text: str, dialect: Dialect) -> SessionDefaults:
    """Return the session's defaults after a text.

    >>> from lineage.model.dialects import dialect_named
    >>> session_defaults("SET search_path = mart, public", dialect_named("postgres"))
    SessionDefaults(database=None, schema='mart', search_path=('public',), resets=False, local=False)
    >>> session_defaults("SET search_path = mart; RESET search_path", dialect_named("postgres")).resets
    True
    """
    session = SessionNaming(Naming(dialect))
    resets = False
    for parsed in parse_statements(text, dialect):
        session.read(parsed.tree, parsed.tokens)
        resets = resets or _sets_back(parsed.tokens, dialect)
    naming = session.naming
    local = naming != session.lasting
    resets = resets and naming.default_schema is None and not naming.search_path
    return SessionDefaults(naming.default_database, naming.default_schema, naming.search_path, resets, local)


class SessionNaming:
    """How names are qualified from statement to statement of a session: `naming` applies to the next one.

    In PostgreSQL a setting is transactional: a ROLLBACK reverts it, and SET LOCAL ends with the transaction.
    """

    def __init__(self, naming: Naming) -> None:
        """Start with the naming at the session's start."""
        self._initial = naming
        self.naming = naming
        self.lasting = naming
        """The naming that applies after COMMIT."""
        self._before = naming
        self._savepoints: dict[str, tuple[Naming, Naming]] = {}
        self._in_transaction = naming.dialect.settings_in_transactions

    def read(self, tree: exp.Expr | None, tokens: Sequence[Token]) -> None:
        """Apply a statement's settings to `naming`."""
        step = transaction_step(tokens) if self._in_transaction else None
        if step is not None:
            self._end_or_begin(step)
            return
        if _sets_back(tokens, self.naming.dialect):
            initial = self._initial
            after = replace(self.naming, default_schema=initial.default_schema, search_path=initial.search_path)
        else:
            after = naming_after(self.naming, tree)
        if after is self.naming:
            return
        self.naming = after
        if not self._in_transaction or not _is_local(tokens):
            self.lasting = after

    def _end_or_begin(self, step: TransactionStep) -> None:
        if step.verb == "savepoint":
            self._savepoints[step.savepoint] = self.naming, self.lasting
        elif step.verb == "rollback to" and step.savepoint in self._savepoints:
            self.naming, self.lasting = self._savepoints[step.savepoint]
        else:
            if step.verb in ("rollback", "rollback to"):
                self.lasting = self._before
            if step.verb != "begin":
                self.naming = self.lasting
            self._before = self.lasting
            self._savepoints.clear()


def _sets_back(tokens: Sequence[Token], dialect: Dialect) -> bool:
    """Return whether a statement resets the search path to that of the session's start."""
    words = [token.text.lower() for token in tokens[:6]]
    if not dialect.resets_search_path or len(words) < _MIN_RESET_WORDS:
        return False
    if words[0] in ("reset", "discard"):
        return words[1] in ("all", "search_path")
    return words[0] == "set" and "search_path" in words[1:3] and words[-1] == "default" and len(tokens) == len(words)


def _is_local(tokens: Sequence[Token]) -> bool:
    """Return whether a setting ends with its transaction."""
    words = [token.text.lower() for token in tokens]
    if words[:2] == ["set", "local"]:
        return True
    return "set_config" in words and next((word for word in reversed(words) if word not in (")", ";")), "") in _TRUE


def _assignments(tree: exp.Expr | None) -> Iterator[tuple[str, exp.Expr]]:
    """Yield the settings that SET and Snowflake's ALTER SESSION SET change, and their values."""
    listed: list[exp.Expr] = [tree] if isinstance(tree, exp.Set) else []
    if isinstance(tree, exp.Alter):
        listed = [action for action in tree.args.get("actions") or () if isinstance(action, exp.AlterSession)]
    for change in listed:
        for item in change.expressions:
            if isinstance(item.this, exp.EQ):
                yield item.this.this.name.lower(), item.this.expression


def _entries(value: exp.Expr, dialect: Dialect) -> list[str]:
    """Return the entries of a path that is given as one value, each as it would be written separately."""
    if isinstance(value, exp.Literal) and value.is_string:
        return _ENTRY.findall(value.name) if dialect.search_path_in_string else [f"'{value.name}'"]
    return [f'"{value.name}"' if isinstance(value.this, exp.Identifier) and value.this.quoted else value.name]


def _after_set_config(naming: Naming, call: exp.Expr) -> Naming:
    """PostgreSQL's `SELECT set_config('search_path', 'a, b', false)`, where the string is a list."""
    call = call.expression if isinstance(call, exp.Dot) else call
    if not isinstance(call, exp.Anonymous) or call.name.lower() != "set_config" or len(call.expressions) < 2:
        return naming
    name, value = call.expressions[:2]
    if name.name.lower() != "search_path" or not isinstance(value, exp.Literal):
        return naming
    return _with_path(naming, _ENTRY.findall(value.name))


def _after_use(naming: Naming, tree: exp.Use) -> Naming:
    parts = identifiers_of(naming.dialect).table_parts(tree.this)
    kind = tree.args.get("kind")
    what = kind.name.upper() if kind is not None else ""
    if not parts or what in ("ROLE", "WAREHOUSE", "SECONDARY ROLES"):
        return naming
    if len(parts) > 1:
        return replace(naming, default_database=parts[-2], default_schema=parts[-1], search_path=())
    if what == "CATALOG" or (what in ("", "DATABASE") and naming.dialect.use_names_database):
        return replace(naming, default_database=parts[0])
    return replace(naming, default_schema=parts[0], search_path=())


def _with_path(naming: Naming, entries: list[str]) -> Naming:
    """Return the naming with the user schemas of a search path; DEFAULT changes nothing.

    Schemas of the system that are searched stay: they are always on the path.
    """
    schemas: dict[tuple[str, ...], None] = {}
    for entry in entries:
        parts = _schema_parts(entry.strip(), naming)
        if parts and parts[-1].lower() not in _SYSTEM:
            schemas[parts] = None
    if not schemas:
        return naming
    first, *others = schemas
    system = (name for name in naming.search_path if name.lower() in _SYSTEM)
    path = (*(format_name(parts) for parts in others if parts != _CURRENT), *system)
    if first == _CURRENT:
        return replace(naming, search_path=path)
    database = first[-2] if len(first) > 1 else naming.default_database
    return replace(naming, default_database=database, default_schema=first[-1], search_path=path)


def _schema_parts(entry: str, naming: Naming) -> tuple[str, ...]:
    """Return the parts of an entry's name; empty if it does not name a schema."""
    dialect = naming.dialect
    if entry.lower() == "default":
        return ()
    if dialect.search_path_has_variables and entry.startswith("$"):
        return {"$current": _CURRENT, "$public": ("PUBLIC",)}.get(entry.lower(), ())
    if len(entry) > 1 and entry[0] == entry[-1] == "'":
        inside = entry[1:-1].replace("''", "'")
        return (dialect.fold_table(inside, quoted=dialect.search_path_string_is_name),) if inside else ()
    return parse_table_name(entry, dialect)
