"""What dbt runs besides a node's own query, and is not read: materializations and strategies that are not dbt's own,
headers, and what `project_hooks` cannot read of hooks. It is reported if it may move data.

https://docs.getdbt.com/reference/resource-configs/pre-hook-post-hook
https://docs.getdbt.com/guides/create-new-materializations
https://docs.getdbt.com/docs/build/incremental-strategy#custom-strategies
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage_ingest.dbt.artifacts.manifest_nodes import DbtNode, ResourceType
from lineage_ingest.dbt.templates.macro_calls import macros_below

__all__ = ["BuildSteps"]

_TEMPLATE = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_NOTE = re.compile(r"\{#.*?#\}", re.DOTALL)
_WORD = re.compile(r"[^\W\d]\w*")
_CALL = re.compile(r"\{\{-?\s*[\w.]+\s*\(")
_MOVES_NO_DATA = frozenset(
    ("grant", "revoke", "analyze", "vacuum", "comment", "set", "reset", "begin", "commit", "optimize", "use", "show",
     "reindex", "cluster", "checkpoint", "install", "load", "pragma", "attach", "describe", "explain", "notify")
)  # fmt: skip
_INDEX = re.compile(
    r"create\s+(?:unique\s+)?(?:clustered\s+|nonclustered\s+)?(?:columnstore\s+)?index\b", re.IGNORECASE
)
_RUNS_QUERIES = re.compile(r"\b(?:run_query|statement|run_query_statement|adapter\s*\.\s*execute)\b\s*\(")
_CALLED = re.compile(r"(?:(\w+)\.)?(\w+)\s*\(")
_MOVES_DATA = re.compile(
    r"\b(insert\s+(?:into|overwrite)|update\s+(?!set\b)[^;]+?\bset|delete\s+from|merge\s+into|truncate|copy\s+into"
    r"|create\s+(?:or\s+replace\s+)?(?:\w+\s+)?(?:table|view)|alter\s+table|drop\s+(?:table|view))\b",
    re.IGNORECASE,
)
_STRATEGY = re.compile(r"(?:\w+?__)?(get_incremental_\w+_sql|snapshot_\w+_strategy)")
_OF_SESSION = re.compile(
    r"\s*(?:alter\s+session|create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?(?:function|macro))\b", re.IGNORECASE
)
_QUERIES = re.compile(r"\bselect\b", re.IGNORECASE)
_HINT = "ingest the warehouse's query log as well: it shows what the statement does"


class BuildSteps:
    """Says what of the builds of one manifest's nodes is not read."""

    def __init__(self, macros: Mapping[str, Any], adapter: str | None) -> None:
        self._macros = macros
        self._own: dict[str, str] = {}
        """Packages, other than dbt's, that define a materialization, by its name."""
        self._strategies: dict[str, str] = {}
        """Packages, other than dbt's, that define an incremental or snapshot strategy, by its macro."""
        self._by_name: dict[str, list[str]] = {}
        self._dbt = frozenset(("dbt", f"dbt_{adapter}", "dbt_postgres", "dbt_spark"))
        for key, macro in macros.items():
            name, package = (
                (macro.get(one) for one in ("name", "package_name")) if isinstance(macro, Mapping) else ("", "")
            )
            if not isinstance(name, str) or package in self._dbt:
                continue
            self._by_name.setdefault(name, []).append(key)
            if name.startswith("materialization_"):
                self._own.setdefault(name.removeprefix("materialization_").rpartition("_")[0], str(package))
            elif (strategy := _STRATEGY.fullmatch(name)) is not None:
                self._strategies.setdefault(strategy[1], str(package))

    def unread_of(self, node: DbtNode) -> Iterator[Diagnostic]:
        """Yield what is run besides a node's query and its hooks, and may move data."""
        package = self._own.get(node.config.materialized or "view")
        if package is not None:
            message = (
                f"{node.name} is built by the materialization `{node.config.materialized}` of the package {package}: "
                "only the model's query is read"
            )
            yield Diagnostic(DiagnosticCode.NOT_FOLLOWED, Severity.WARNING, message)
        yield from _unread_header(node)
        macro = _strategy_macro(node)
        if macro in self._strategies:
            message = (
                f"{node.name} is built by the strategy of the macro `{macro}` of the package "
                f"{self._strategies[macro]}: only the model's query is read"
            )
            yield Diagnostic(DiagnosticCode.NOT_FOLLOWED, Severity.WARNING, message, hint=_HINT)

    def unread_query(self, what: str, template: str) -> Iterator[Diagnostic]:
        """Yield a diagnostic if a template, or a macro behind it, runs a query that moves data while it is rendered."""
        named = [key for _, name in _CALLED.findall(template) for key in self._by_name.get(name, ())]
        macros = (str(macro.get("macro_sql", "")) for macro in macros_below(named, self._macros, self._dbt))
        for text in (_NOTE.sub(" ", template), *(_NOTE.sub(" ", one) for one in macros)):
            found = _MOVES_DATA.search(_COMMENT.sub(" ", text))
            if found is not None and _RUNS_QUERIES.search(text):
                message = f"{what} runs {found[0].split()[0].upper()} from a template: what it does to rows is not read"
                yield Diagnostic(DiagnosticCode.NOT_FOLLOWED, Severity.WARNING, message, hint=_HINT)
                return

    def unread_statement(self, what: str, text: str) -> Iterator[Diagnostic]:
        """Yield a diagnostic if a statement may move data; of one that macros write, what their texts show."""
        for found in _unread_statement(what, text):
            moving = self._moving_macro(text) if found.severity is Severity.INFO else None
            if moving is None:
                yield found
                continue
            name, word = moving
            message = f"{what} is written by the macro {name}, which has {word}: what it does to rows is not read"
            yield Diagnostic(DiagnosticCode.NOT_FOLLOWED, Severity.WARNING, message, hint=_HINT)

    def _moving_macro(self, text: str) -> tuple[str, str] | None:
        """Return the first macro behind a text that has a statement which changes tables, and its first word."""
        named = [key for _, name in _CALLED.findall(text) for key in self._by_name.get(name, ())]
        for macro in macros_below(named, self._macros, self._dbt):
            found = _MOVES_DATA.search(_COMMENT.sub(" ", _NOTE.sub(" ", str(macro.get("macro_sql", "")))))
            if found is not None:
                return str(macro.get("name")), found[0].split()[0].upper()
        return None


def _strategy_macro(node: DbtNode) -> str:
    """Return the name of the macro that states how a node's table is changed by later builds."""
    if node.resource_type == ResourceType.SNAPSHOT:
        return f"snapshot_{node.config.strategy}_strategy"
    if node.config.materialized != "incremental":
        return ""
    return f"get_incremental_{(node.config.incremental_strategy or 'default').replace('+', '_')}_sql"


def _unread_header(node: DbtNode) -> Iterator[Diagnostic]:
    """Yield a diagnostic if the SQL before a model's statement makes what its query may take values from."""
    header = node.config.sql_header
    for statement in _COMMENT.sub(" ", header if isinstance(header, str) else "").split(";"):
        word = _WORD.search(statement)
        if word is None:
            continue
        is_known = word[0].lower() in _MOVES_NO_DATA or _OF_SESSION.match(statement)
        if not is_known or _QUERIES.search(statement):
            message = f"the sql_header of {node.name} has {word[0].upper()}: what the query takes from it is not read"
            yield Diagnostic(DiagnosticCode.NOT_FOLLOWED, Severity.WARNING, message, hint=_HINT)
            return


def _unread_statement(what: str, text: str) -> Iterator[Diagnostic]:
    """Yield a diagnostic if a statement may move data; of one that macros write, it is not known."""
    plain = _COMMENT.sub(" ", _TEMPLATE.sub(lambda found: " {} " if found[0].startswith("{{") else " ", text))
    unknown = False
    for statement in plain.split(";"):
        word = _WORD.search(statement)
        if word is None or (statement.strip().startswith("{}") and word.start() > statement.index("{}")):
            unknown = unknown or "{}" in statement
        elif word[0].lower() not in _MOVES_NO_DATA and not _INDEX.search(statement):
            message = f"{what} runs {word[0].upper()}: what it does to rows is not read"
            yield Diagnostic(DiagnosticCode.NOT_FOLLOWED, Severity.WARNING, message, hint=_HINT)
            return
    if unknown and _CALL.search(text):
        message = f"{what} is written by a macro: what it does is not read"
        yield Diagnostic(DiagnosticCode.NOT_FOLLOWED, Severity.INFO, message, hint=_HINT)
