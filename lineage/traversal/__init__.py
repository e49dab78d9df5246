"""Graph queries for a column or a table: impact (downstream), root cause (upstream), shortest paths, usage totals."""

from lineage.traversal.answer import Answer, Outline, PossiblyAffected, Reached
from lineage.traversal.cautions.broken_reads import BrokenRead, broken_reads
from lineage.traversal.cautions.former_holders import FormerHolder, former_holders
from lineage.traversal.cautions.gone_sources import GoneSource, gone_sources
from lineage.traversal.cautions.namesakes import Namesake, namesakes
from lineage.traversal.difference import Difference, difference
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
from lineage.traversal.routes.paths import shortest_paths
from lineage.traversal.routes.route import PathStep, Route
from lineage.traversal.target import Target
from lineage.traversal.usage import UsageTotal, total_usage

__all__ = [
    "AmbiguousNameError",
    "Answer",
    "BrokenRead",
    "Difference",
    "FormerHolder",
    "GoneSource",
    "NameLookupError",
    "Namesake",
    "Outline",
    "PathStep",
    "PossiblyAffected",
    "Reached",
    "Route",
    "Target",
    "TraversalOptions",
    "UnknownNameError",
    "UsageTotal",
    "broken_reads",
    "difference",
    "former_holders",
    "gone_sources",
    "impact",
    "namesakes",
    "resolve",
    "resolve_column",
    "resolve_table",
    "root_cause",
    "shortest_paths",
    "total_usage",
]
