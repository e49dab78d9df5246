"""The lineage of jobs: observations of units, replacement and retirement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from lineage.model.batch import JobRecord
from lineage.store.planning.datasets import AllDrops
from lineage.store.planning.graph_state import GraphState, JobEdge, JobOutput, Seen
from lineage.store.planning.intake import Observation, Stated
from lineage.store.planning.observations import ABSENT, UNOBSERVED, Timeline, latest_times
from lineage.store.planning.validity import Period, extend, retire_at, set_window
from lineage.store.values import StoredJob

__all__ = ["Units"]


@dataclass(slots=True)
class Units:
    """The units (a job and one output) of a state, with the times that bound their lineage.

    These are `drops`, and `absences`: the times at which a complete source was ingested without the job.
    """

    state: GraphState
    drops: AllDrops
    absences: Mapping[str, tuple[datetime, ...]]
    outputs: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    pairs: dict[tuple[str, str], set[JobEdge]] = field(default_factory=lambda: defaultdict(set))
    spared: Mapping[str, frozenset[datetime]] = field(default_factory=dict)
    """Of the observation that is applied: the DROPs of keys that concern other datasets."""

    def __post_init__(self) -> None:
        for job, output in self.state.units:
            self.outputs[job].add(output)
        for pair in self.state.histories:
            self.pairs[pair.job, pair.output].add(pair)

    def observe(self, observation: Observation) -> None:
        """Apply an observation of a job."""
        job = observation.job
        self.spared = observation.spared
        state = self.state
        observed = self._moments_observed(job.key)
        moments = self._moments_that_count(job)
        state.jobs[job.key] = self._job(job, moments)
        for read in job.reads:
            seen = state.reads.get((job.key, read)) or Seen(job.first_seen, job.last_seen)
            state.reads[job.key, read] = seen.widened(job.first_seen, job.last_seen)
        for output, stated in observation.outputs.items():
            if job.kind.defines_output:
                self._replace(job, output, stated, observation.digests[output], observed, moments)
            else:
                self._add(job, output, stated)
        if job.kind.defines_output:
            for output in self.outputs[job.key] - observation.outputs.keys():
                self._replace(job, output, None, ABSENT, observed, moments)

    def retire(self, job: StoredJob, at: datetime) -> None:
        """Retire the lineage of a job that its source no longer contains at `at`, unless it was observed since."""
        if job.first_seen > at:
            return
        for output in self.outputs[job.key]:
            unit = self.state.units[job.key, output]
            if job.kind.defines_output:
                unit = replace(unit, timeline=unit.timeline.observe(at, ABSENT).without_repeated_absence())
                self.state.units[job.key, output] = unit
                self._set_windows(unit, [at], (job.key, output), {})
                continue
            for pair in self.pairs[job.key, output]:
                self.state.histories[pair] = retire_at(self.state.histories[pair], at, UNOBSERVED)
        if job.last_seen <= at and job.retired_at is None:
            self.state.jobs[job.key] = replace(job, retired_at=at)

    def _job(self, record: JobRecord, moments: Iterable[datetime]) -> StoredJob:
        known = self.state.jobs.get(record.key)
        observed_at = known.observed_at if known is not None else ()
        if record.kind.defines_output:
            observed_at = latest_times(observed_at, moments)
        first_seen, last_seen = record.first_seen, record.last_seen
        retired_at = min((at for at in self.absences.get(record.key, ()) if at > last_seen), default=None)
        if known is not None:
            first_seen = min(first_seen, known.first_seen)
            if known.last_seen > last_seen or (known.last_seen == last_seen and self._is_outranked(record, known)):
                return replace(known, first_seen=first_seen, observed_at=observed_at)
            if known.retired_at is not None and known.retired_at > last_seen:
                retired_at = known.retired_at
        return StoredJob(
            key=record.key,
            kind=record.kind,
            sql=record.sql,
            dialect=record.dialect,
            operation=record.operation,
            source=record.source,
            source_line=record.source_line,
            completeness=record.completeness,
            first_seen=first_seen,
            last_seen=last_seen,
            retired_at=retired_at,
            file_key=record.file_key,
            positions=record.positions,
            observed_at=observed_at,
            policies=record.policies,
        )

    def _is_outranked(self, record: JobRecord, known: StoredJob) -> bool:
        """Return whether the stored job is from the same moment as a record and takes precedence."""
        outputs, tie = self.outputs[record.key], record.ties[1]
        if tie and not outputs and not record.writes:
            # A job without outputs has no timeline.
            return (known.sql or "") > (record.sql or "")
        return any(self.state.units[record.key, one].timeline.outranks(record.last_seen, tie) for one in outputs)

    def _moments_that_count(self, job: JobRecord) -> list[datetime]:
        """Return the moments at which a record applies; another observation of the same moment may take precedence."""
        lines = [self.state.units[job.key, output].timeline for output in self.outputs[job.key]]
        ties = dict(zip((job.first_seen, job.last_seen), job.ties, strict=True))
        return sorted(at for at, tie in ties.items() if not any(line.outranks(at, tie) for line in lines))

    def _unit(self, job: JobRecord, output: str, timeline: Timeline) -> JobOutput:
        known = self.state.units.get((job.key, output))
        if known is None:
            return JobOutput(job.first_seen, job.last_seen, timeline)
        first_seen, last_seen = min(known.first_seen, job.first_seen), max(known.last_seen, job.last_seen)
        return JobOutput(first_seen, last_seen, timeline)

    def _add(self, job: JobRecord, output: str, stated: Mapping[JobEdge, Stated]) -> None:
        state = self.state
        state.units[job.key, output] = self._unit(job, output, UNOBSERVED)
        self.outputs[job.key].add(output)
        ends = [prune.at for prune in state.prunes.values() if job.last_seen < prune.older_than]
        ends += self.absences.get(job.key, ())
        for pair, said in stated.items():
            bounds = (*self._drops_of(pair), *ends)
            end = min((at for at in bounds if at > job.last_seen), default=None)
            period = Period(job.first_seen, end, job.last_seen, said.meaning, said.spans)
            state.histories[pair] = extend(state.histories.get(pair, ()), period)
            self.pairs[job.key, output].add(pair)

    def _moments_observed(self, job: str) -> set[datetime]:
        """Return the known moments at which a job was observed, with whatever outputs."""
        known = self.state.jobs.get(job)
        moments = {known.first_seen, known.last_seen, *known.observed_at} if known else set()
        for output in self.outputs[job]:
            moments.update(at for at, _ in self.state.units[job, output].timeline.points)
        return moments

    def _replace(
        self,
        job: JobRecord,
        output: str,
        stated: Mapping[JobEdge, Stated] | None,
        content: str,
        observed: Iterable[datetime],
        moments: list[datetime],
    ) -> None:
        """Replace the unit's lineage from each of the observation's moments until the next known one.

        A new unit was absent whenever its job was observed before.
        """
        known = self.state.units.get((job.key, output))
        timeline = known.timeline if known else UNOBSERVED
        for moment in moments:
            timeline = timeline.observe(moment, content, job.ties[moment == job.last_seen])
        # After the moments: only the ends of a run of equal observations are kept, and the moments may split a run.
        for absent_at in (*_absent_at(known, observed), *self.absences.get(job.key, ())):
            if absent_at not in moments:
                timeline = timeline.observe(absent_at, ABSENT)
        if stated is None and known is not None:
            unit = replace(known, timeline=timeline)
        else:
            unit = self._unit(job, output, timeline)
        self.state.units[job.key, output] = unit
        self.outputs[job.key].add(output)
        self._set_windows(unit, moments, (job.key, output), stated or {})

    def _set_windows(
        self, unit: JobOutput, moments: Iterable[datetime], key: tuple[str, str], stated: Mapping[JobEdge, Stated]
    ) -> None:
        pairs = self.pairs[key]
        pairs.update(stated)
        windows = [(moment, unit.timeline.next_after(moment)) for moment in moments]
        histories = self.state.histories
        for pair in pairs:
            history = histories.get(pair, ())
            for window in windows:
                said = stated.get(pair)
                period = self._period(pair, window, said) if said else None
                history = set_window(history, window, period, unit.timeline)
            if history:
                histories[pair] = history
            else:
                histories.pop(pair, None)

    def _period(self, pair: JobEdge, window: tuple[datetime, datetime | None], said: Stated) -> Period:
        start, end = window
        dropped = min((at for at in self._drops_of(pair) if at > start), default=None)
        if dropped is not None and (end is None or dropped < end):
            end = dropped
        return Period(start, end, start, said.meaning, said.spans)

    def _drops_of(self, pair: JobEdge) -> tuple[datetime, ...]:
        if not self.drops.into:
            return ()
        sources, targets = dict.fromkeys((pair.from_dataset, pair.source)), dict.fromkeys((pair.output, pair.target))
        found = [(key, at) for key in sources for at in self.drops.out_of.get(key, ())]
        found += [(key, at) for key in targets for at in self.drops.into.get(key, ())]
        return tuple(at for key, at in found if at not in self.spared.get(key, ()))


def _absent_at(known: JobOutput | None, observed: Iterable[datetime]) -> list[datetime]:
    """Return the moments at which a job was observed without the unit."""
    if known is None:
        return list(observed)
    if not known.timeline.points:
        return []
    return [at for at in observed if known.timeline.content_at(at) == ABSENT]
