"""Questions to the graph: impact (downstream), root cause (upstream) and paths, for a column or a table."""

from lineage.traversal.answer import Answer, PossiblyAffected, Reached
from lineage.traversal.impact import impact, root_cause
from lineage.traversal.lookup import (
    AmbiguousNameError,
    NameLookupError,
    UnknownNameError,
    resolve,
    resolve_column,
    resolve_table,
)
from lineage.traversal.options import TraversalOptions
from lineage.traversal.paths import shortest_paths
from lineage.traversal.route import PathStep, Route
from lineage.traversal.target import Target

__all__ = [
    "AmbiguousNameError",
    "Answer",
    "NameLookupError",
    "PathStep",
    "PossiblyAffected",
    "Reached",
    "Route",
    "Target",
    "TraversalOptions",
    "UnknownNameError",
    "impact",
    "resolve",
    "resolve_column",
    "resolve_table",
    "root_cause",
    "shortest_paths",
]
