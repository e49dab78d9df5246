"""Where values go, against an oracle that walks every path of random graphs."""

from __future__ import annotations

import random
from collections.abc import Iterator

from lineage.governance.exposure import EXPOSURES, Exposure
from lineage.governance.propagation import Influence, ValueGraph, ValueStep, spread

GRAPHS = 500
NODES = "abcdefgh"


def _random_graph(random_: random.Random) -> ValueGraph:
    steps: dict[str, list[ValueStep]] = {}
    for number in range(random_.randint(0, 14)):
        source, target = random_.choice(NODES), random_.choice(NODES)
        exposure = random_.choices(EXPOSURES, (5, 2, 1, 2))[0]
        steps.setdefault(source, []).append(ValueStep(source, target, f"job{number % 3}", exposure))
    influences = {one: [Influence(one, f"{one}{one}", "job")] for one in NODES}
    return ValueGraph(steps, influences, {})


def _walks(graph: ValueGraph, path: list[ValueStep], seen: set[str], stops: set[str]) -> Iterator[list[ValueStep]]:
    """Yield every simple path that goes on from a path."""
    for step in graph.steps.get(path[-1].target if path else "a", ()):
        if step.target not in seen and step.target not in stops:
            yield [*path, step]
            yield from _walks(graph, [*path, step], seen | {step.target}, stops)


def test_the_search_agrees_with_all_paths() -> None:
    random_ = random.Random(49)
    reached = 0
    for _ in range(GRAPHS):
        graph = _random_graph(random_)
        stops = set(random_.sample(NODES[1:], random_.randint(0, 2)))
        expected: dict[str, tuple[int, int]] = {}
        for path in _walks(graph, [], {"a"}, stops):
            shown = (max(step.exposure.rank for step in path), len(path))
            end = path[-1].target
            expected[end] = min(expected.get(end, shown), shown)
        found = spread(graph, "a", stops)
        assert {end: (one.exposure.rank, one.hops) for end, one in found.reached.items()} == expected
        holders = {"a", *(end for end, (rank, _) in expected.items() if EXPOSURES[rank] is not Exposure.MASKED)}
        assert {one.target for one in found.influences} == {f"{one}{one}" for one in holders}
        for end, one in found.reached.items():
            assert one.path[-1].target == end
            assert one.path[0].source == "a"
            assert max(step.exposure.rank for step in one.path) == one.exposure.rank
        reached += len(expected)
    assert reached > GRAPHS  # the graphs are not empty


def test_a_masked_short_path_does_not_hide_a_longer_one() -> None:
    def step(source: str, target: str, exposure: Exposure) -> ValueStep:
        return ValueStep(source, target, "job", exposure)

    plain, masked = Exposure.UNMASKED, Exposure.MASKED
    steps = {
        "a": [step("a", "c", masked), step("a", "b", plain)],
        "b": [step("b", "c", plain)],
        "c": [step("c", "a", plain), step("c", "d", Exposure.AGGREGATED)],
    }
    reached = spread(ValueGraph(steps, {}, {}), "a").reached
    assert {end: (str(one.exposure), one.hops) for end, one in reached.items()} == {
        "b": ("unmasked", 1), "c": ("unmasked", 2), "d": ("aggregated", 3),
    }  # fmt: skip
