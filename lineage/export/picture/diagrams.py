"""Table-level diagrams of a part of the graph: Mermaid and Graphviz's DOT."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from lineage.export.graph_part import GraphPart
from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import dataset_of

__all__ = ["dot", "mermaid"]


def mermaid(part: GraphPart) -> str:
    """Return the tables as a Mermaid flowchart: a dashed arrow has references only; the number is that of columns.

    An arrow with a question mark: the second is made from the first, and its columns could not be resolved.
    """
    numbers = {one.key: f"t{number}" for number, one in enumerate(part.datasets)}
    lines = ["flowchart LR"]
    lines += [f'  {numbers[one.key]}["{_mermaid_text(one.display_name)}"]' for one in part.datasets]
    for (source, target), (flows, columns) in _arrows(part).items():
        arrow = "-->" if flows else "-.->"
        lines.append(f"  {numbers[source]} {arrow}|{columns}| {numbers[target]}")
    lines += [f"  {numbers[source]} -.->|?| {numbers[target]}" for source, target in _only_fed(part)]
    return "\n".join(lines) + "\n"


def dot(part: GraphPart) -> str:
    """Return the tables as a digraph in DOT: a dashed edge has references only; its label is the number of columns.

    A dotted edge with a question mark: the second is made from the first, and its columns could not be resolved.
    """
    names = {one.key: one.display_name for one in part.datasets}
    lines = ["digraph lineage {", "  rankdir=LR;", "  node [shape=box];"]
    lines += [f"  {_quoted(key)} [label={_quoted(name)}];" for key, name in names.items()]
    for (source, target), (flows, columns) in _arrows(part).items():
        style = "" if flows else ", style=dashed"
        lines.append(f'  {_quoted(source)} -> {_quoted(target)} [label="{columns}"{style}];')
    for source, target in _only_fed(part):
        lines.append(f'  {_quoted(source)} -> {_quoted(target)} [label="?", style=dotted];')
    return "\n".join([*lines, "}"]) + "\n"


def _arrows(part: GraphPart) -> Mapping[tuple[str, str], tuple[bool, int]]:
    """Return, of each pair of tables, whether a value flows, and how many columns are read."""
    flows: dict[tuple[str, str], bool] = defaultdict(bool)
    sources: dict[tuple[str, str], set[str]] = defaultdict(set)
    for edge in part.edges:
        pair = dataset_of(edge.source), dataset_of(edge.target)
        if pair[0] == pair[1]:
            continue
        flows[pair] |= edge.kind is EdgeKind.CONTRIBUTES
        sources[pair] |= {edge.source} if edge.source != pair[0] else set()
    return {pair: (flows[pair], len(sources[pair])) for pair in sorted(flows)}


def _only_fed(part: GraphPart) -> list[tuple[str, str]]:
    """Return the pairs of tables without an arrow of which a job reads the first and writes the second."""
    arrows = _arrows(part)
    return [pair for pair in part.feeds if pair not in arrows and pair[0] != pair[1]]


def _mermaid_text(text: str) -> str:
    # Mermaid's entities: `#` first, since they begin with it.
    for character, entity in (("#", "#35;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;")):
        text = text.replace(character, entity)
    return text


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'
