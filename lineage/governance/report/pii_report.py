"""The report: for each column with personal data, where its values go, the proof, the readers, and the policy."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cached_property
from typing import Any

from lineage.frozen import frozen
from lineage.garbage_collection import seldom_collecting
from lineage.governance.breakers import Breakers
from lineage.governance.exposure import CONFIDENCE, EXPOSURES, Exposure, ValueEffects
from lineage.governance.propagation import Influence, Reach, Spread, ValueStep, load_value_graph, spread
from lineage.governance.report.policy import Policy, PolicyEntry, Verdict
from lineage.governance.report.report_facts import ReportFacts
from lineage.governance.sql_proofs import Proof, proof_of
from lineage.governance.tags.tagging import Classification
from lineage.governance.warehouse.warehouse_policies import Protection
from lineage.model.batch import JobKind
from lineage.model.influence.transformations import Subtype
from lineage.model.names import dataset_of, is_column_key, split_dataset_key
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredTag
from lineage.traversal import UsageTotal

__all__ = [
    "UNRESOLVED",
    "BlindSpot",
    "Holder",
    "Influenced",
    "PiiReport",
    "ProvenStep",
    "Ruling",
    "SourceColumn",
    "make_report",
    "sources_among",
]

UNRESOLVED = "columns of some SQL"
"""The blind spot that counts the jobs of which only the tables are known."""
_READERS = "readers"
_SHOWN_USERS = 5
_SHOWN_NAMES = 5
_OF_LOGS = (JobKind.QUERY, JobKind.DEFINITION)
_COLUMN = re.compile(r"""[\w.$#"`\[\]]+""")
"""A column that is read as it is."""


@frozen
class ProvenStep:
    """A step of a path, with the SQL that proves it."""

    source: str
    target: str
    exposure: Exposure
    how: tuple[str, ...]
    proof: Proof
    since: datetime | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "source": self.source, "target": self.target, "exposure": str(self.exposure), "how": list(self.how),
            "since": self.since.isoformat() if self.since else None, **self.proof.to_dict(),
        }  # fmt: skip


@frozen
class Ruling:
    """What the policy says of one class in a column, and by which entry."""

    name: str
    verdict: Verdict
    entry: PolicyEntry | None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"class": self.name, "verdict": str(self.verdict), **(self.entry.record if self.entry else {})}


@frozen
class Holder:
    """A column that holds values of a source: the source itself, or one that they reach."""

    key: str
    name: str
    table: str
    namespace: str
    kind: str
    exposure: Exposure
    confidence: float
    path: tuple[ProvenStep, ...]
    usage: UsageTotal
    rulings: tuple[Ruling, ...] = ()
    protection: Protection = Protection()

    @property
    def hops(self) -> int:
        """Number of steps from the source."""
        return len(self.path)

    @property
    def since(self) -> datetime | None:
        """Since when the whole path is known to hold; None for the source itself."""
        return max((step.since for step in self.path if step.since is not None), default=None)

    @property
    def verdict(self) -> Verdict:
        """The worst that the policy says."""
        return max((one.verdict for one in self.rulings), key=tuple(Verdict).index, default=Verdict.ALLOW)

    @property
    def users(self) -> list[str]:
        """The most frequent users."""
        return [user for user, _ in self.usage.users.named[:_SHOWN_USERS]]

    def to_dict(self, place_of: Callable[[ProvenStep], int]) -> dict[str, Any]:
        """Return it as JSON values; `place_of` returns the place of a step in the source's list of steps."""
        read = self.usage.last_read
        return {
            "key": self.key, "name": self.name, "table": self.table, "namespace": self.namespace, "kind": self.kind,
            "exposure": str(self.exposure), "confidence": round(self.confidence, 2), "hops": self.hops,
            "since": self.since.isoformat() if self.since else None, "path": [place_of(step) for step in self.path],
            "reads": self.usage.reads,
            "distinct_users": self.usage.users.distinct, "users": [list(one) for one in self.usage.users.named],
            "last_read": read.isoformat() if read else None, "verdict": str(self.verdict),
            "policy": [one.to_dict() for one in self.rulings], "warehouse": self.protection.to_dict(),
        }  # fmt: skip


@frozen
class Influenced:
    """A column or table that a value decides about: in a filter, a join, a CASE. The value is not in it."""

    key: str
    name: str
    by: str
    how: tuple[str, ...]
    masked: bool
    proof: Proof

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "key": self.key, "name": self.name, "by": self.by, "how": list(self.how), "masked": self.masked,
            **self.proof.to_dict(),
        }  # fmt: skip


@frozen
class BlindSpot:
    """What the report cannot know, and why."""

    what: str
    why: str


@frozen(slots=False)
class SourceColumn:
    """A column with personal data from which its values start: its classes, and all columns that hold its values."""

    key: str
    name: str
    tags: tuple[StoredTag, ...]
    own: Holder
    holders: tuple[Holder, ...]
    influenced: tuple[Influenced, ...]
    stopped: tuple[str, ...]
    possibly: tuple[str, ...]

    @cached_property
    def by_exposure(self) -> dict[Exposure, int]:
        """Number of reached columns by exposure."""
        counts = Counter(one.exposure for one in self.holders)
        return {exposure: counts[exposure] for exposure in EXPOSURES}

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values. Most steps are on many paths: each is listed once, and paths have their places."""
        steps: dict[int, ProvenStep] = {}
        places: dict[int, int] = {}

        def place_of(step: ProvenStep) -> int:
            steps.setdefault(id(step), step)
            return places.setdefault(id(step), len(places))

        return {
            "key": self.key,
            "name": self.name,
            "tags": [
                {
                    "class": one.name, "confidence": one.confidence, "source": one.source, "by": one.stated_by,
                    "at": one.at.isoformat(), "why": one.why,
                }
                for one in self.tags
            ],
            "own": self.own.to_dict(place_of),
            "reached": [one.to_dict(place_of) for one in self.holders],
            "steps": [step.to_dict() for step in steps.values()],
            "influenced": [one.to_dict() for one in self.influenced],
            "stopped": list(self.stopped),
            "possibly_in_tables": list(self.possibly),
        }  # fmt: skip


@frozen(slots=False)
class PiiReport:
    """The report as of a time: its sources by name, and what it cannot know."""

    at: datetime
    classes: tuple[str, ...]
    sources: tuple[SourceColumn, ...]
    blind_spots: tuple[BlindSpot, ...]
    has_policy: bool = False
    breakers: tuple[str, ...] = ()

    @property
    def knows_readers(self) -> bool:
        """Whether any query log says who read what; else a count of 0 says nothing."""
        return all(one.what != _READERS for one in self.blind_spots)

    @property
    def rows(self) -> Iterator[tuple[SourceColumn, Holder]]:
        """Every source with itself and with each column that it reaches."""
        return ((source, holder) for source in self.sources for holder in (source.own, *source.holders))

    @cached_property
    def verdicts(self) -> dict[Verdict, int]:
        """Number of columns by verdict."""
        counts = Counter(holder.verdict for _, holder in self.rows)
        return {verdict: counts[verdict] for verdict in Verdict}

    @property
    def denied(self) -> list[tuple[SourceColumn, Holder]]:
        """Where the policy does not allow what is there."""
        return [(source, holder) for source, holder in self.rows if holder.verdict is Verdict.DENY]

    @cached_property
    def exposed(self) -> dict[Exposure, int]:
        """Number of reached columns by what they show, each once, by the most that any source shows there."""
        most: dict[str, Exposure] = {}
        for source in self.sources:
            for one in source.holders:
                most[one.key] = min(most.get(one.key, one.exposure), one.exposure, key=lambda each: each.rank)
        counts = Counter(most.values())
        return {exposure: counts[exposure] for exposure in EXPOSURES}

    @cached_property
    def tables(self) -> dict[str, tuple[Exposure, tuple[str, ...]]]:
        """The tables with reached columns by name: the most that any of their columns shows, and of which classes."""
        most: dict[str, Exposure] = {}
        classes: dict[str, set[str]] = {}
        for source in self.sources:
            for one in source.holders:
                most[one.table] = min(most.get(one.table, one.exposure), one.exposure, key=lambda each: each.rank)
                classes.setdefault(one.table, set()).update(tag.name for tag in source.tags)
        ordered = sorted(most.items(), key=lambda pair: (pair[1].rank, pair[0]))
        return {table: (exposure, tuple(sorted(classes[table]))) for table, exposure in ordered}

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "at": self.at.isoformat(),
            "classes": list(self.classes),
            "summary": {
                "source_columns": len(self.sources),
                "reached_columns": {str(exposure): number for exposure, number in self.exposed.items()},
                "tables": len(self.tables),
                "verdicts": {str(verdict): number for verdict, number in self.verdicts.items()},
            },
            "breakers": list(self.breakers),
            "blind_spots": [{"what": one.what, "why": one.why} for one in self.blind_spots],
            "sources": [source.to_dict() for source in self.sources],
        }


@seldom_collecting()
def make_report(
    store: GraphStore,
    classification: Classification,
    functions: ValueEffects,
    at: datetime,
    *,
    classes: Collection[str] = (),
    columns: Collection[str] | None = None,
    policy: Policy | None = None,
    breakers: Breakers | None = None,
) -> PiiReport:
    """Return the report of the columns of some classes (all, without any), or of `columns` (keys).

    A column whose classes another one of the report explains is part of that one's answer, and no source of its own,
    unless a person tagged it: see `sources_among`.

    Raises:
        StoreError: the store could not be read.
    """
    starts = sorted(columns) if columns is not None else classification.columns_of(classes)
    graph = load_value_graph(store, starts, functions)
    if breakers is not None:
        graph = breakers.apply(graph)
    spreads = {}
    for start in starts:
        own = {one.name for one in classification.tags.get(start, ())}
        wanted = own & set(classes) if classes else own
        stops = {key for key in classification.denials if key != start and classification.denies(key, wanted)}
        spreads[start] = spread(graph, start, stops)
    if columns is None:
        kept = sources_among(spreads, classification)
        spreads = {start: found for start, found in spreads.items() if start in kept}
    facts = ReportFacts(store, graph, spreads.values())
    sources = [_source(facts, found, classification, classes, policy) for found in spreads.values()]
    named = {tag.name for source in sources for tag in source.tags}
    spots = tuple(_blind_spots(facts, classification, sources))
    ordered = tuple(sorted(sources, key=lambda one: (one.name, one.key)))
    return PiiReport(at, tuple(sorted(named)), ordered, spots, policy is not None, breakers.texts if breakers else ())


def sources_among(spreads: Mapping[str, Spread], classification: Classification) -> set[str]:
    """Return the starts whose classes no other start explains, and those that people tagged.

    A column is explained by another one of its classes that reaches it unmasked; one that only rules tagged, because
    of its name (`email_hash`), by one that reaches it in any way.
    """
    explained: dict[str, set[str]] = {key: set() for key in spreads}
    for start, found in spreads.items():
        names = {one.name for one in classification.tags.get(start, ())}
        for key in found.reached.keys() & spreads.keys():
            by_rules = all(one.source == "rules" for one in classification.tags.get(key, ()))
            if start not in spreads[key].reached and (by_rules or found.reached[key].exposure is Exposure.UNMASKED):
                explained[key] |= names
    tags = {key: classification.tags.get(key, ()) for key in spreads}
    return {
        key
        for key, stated in tags.items()
        if any(one.source == "manual" for one in stated) or not {one.name for one in stated} <= explained[key]
    }


def _source(
    facts: ReportFacts,
    source_spread: Spread,
    classification: Classification,
    classes: Collection[str],
    policy: Policy | None,
) -> SourceColumn:
    tags = tuple(one for one in classification.tags.get(source_spread.start, ()) if not classes or one.name in classes)
    confidence = max((one.confidence for one in tags), default=1.0)
    names = [one.name for one in tags]
    own = _holder(facts, source_spread.start, source_spread, confidence, names, policy)
    holders = [_holder(facts, key, source_spread, confidence, names, policy) for key in source_spread.reached]
    return SourceColumn(
        key=source_spread.start,
        name=facts.names[source_spread.start],
        tags=tags,
        own=own,
        holders=tuple(sorted(holders, key=lambda one: (one.exposure.rank, one.hops, one.name, one.key))),
        influenced=tuple(_influenced(facts, one) for one in source_spread.influences),
        stopped=tuple(facts.names[key] for key in source_spread.stopped),
        possibly=tuple(facts.names.get(key, key) for key in facts.possibly[source_spread.start]),
    )


def _holder(
    facts: ReportFacts, key: str, found: Spread, confidence: float, classes: Iterable[str], policy: Policy | None
) -> Holder:
    reach = found.reached.get(key, Reach(Exposure.UNMASKED, ()))
    dataset = dataset_of(key)
    stored = facts.datasets.get(dataset)
    namespace = stored.namespace if stored else split_dataset_key(dataset)[0]
    table = facts.names[dataset]
    path = tuple(_proven(facts, step) for step in reach.path)
    rulings = (
        [Ruling(name, *policy.decide(name, namespace, table, reach.exposure)) for name in classes] if policy else []
    )
    kind = str(stored.kind) if stored else "table"
    sure = confidence * CONFIDENCE[reach.exposure]
    protection = facts.policies.protection(key).with_masks(facts.masks_behind[found.start].get(key, ()))
    return Holder(
        key, facts.names[key], table, namespace, kind, reach.exposure, sure, path, facts.usage(key), tuple(rulings),
        protection,
    )  # fmt: skip


def _proven(facts: ReportFacts, step: ValueStep) -> ProvenStep:
    """Return a step with its SQL: the same object for each path that it is on."""
    known = facts.proven.get(id(step))
    if known is None:
        names, how = facts.names, tuple(map(str, step.subtypes))
        proof = proof_of(facts.jobs.get(step.job), step.job, step.spans)
        known = ProvenStep(names[step.source], names[step.target], step.exposure, how, proof, step.since)
        facts.proven[id(step)] = known
    return known


def _influenced(facts: ReportFacts, influence: Influence) -> Influenced:
    proof = proof_of(facts.jobs.get(influence.job), influence.job, influence.spans)
    name = (
        facts.names[influence.target] if is_column_key(influence.target) else f"{facts.names[influence.target]} (rows)"
    )
    return Influenced(
        influence.target,
        name,
        facts.names[influence.source],
        tuple(map(str, influence.subtypes)),
        influence.masked,
        proof,
    )


def _blind_spots(
    facts: ReportFacts, classification: Classification, sources: Iterable[SourceColumn]
) -> Iterator[BlindSpot]:
    """Yield what the report cannot know."""
    if not facts.totals:
        yield BlindSpot(_READERS, "no ingested query log shows any use")
    else:
        first, last = min(one.first_day for one in facts.totals), max(one.last_day for one in facts.totals)
        covered = {split_dataset_key(one.of)[0] for one in facts.totals}
        yield BlindSpot("readers outside the logs", f"the logs cover {first} to {last}")
        if missing := sorted({one.namespace for one in facts.datasets.values()} - covered):
            yield BlindSpot("readers of some systems", f"no log covers {', '.join(missing)}")
    unresolved = [one for one in facts.read_jobs.values() if str(one.completeness) in ("tables", "none")]
    if unresolved:
        share = f"{len(unresolved):,} of {len(facts.read_jobs):,} jobs that read these tables"
        yield BlindSpot(UNRESOLVED, f"{share} are known by table only (lineage diagnostics)")
    possibly = {name for one in sources for name in one.possibly}
    if possibly:
        why = f"written by SQL whose columns are not known: {_first_names(possibly)}"
        yield BlindSpot("tables that may hold values", why)
    unseen = {step.target for one in sources for each in one.holders for step in each.path if _is_unseen(step, facts)}
    if unseen:
        why = "the SQL that computes them is not in the graph: temporary tables of a log, jobs without SQL"
        yield BlindSpot("what some columns show", f"{_first_names(unseen)} count as unmasked, but {why}")
    decrypted = {each.name for one in sources for each in one.holders if _is_decrypted(each)}
    if decrypted:
        why = f"{_first_names(decrypted)}: masked on their way, but by SQL that decrypts they may be in clear"
        yield BlindSpot("what is decrypted", why)
    if classification.pending:
        yield BlindSpot("pending tags", f"of columns that are not known: {len(classification.pending):,}")


_DECRYPTS_AGAIN = re.compile(
    r"(?:decrypt|detokeni[sz]e|unmask)\w*\s*\(.*(?:encrypt|tokeni[sz]e)", re.IGNORECASE | re.DOTALL
)
"""An expression that masks a value, and gives back at once what a mask has hidden; of which, it does not say."""


def _is_decrypted(holder: Holder) -> bool:
    """Return whether a column counts as masked by an expression that decrypts, too."""
    masks = (step for step in holder.path if step.exposure is Exposure.MASKED)
    return holder.exposure is Exposure.MASKED and any(
        _DECRYPTS_AGAIN.search(text) for step in masks for text in step.proof.sql
    )


def _is_unseen(step: ProvenStep, facts: ReportFacts) -> bool:
    """Return whether a value is computed, and not by the SQL of the step's job: perhaps to a part or a sum of it."""
    job = facts.jobs.get(step.proof.job)
    if job is None or step.exposure is not Exposure.UNMASKED or str(Subtype.IDENTITY) in step.how:
        return False
    return not job.sql or (job.kind in _OF_LOGS and all(map(_COLUMN.fullmatch, step.proof.sql)))


def _first_names(names: Collection[str]) -> str:
    shown = sorted(names)
    more = f" and {len(shown) - _SHOWN_NAMES:,} more" if len(shown) > _SHOWN_NAMES else ""
    return ", ".join(shown[:_SHOWN_NAMES]) + more
