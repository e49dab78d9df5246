"""What a fault is given: a place for stores, an estate, and what undisturbed ingests leave; and how it is judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.estate import Estate, Ran
from tests.faults.places import EMBEDDED, NEO4J, Place, Store

__all__ = [
    "BOTH",
    "REGISTERED",
    "SHARES",
    "Fault",
    "Scene",
    "WrongError",
    "compare",
    "demand",
    "explained",
    "fault",
    "has_times",
]

BOTH = (EMBEDDED, NEO4J)
SHARES = (0.2, 0.6, 0.97)
"""Where faults come: at these shares of all bytes that an undisturbed ingest writes."""


class WrongError(Exception):
    """A fault left something that is wrong, or was not said."""


@dataclass
class Scene:
    """A place for stores of one kind, and an estate."""

    place: Place
    estate: Estate
    _expected: dict[str, tuple[list[str], int]] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """A folder for files of a fault."""
        return self.place.folder

    def undisturbed(self, kind: str) -> tuple[list[str], int]:
        """Return the graph that an undisturbed ingest leaves, and how many bytes it writes."""
        if kind not in self._expected:
            store, report = self.place.new(), self.folder / "bytes"
            store.opened(read_only=False).close()  # to make it is no part of the ingest
            self.estate.forget_saved()
            ran = self.estate.ingest(kind, store, report=report, under=self.folder / "store")
            demand(ran.done, f"an undisturbed ingest of {kind} ends with {ran.code}: {ran.said}")
            self._expected[kind] = store.graph(times=has_times(kind)), int(report.read_text())
        return self._expected[kind]

    def expect(self, kind: str, store: Store) -> None:
        """Demand the graph of an undisturbed ingest, and a store that is whole."""
        self.expect_graph(self.undisturbed_graph(kind), store, times=has_times(kind))

    def expect_events(self, store: Store) -> None:
        """Demand the graph of an undisturbed ingest of the events' file, which has other runs than a service notes."""
        damage = store.damage()
        demand(not damage, f"the store is damaged: {damage[:1]}")
        compare(*map(_without_runs, (self.undisturbed_graph("openlineage"), store.graph())))

    def undisturbed_graph(self, kind: str) -> list[str]:
        """Return the graph that an undisturbed ingest leaves; it must be known before the store is filled."""
        return self._expected[kind][0]

    def expect_graph(self, graph: list[str], store: Store, *, times: bool = True) -> None:
        """Demand a graph, and a store that is whole."""
        damage = store.damage()
        demand(not damage, f"the store is damaged: {damage[:1]}")
        compare(graph, store.graph(times=times))

    def complete(self, kind: str, store: Store) -> None:
        """Ingest the same input again, and demand the graph of an undisturbed ingest."""
        ran = self.estate.ingest(kind, store)
        demand(ran.done, f"the same ingest again ends with {ran.code}: {ran.said[-500:]}")
        self.expect(kind, store)


def compare(graph: list[str], found: list[str]) -> None:
    """Demand that two graphs are the same."""
    missing, more = (set(one) - set(other) for one, other in ((graph, found), (found, graph)))
    shown = [one[:300] for one in (*sorted(missing)[:2], *sorted(more)[:2])]
    demand(found == graph, f"another graph: {len(missing)} missing, {len(more)} more, such as {shown}")


def _without_runs(graph: list[str]) -> list[str]:
    return [one for one in graph if not one.startswith("('Run'")]


def has_times(kind: str) -> bool:
    """Return whether an ingest of this kind takes its times from the input, and none from the clock."""
    return kind != "duckdb"


def demand(holds: bool, otherwise: str) -> None:
    """Go on if something holds.

    Raises:
        WrongError: it does not.
    """
    if not holds:
        raise WrongError(otherwise)


def explained(ran: Ran, *codes: int) -> str:
    """Return the error of a command that failed, which must be one for people: a status, a line, no traceback."""
    demand(ran.code in codes, f"exit status {ran.code}, not {codes}: {ran.said[-500:]}")
    demand("Traceback" not in ran.said, f"a traceback: {ran.said[-800:]}")
    demand(ran.said.strip() != "", "it says nothing")
    return ran.first_line


@dataclass(frozen=True)
class Fault:
    """A fault, and what makes it happen to a scene and says what then happened."""

    group: str
    name: str
    happen: Callable[[Scene], str]
    stores: tuple[str, ...] = BOTH


REGISTERED: dict[tuple[str, str], Fault] = {}
"""The faults of the modules that were imported, by group and name: importing one again changes nothing."""


def fault(
    group: str, name: str, stores: tuple[str, ...] = BOTH
) -> Callable[[Callable[[Scene], str]], Callable[[Scene], str]]:
    """Register a fault."""

    def register(happen: Callable[[Scene], str]) -> Callable[[Scene], str]:
        REGISTERED[group, name] = Fault(group, name, happen, stores)
        return happen

    return register
