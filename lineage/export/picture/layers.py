"""Where the boxes of a picture stand: left to right by the longest path, in a layer near what they are linked to.

The explorer lays out its cards in the same way (Sugiyama, Tagawa and Toda 1981, without dummy nodes).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

__all__ = ["Place", "place_boxes"]

Link = tuple[str, str]
Place = tuple[int, float]
"""The layer of a box, and where its top is."""

_SWEEPS = 12


def place_boxes(heights: Mapping[str, float], links: Collection[Link], gap: float) -> dict[str, Place]:
    """Return where boxes of these heights stand, `gap` or more apart; the highest top is 0.

    The same boxes and links give the same places, whatever their order.
    """
    inside = sorted({(a, b) for a, b in links if a != b and a in heights and b in heights})
    forward = _without_cycles(sorted(heights), inside)
    layers = _layers(sorted(heights), forward)
    rows: dict[int, list[str]] = defaultdict(list)
    for box in sorted(heights):
        rows[layers[box]].append(box)
    tops: dict[str, float] = {}
    for row in rows.values():
        top = -sum(heights[box] + gap for box in row) / 2
        for box in row:
            tops[box] = top
            top += heights[box] + gap
    sources, targets = _ends(inside, 1, 0), _ends(inside, 0, 1)
    in_order = [rows[layer] for layer in sorted(rows)]
    for sweep in range(_SWEEPS):
        near, turn = (sources, in_order) if sweep % 2 == 0 else (targets, in_order[::-1])
        for row in turn:
            _align(row, near, heights, tops, gap)
    both = {box: [*sources.get(box, ()), *targets.get(box, ())] for box in heights}
    for row in in_order:
        _align(row, both, heights, tops, gap)
    highest = min(tops.values(), default=0)
    return {box: (layers[box], tops[box] - highest) for box in heights}


def _without_cycles(boxes: Sequence[str], links: Sequence[Link]) -> list[Link]:
    """Return the links without those that lead back to a box from which a search has come."""
    following = _ends(links, 0, 1)
    back: set[Link] = set()
    is_open: dict[str, bool] = {}
    for root in boxes:
        if root in is_open:
            continue
        is_open[root] = True
        stack = [(root, iter(following.get(root, ())))]
        while stack:
            box, rest = stack[-1]
            successor = next(rest, None)
            if successor is None:
                is_open[box] = False
                stack.pop()
            elif successor not in is_open:
                is_open[successor] = True
                stack.append((successor, iter(following.get(successor, ()))))
            elif is_open[successor]:
                back.add((box, successor))
    return [link for link in links if link not in back]


def _layers(boxes: Sequence[str], links: Sequence[Link]) -> dict[str, int]:
    """Return the longest path to each box; a box without sources stands directly before what it leads to."""
    into, out = _ends(links, 1, 0), _ends(links, 0, 1)
    layers = dict.fromkeys(boxes, 0)
    missing = {box: len(into.get(box, ())) for box in boxes}
    ready = [box for box in boxes if not missing[box]]
    order = []
    while ready:
        box = ready.pop()
        order.append(box)
        for successor in out.get(box, ()):
            layers[successor] = max(layers[successor], layers[box] + 1)
            missing[successor] -= 1
            if not missing[successor]:
                ready.append(successor)
    for box in reversed(order):
        if box in out and box not in into:
            layers[box] = min(layers[successor] for successor in out[box]) - 1
    used = {layer: number for number, layer in enumerate(sorted(set(layers.values())))}
    return {box: used[layer] for box, layer in layers.items()}


def _align(
    row: list[str],
    near: Mapping[str, Sequence[str]],
    heights: Mapping[str, float],
    tops: dict[str, float],
    gap: float,
) -> None:
    """Order a layer by the middles of its neighbours, and bring each box as near to them as the others allow."""

    def middle(box: str) -> float:
        return tops[box] + heights[box] / 2

    wanted = {box: _mean([middle(one) for one in near.get(box, ())] or [middle(box)]) for box in row}
    row.sort(key=lambda box: (wanted[box], box))
    # Blocks of touching boxes: each begins where its boxes would have it on average.
    blocks: list[tuple[list[str], list[float], float]] = []
    for box in row:
        boxes, begins, height = [box], [wanted[box] - heights[box] / 2], heights[box]
        while blocks and _mean(blocks[-1][1]) + blocks[-1][2] + gap > _mean(begins):
            above, begins_above, height_above = blocks.pop()
            shift = height_above + gap
            boxes, begins = above + boxes, begins_above + [begin - shift for begin in begins]
            height += shift
        blocks.append((boxes, begins, height))
    for boxes, begins, _ in blocks:
        top = _mean(begins)
        for box in boxes:
            tops[box] = top
            top += heights[box] + gap


def _ends(links: Iterable[Link], by: int, end: int) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for link in links:
        found[link[by]].append(link[end])
    return dict(found)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
