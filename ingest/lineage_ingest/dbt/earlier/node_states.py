"""What is kept of a node that is stated, beside the columns and look-ups of models."""

from __future__ import annotations

from collections.abc import Iterable

from lineage.model.diagnostics import Severity
from lineage.model.statement import StatementLineage
from lineage.saved_file import digest_of
from lineage_ingest.dbt.builds.project_hooks import ReadHook
from lineage_ingest.dbt.earlier.saved_state import NodeState
from lineage_ingest.dbt.model_resolution import ModelLookups

__all__ = ["count_edges", "hook_state"]


def hook_state(hook: ReadHook, given: str) -> NodeState:
    """Return the state of a hook; `given` is a digest of what all hooks are resolved from."""
    problems = [found for each in hook.statements for found in each.diagnostics]
    about = hook.hook.node.original_file_path, hook.hook.kind
    return NodeState(
        given,
        digest_of([each.to_dict() for each in hook.statements], list(hook.texts.values()), *about),
        lookups=ModelLookups(dict.fromkeys((*hook.reads, *hook.writes), ""), dict.fromkeys(hook.writes, True)),
        completeness=str(hook.completeness),
        diagnostics=len(problems),
        edges=count_edges(hook.statements),
        errors=sum(problem.severity is Severity.ERROR for problem in problems),
    )


def count_edges(statements: Iterable[StatementLineage]) -> int:
    """Return the number of edges of a job that these state: one for each source, target and kind."""
    return len({(edge.source, edge.target, edge.kind) for one in statements for edge in one.edges})
