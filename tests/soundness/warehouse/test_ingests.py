"""Ingests of random warehouses in any order and any number of times: a state machine over one store.

The same input again changes nothing; as of a day the answers are those of that day; events in another order leave the
same answers.
"""

from __future__ import annotations

import os
import tempfile
from datetime import timedelta
from pathlib import Path

from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from lineage.store import open_store
from lineage_ingest.query_log.pipeline.engines.opening import EngineKind
from tests.soundness.experiment import RejectedError
from tests.soundness.warehouse.check import histories, world_of
from tests.soundness.warehouse.histories import random_warehouse
from tests.soundness.warehouse.ingests import Answers, Ingester, ask, day_of, frozen
from tests.soundness.warehouse.laboratory import Laboratory
from tests.soundness.warehouse.tree import Warehouse
from tests.soundness.warehouse.world import InvalidError, Lineage

EXAMPLES = int(os.environ.get("LINEAGE_MACHINES", "4"))
_HOUR = timedelta(hours=1)


class Ingests(RuleBasedStateMachine):
    """One warehouse, its parts ingested in order, some again in between."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.store = open_store(Path(self.folder.name) / "store.db")
        self.next = 0
        self.answers: list[Answers] = []

    @initialize(number=st.integers(0, 10_000), way=st.sampled_from(("log", "events")))
    def begin(self, number: int, way: str) -> None:
        laboratory = Laboratory("machine")
        try:
            self.warehouse: Warehouse = random_warehouse(f"machine/{number}", laboratory, frozenset(), way)
            runs = histories(self.warehouse)
            self.lineages: list[Lineage] = [world_of(some).lineage() for some in runs]
        except (RejectedError, InvalidError):
            assume(False)
        finally:
            laboratory.close()
        self.ingester = Ingester(self.warehouse, self.store, Path(self.folder.name), EngineKind.LOCAL)

    def ingest(self, number: int, ingester: Ingester | None = None) -> None:
        used = ingester or self.ingester
        (used.part if self.warehouse.way == "log" else used.events)(number)

    @precondition(lambda self: self.next < len(self.warehouse.parts))
    @rule()
    def ingest_the_next_part(self) -> None:
        self.ingest(self.next)
        self.answers.append(ask(self.store, self.lineages[self.next], both=False))
        self.next += 1

    @precondition(lambda self: self.next > 0)
    @rule(data=st.data())
    def ingest_the_last_part_again(self, data: st.DataObject) -> None:
        before = frozen(self.store.dump())
        for _ in range(data.draw(st.integers(1, 2))):
            self.ingest(self.next - 1)
        assert frozen(self.store.dump()) == before

    @precondition(lambda self: self.next > 1)
    @rule(data=st.data())
    def ask_as_of_an_earlier_day(self, data: st.DataObject) -> None:
        day = data.draw(st.integers(0, self.next - 2))
        then, now = self.lineages[day], self.lineages[self.next - 1]
        lasting = _columns(then) & _columns(now)
        answers = ask(self.store, then, day_of(day + 1) - _HOUR, both=False)
        for base in then.must.keys() & now.must.keys():
            one, other = (found.impact[base] for found in (self.answers[day], answers))
            if one is not None and other is not None:
                assert (one & lasting) == (other & lasting)

    @precondition(lambda self: self.warehouse.way == "events" and self.next == len(self.warehouse.parts))
    @rule(data=st.data())
    def ingest_in_another_order(self, data: st.DataObject) -> None:
        order = data.draw(st.permutations(range(self.next)))
        with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "store.db") as store:
            ingester = Ingester(self.warehouse, store, Path(folder), EngineKind.LOCAL)
            for number in order:
                self.ingest(number, ingester)
            assert ask(store, self.lineages[-1], both=False) == self.answers[-1]

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()


def _columns(lineage: Lineage) -> frozenset[str]:
    return frozenset(f"{table}.{column}" for table, names in lineage.outputs.items() for column in names)


TestIngests = Ingests.TestCase
TestIngests.settings = settings(
    max_examples=EXAMPLES, stateful_step_count=6, deadline=None, suppress_health_check=list(HealthCheck)
)
