"""One warehouse, checked: what a store answers against what must be reached, what may be, and what DuckDB shows."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from lineage.store import GraphStore, open_store
from lineage_ingest.query_log.pipeline.engines.opening import EngineKind
from tests.neo4j_fixture import Neo4jAddress
from tests.soundness.experiment import WAYS, Outcome, RejectedError
from tests.soundness.warehouse.fresh import unlike_fresh, unlike_whole
from tests.soundness.warehouse.ingests import Answers, Ingester, ask, day_of, frozen
from tests.soundness.warehouse.laboratory import Laboratory, Variant
from tests.soundness.warehouse.tree import (
    AddColumn,
    CreateAs,
    Drop,
    DropColumn,
    Part,
    RenameColumn,
    RenameTable,
    Run,
    State,
    Warehouse,
)
from tests.soundness.warehouse.world import InvalidError, Lineage, World
from tests.store.conftest import emptied

__all__ = ["Checker", "Finding", "Settings", "changed_later", "histories", "runs_of", "world_of"]

_ORDERS = range(1, 7)

Dump: TypeAlias = "tuple[Sequence[object], Sequence[object]]"


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong: `kind` names the check, `after` the ingest behind which it was seen.

    missed: DuckDB shows it, and the answer lacks it. unreached: it must be in the answer, and no experiment showed it
    yet. invented: it is in the answer, and nothing leads there. one-way: impact and root cause disagree. again: the
    same input changed the graph. order: another order of ingests gave other answers. past: `as_of` an earlier day is
    not what was answered then. fresh: what holds now is not what a fresh store of the last files has. whole: nor what
    one has of all parts of the log in one. crash: an exception. model: DuckDB shows what this test does not know of.
    """

    kind: str
    details: tuple[str, ...]
    after: str

    @property
    def sign(self) -> tuple[str, str]:
        """What two findings of one cause have in common."""
        kind = "missed" if self.kind == "unreached" else self.kind
        if kind in ("missed", "invented", "one-way", "past", "order"):
            return kind, ""
        return kind, re.sub(r"\w+\.\w+\.\w+|'.*'|\d", "_", self.details[0])[:60]


@dataclass(frozen=True, slots=True)
class Settings:
    """What is tried with each warehouse beside asking after every ingest."""

    experiments: bool = True
    asked: bool = True
    """Whether a store is asked at all: else only this test's own knowledge is held against DuckDB."""
    again: bool = True
    engine: EngineKind = EngineKind.LOCAL
    store: Neo4jAddress | None = None
    """The Neo4j that is emptied for each; an embedded store of its own, if it is left out."""
    ignored: frozenset[str] = frozenset()
    """Kinds of finding that are not looked for."""


@dataclass(slots=True)
class Checker:
    """Checks warehouses; a laboratory is kept, since opening a database takes longer than a statement."""

    seed: str
    settings: Settings = field(default_factory=Settings)
    experiments: int = 0
    asked: int = 0
    _laboratory: Laboratory | None = None

    @property
    def laboratory(self) -> Laboratory:
        if self._laboratory is None:
            self._laboratory = Laboratory(self.seed)
        return self._laboratory

    def close(self) -> None:
        if self._laboratory is not None:
            self._laboratory.close()
            self._laboratory = None

    def finding(self, warehouse: Warehouse) -> Finding | None:
        """Return the first thing that is wrong with what is said about a warehouse.

        Raises:
            RejectedError, InvalidError: the warehouse cannot be built.
        """
        all_runs = histories(warehouse)
        # What is gone since an earlier ingest has ended: only `as_of` shows it.
        lost = len(all_runs) == 1 and warehouse.way != "events"
        lineages = [world_of(runs).lineage(lost=lost) for runs in all_runs]
        if self.settings.experiments:
            found = self._modelled(all_runs[-1], lineages[-1])
            if found is not None or not self.settings.asked:
                return found
        with tempfile.TemporaryDirectory() as folder, _store(Path(folder), self.settings) as store:
            try:
                return self._ingested(warehouse, lineages, store, Path(folder))
            except (RejectedError, InvalidError):
                raise
            except Exception as error:  # noqa: BLE001  whatever an ingest raises is a finding
                return Finding("crash", (f"{type(error).__name__}: {error}",), "")

    def _ingested(
        self, warehouse: Warehouse, lineages: list[Lineage], store: GraphStore, folder: Path
    ) -> Finding | None:
        ingester = Ingester(warehouse, store, folder / "input", self.settings.engine)
        (folder / "input").mkdir()
        ingest = {"files": ingester.state, "log": ingester.part, "events": ingester.events}[warehouse.way]
        past: list[Answers] = []
        for number, (runs, lineage) in enumerate(zip(histories(warehouse), lineages, strict=True)):
            after = f"day {number}" if warehouse.states else f"log {number}"
            ingest(number)
            answers = ask(store, lineage)
            past.append(answers)
            found = self._answered(answers, lineage, runs, after)
            if found is not None:
                return found
            if self.settings.again:
                before = frozen(store.dump())
                ingest(number)
                changed = self._same(before, frozen(store.dump()), after)
                if changed is not None:
                    return self._answered(ask(store, lineage), lineage, runs, f"{after}, ingested again") or changed
        if len(past) == 1:
            return None
        if warehouse.way == "files" and "fresh" not in self.settings.ignored and not self.settings.store:
            different = self._unlike_fresh(warehouse, store, folder / "input")
            if different is not None:
                return different
        if warehouse.way == "log" and "whole" not in self.settings.ignored and not self.settings.store:
            different = self._unlike_whole(warehouse, lineages[-1], store, folder / "input")
            if different is not None:
                return different
        # A log that comes first without the schemas which another states cannot be read like one that comes behind it.
        if warehouse.way == "events" and "order" not in self.settings.ignored:
            found = self._in_another_order(warehouse, lineages[-1], past[-1], runs)
            if found is not None:
                return found
        return None if "past" in self.settings.ignored else self._past(store, lineages, past, warehouse)

    def _unlike_fresh(self, warehouse: Warehouse, store: GraphStore, folder: Path) -> Finding | None:
        """Ingest the last state of the files whole, here and into a fresh store; return what differs then."""
        last = len(warehouse.states) - 1
        with tempfile.TemporaryDirectory() as other, open_store(Path(other) / "store.db") as fresh:
            for each in (store, fresh, fresh):  # the second time, it knows its own columns
                Ingester(warehouse, each, folder, self.settings.engine).state(last, everything=True)
            different = unlike_fresh(store, fresh)
        return Finding("fresh", tuple(different[:12]), "the last day, all projects") if different else None

    def _unlike_whole(self, warehouse: Warehouse, lineage: Lineage, store: GraphStore, folder: Path) -> Finding | None:
        """Ingest all parts of a log as one into a fresh store; return what differs there."""
        with tempfile.TemporaryDirectory() as other, open_store(Path(other) / "store.db") as whole:
            Ingester(warehouse, whole, folder, self.settings.engine).whole()
            different = unlike_whole(store, whole, changed_later(warehouse) | lineage.broken)
        return Finding("whole", tuple(different[:12]), "all parts in one log") if different else None

    def _in_another_order(
        self, warehouse: Warehouse, lineage: Lineage, straight: Answers, runs: Sequence[Run]
    ) -> Finding | None:
        """Ingest the last part first; return what is answered otherwise then."""
        with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "store.db") as store:
            ingester = Ingester(warehouse, store, Path(folder), self.settings.engine)
            for number in reversed(range(len(warehouse.parts))):
                ingester.events(number)
            answers = ask(store, lineage)
        found = self._answered(answers, lineage, runs, "the last part first")
        if found is not None:
            return replace(found, kind="order")
        different = [
            f"{base} reaches {output} in one order only"
            for base, reached in straight.impact.items()
            for output in sorted((reached or frozenset()) ^ (answers.impact[base] or frozenset()))
        ]
        return Finding("order", tuple(different), "the last part first") if different else None

    def _past(
        self, store: GraphStore, lineages: list[Lineage], past: list[Answers], warehouse: Warehouse
    ) -> Finding | None:
        for number, (lineage, then) in enumerate(zip(lineages[:-1], past, strict=False)):
            # What is gone or has another name now is asked about under its name of now, if at all.
            lasting = _columns(lineage) & _columns(lineages[-1])
            left = _names_left(warehouse.parts[number + 1 :])
            lasting = frozenset(output for output in lasting if output.split(".")[-2] not in left)
            now = ask(store, lineage, day_of(number + 1) - (day_of(1) - day_of(0)) / 24, both=False)
            for base, reached in then.impact.items():
                if base not in lineages[-1].must:
                    continue
                current = now.impact[base]
                if reached is None or current is None:
                    continue
                gone = (reached - current) & lasting
                more = (current - reached) & lasting
                if gone or more:
                    details = tuple(f"{base} then reached {o}" for o in sorted(gone)) + tuple(
                        f"{base} did not yet reach {o}" for o in sorted(more)
                    )
                    return Finding("past", details, f"as of day {number}")
        return None

    def _answered(self, answers: Answers, lineage: Lineage, runs: Sequence[Run], after: str) -> Finding | None:
        self.asked += 1
        missing: list[tuple[str, str]] = []
        invented: list[str] = []
        one_way: list[str] = []
        columns = _columns(lineage)
        for base, must in lineage.must.items():
            answered = answers.impact[base] or frozenset()
            reached = frozenset(o for o in answered if o.rpartition(".")[0] not in lineage.broken)
            missing += [(base, output) for output in sorted(must - reached)]
            invented += [f"{base} reaches {output}" for output in sorted((reached & columns) - lineage.may[base])]
            invented += [
                f"{base} reaches {output}, which is no column"
                for output in sorted(reached - columns - answers.unknown - lineage.gone)
                if _is_of(output, lineage.outputs)
            ]
            invented += [
                f"{base} reaches {output}, which is no table"
                for output in sorted(reached - columns)
                if not _is_of(output, lineage.outputs)
            ]
            one_way += [
                f"{base} is no cause of {output}"
                for output in sorted(must & reached & answers.causes.keys())
                if base not in (answers.causes[output] or frozenset())
            ]
        if missing and "missed" not in self.settings.ignored:
            if self.settings.experiments:
                return self._shown(missing, lineage, runs, after)
            return Finding("missed", tuple(f"{base} decides {output}" for base, output in missing), after)
        for kind, details in (("invented", invented), ("one-way", one_way)):
            if details and kind not in self.settings.ignored:
                return Finding(kind, tuple(details), after)
        return None

    def _same(self, before: Dump, now: Dump, after: str) -> Finding | None:
        if before == now or "again" in self.settings.ignored:
            return None
        old, new = (list(chain(*each)) for each in (before, now))
        gone = [f"gone: {each}" for each in old if each not in new]
        more = [f"new: {each}" for each in new if each not in old]
        return Finding("again", (*gone, *more)[:12] or ("another order",), after)

    # Experiments

    def _modelled(self, runs: Sequence[Run], lineage: Lineage) -> Finding | None:
        """Return what a changed base column changes that this test does not know to depend on it."""
        laboratory = self.laboratory
        before = laboratory.rebuild(runs, lineage.outputs, Variant())
        alike: dict[frozenset[str], list[str]] = {}
        for base, reached in lineage.must.items():
            alike.setdefault(reached | {base}, []).append(base)
        for turn, (reached, bases) in enumerate(alike.items()):
            changes = {lineage.bases[base]: WAYS[(turn + i) % len(WAYS)] for i, base in enumerate(bases)}
            self.experiments += 1
            try:
                now = laboratory.rebuild(runs, lineage.outputs, Variant(changes))
            except RejectedError:
                continue  # a value out of range
            different = _different(before, now, reached)
            if different and self._is_stable(runs, before):
                return Finding("model", tuple(f"{', '.join(bases)} changes {each}" for each in different), "")
        return None

    def _is_stable(self, runs: Sequence[Run], before: dict[str, Outcome]) -> bool:
        """Return whether the order of rows shows nowhere."""
        try:
            for order in _ORDERS:
                now = self.laboratory.rebuild(runs, before, Variant(order=order))
                if _different(before, now, frozenset()):
                    return False
        except RejectedError:
            return False
        return True

    def _shown(self, missing: list[tuple[str, str]], lineage: Lineage, runs: Sequence[Run], after: str) -> Finding:
        """Return what is missing, that which an experiment shows first."""
        laboratory = self.laboratory
        shown: list[str] = []
        try:
            before = laboratory.rebuild(runs, lineage.outputs, Variant())
            for base in dict.fromkeys(base for base, _ in missing):
                for way in WAYS:
                    changes = {lineage.bases[base]: way}
                    try:
                        now = laboratory.rebuild(runs, lineage.outputs, Variant(changes))
                    except RejectedError:
                        continue
                    shown += [
                        f"{base} changes {output} ({way})"
                        for start, output in missing
                        if start == base and _different(before, now, _all_but(lineage, output))
                    ]
        except RejectedError:
            pass
        unshown = [f"{base} decides {output}" for base, output in missing]
        if shown:
            unshown = [each for each in unshown if each.replace(" decides ", " changes ") not in " ".join(shown)]
        return Finding("missed" if shown else "unreached", (*dict.fromkeys(shown), *unshown), after)


def _is_of(output: str, outputs: dict[str, tuple[str, ...]]) -> bool:
    return output.rpartition(".")[0] in outputs


def _columns(lineage: Lineage) -> frozenset[str]:
    return frozenset(f"{table}.{column}" for table, names in lineage.outputs.items() for column in names)


def _names_left(parts: Iterable[Part]) -> frozenset[str]:
    """Return the names, without schemas, that tables had which were renamed: others may have taken them."""
    statements = (run.step for part in parts for run in part.runs)
    return frozenset(one.name.rpartition(".")[2] for one in statements if isinstance(one, RenameTable))


def _all_but(lineage: Lineage, output: str) -> frozenset[str]:
    return _columns(lineage) - {output}


def _different(before: dict[str, Outcome], now: dict[str, Outcome], reached: frozenset[str]) -> list[str]:
    """Return the tables whose columns differ, but for those that are reached."""
    found = []
    for table, outcome in before.items():
        kept = [i for i, name in enumerate(outcome.names) if f"{table}.{name}" not in reached]
        if table not in now or now[table].names != outcome.names or not kept:
            continue
        if not outcome.same(now[table], kept):
            found.append(f"{table}({', '.join(outcome.names[i] for i in kept)})")
    return found


@contextmanager
def _store(folder: Path, settings: Settings) -> Iterator[GraphStore]:
    with emptied(settings.store)() if settings.store else open_store(folder / "store.db") as store:
        yield store


def runs_of(state: State) -> tuple[Run, ...]:
    """Return the statements of a state's files, in the order in which they run; each file is a session."""
    files = sorted(state.files, key=lambda file: (file.project, file.path))
    return tuple(replace(run, session=number) for number, file in enumerate(files, 1) for run in file.runs)


def histories(warehouse: Warehouse) -> list[tuple[Run, ...]]:
    """Return what has taken effect after each ingest."""
    if warehouse.states:
        return [runs_of(state) for state in warehouse.states]
    found: list[tuple[Run, ...]] = []
    for number, part in enumerate(warehouse.parts):
        own = tuple(replace(run, session=1000 * number + run.session) for run in part.runs)
        found.append((*(found[-1] if found else ()), *own))
    return found


def world_of(runs: Sequence[Run], world: World | None = None) -> World:
    """Return the world (an empty one, if it is left out) after these statements.

    Raises:
        InvalidError: one does not fit.
    """
    world = World() if world is None else world
    for run in runs:
        world.apply(run.session, run.step)
    return world


def changed_later(warehouse: Warehouse) -> frozenset[str]:
    """Return the tables, by each of their names, that a part of a log but the first renames, drops, replaces or alters.

    Raises:
        InvalidError: a statement does not fit.
    """
    first, *_ = all_runs = histories(warehouse)
    world = world_of(first)
    found: set[str] = set()
    for run in all_runs[-1][len(first) :]:
        if isinstance(run.step, RenameTable | RenameColumn | AddColumn | DropColumn | Drop | CreateAs):
            name = run.step.name
            with suppress(InvalidError):
                found.add(world.find(run.session, name).full_name)
        world.apply(run.session, run.step)
        if isinstance(run.step, RenameTable):
            found.add(f"{name.rpartition('.')[0]}.{run.step.new}")
    return frozenset(found)
