"""What dbt runs besides a node's own query: hooks, and materializations that are not dbt's own. They are not read.

https://docs.getdbt.com/reference/resource-configs/pre-hook-post-hook
https://docs.getdbt.com/guides/create-new-materializations
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage_ingest.dbt.manifest_nodes import DbtNode

__all__ = ["BuildSteps", "operation_diagnostic"]

_TEMPLATE = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_WORD = re.compile(r"[^\W\d]\w*")
_CALL = re.compile(r"\{\{-?\s*[\w.]+\s*\(")
_MOVES_NO_DATA = frozenset(
    ("grant", "revoke", "analyze", "vacuum", "comment", "set", "reset", "begin", "commit", "optimize", "use", "show",
     "reindex", "cluster", "checkpoint", "install", "load", "pragma", "attach", "describe", "explain", "notify")
)  # fmt: skip
_INDEX = re.compile(
    r"create\s+(?:unique\s+)?(?:clustered\s+|nonclustered\s+)?(?:columnstore\s+)?index\b", re.IGNORECASE
)
_HINT = "ingest the warehouse's query log as well: it shows what the statement does"


class BuildSteps:
    """Says what of the builds of one manifest's nodes is not read."""

    def __init__(self, macros: Mapping[str, Any], adapter: str | None) -> None:
        self._own: dict[str, str] = {}
        """Packages, other than dbt's, that define a materialization, by its name."""
        dbt = {"dbt", f"dbt_{adapter}", "dbt_postgres", "dbt_spark"}
        for macro in macros.values():
            name, package = (
                (macro.get(one) for one in ("name", "package_name")) if isinstance(macro, Mapping) else ("", "")
            )
            if isinstance(name, str) and name.startswith("materialization_") and package not in dbt:
                self._own.setdefault(name.removeprefix("materialization_").rpartition("_")[0], str(package))

    def unread_of(self, node: DbtNode) -> Iterator[Diagnostic]:
        """Yield what is run besides a node's query and may move data."""
        for hook, statements in (("pre-hook", node.config.pre_hook), ("post-hook", node.config.post_hook)):
            for statement in statements:
                yield from _unread_statement(f"the {hook} of {node.name}", statement)
        package = self._own.get(node.config.materialized or "view")
        if package is not None:
            message = (
                f"{node.name} is built by the materialization `{node.config.materialized}` of the package {package}: "
                "only the model's query is read"
            )
            yield Diagnostic(DiagnosticCode.NOT_FOLLOWED, Severity.WARNING, message)


def operation_diagnostic(node: DbtNode) -> Diagnostic | None:
    """Return the diagnostic of a hook of the project (on-run-start, on-run-end) that may move data."""
    return next(_unread_statement(f"the hook {node.name} of the project", node.raw_code or ""), None)


def _unread_statement(what: str, text: str) -> Iterator[Diagnostic]:
    """Yield a diagnostic if a statement may move data; of one that macros write, it is not known."""
    plain = _COMMENT.sub(" ", _TEMPLATE.sub(lambda found: " " if found[0].startswith("{#") else " {} ", text))
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
