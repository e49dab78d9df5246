"""Facts about a dataset or column besides lineage, as a source states them: documentation, contracts, tests, freshness.

Each source (a node of a dbt project) has its own facts of a dataset; they replace what it stated before. They are
about now: `as_of` does not change them. A steward's description and tags are stored apart.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from datetime import UTC, datetime
from typing import Any

from msgspec import convert

from lineage.frozen import frozen

__all__ = [
    "Check",
    "CheckResult",
    "Constraint",
    "Facts",
    "FactsRecord",
    "Freshness",
    "domains_in",
    "facts_from",
    "facts_text",
]

MAX_TEXT = 10_000
"""Maximum characters of a description, and of all metadata of one source; longer ones are cut, or left out."""
_DOMAIN = "domain:"
MAX_CHECKS = 200
"""Maximum number of tests of one dataset or column."""


@frozen
class CheckResult:
    """The last result of a test: pass, warn, fail, error or skipped; `failures` is the number of rows that failed."""

    status: str
    at: datetime
    failures: int | None = None


@frozen
class Check:
    """A test of a dataset or its columns (paths), by its unique key. Without `result`, it has not been run.

    `kind` is its generic test (`unique`, `not_null`, …), `singular` or `unit`; `refers_to` is the other dataset whose
    values it compares with. `severity` is what a failure means: error or warn. With a `condition` (literals masked), it
    is of the rows that meet it, and says nothing about the others.
    """

    key: str
    kind: str
    columns: tuple[str, ...] = ()
    severity: str | None = None
    refers_to: str | None = None
    result: CheckResult | None = None
    condition: str | None = None


@frozen
class Constraint:
    """A declared constraint: its type (`not_null`, `primary_key`, `check`, …), columns, and its masked expression."""

    kind: str
    columns: tuple[str, ...] = ()
    expression: str | None = None


@frozen
class Freshness:
    """How recent a source's rows were: `status` is pass, warn or error, `loaded_at` the time of the newest row."""

    status: str
    at: datetime
    loaded_at: datetime | None = None


@frozen
class Facts:
    """What one source states of a dataset or column, as of a time.

    `data_type` is the declared type, which the database's may differ from. `is_contracted`: the types and constraints
    are enforced when the dataset is built. `meta` are names with JSON values.
    """

    source: str
    at: datetime
    description: str | None = None
    tags: tuple[str, ...] = ()
    meta: tuple[tuple[str, str], ...] = ()
    owner: str | None = None
    data_type: str | None = None
    is_contracted: bool = False
    constraints: tuple[Constraint, ...] = ()
    checks: tuple[Check, ...] = ()
    freshness: Freshness | None = None

    def after(self, earlier: Facts) -> Facts:
        """Return the facts with the results that only earlier facts of the same source have.

        A run of some tests says nothing about the others: they keep their last result.
        """
        known = {one.key: one for one in earlier.checks}
        checks = tuple(
            replace(one, result=latest_result(one.result, known[one.key].result)) if one.key in known else one
            for one in self.checks
        )
        fresh = max(
            (one for one in (earlier.freshness, self.freshness) if one is not None),
            key=lambda one: one.at,
            default=None,
        )
        return replace(self, checks=checks, freshness=fresh)


def latest_result(result: CheckResult | None, other: CheckResult | None) -> CheckResult | None:
    """Return the later of two results; at the same time, the first."""
    if result is None or other is None:
        return result or other
    return result if result.at >= other.at else other


@frozen
class FactsRecord:
    """The facts of one source about a dataset (by key) and its columns (by path)."""

    dataset: str
    facts: Facts
    columns: Mapping[str, Facts] = field(default_factory=dict)


def facts_text(facts: Iterable[Facts]) -> str | None:
    """Return facts of several sources as they are stored; None without any.

    >>> from datetime import UTC, datetime
    >>> facts_text([Facts("dbt/shop:model.shop.a@", datetime(2026, 3, 1, tzinfo=UTC), description="Orders.")])
    '{"dbt/shop:model.shop.a@":{"at":"2026-03-01T00:00:00+00:00","description":"Orders."}}'
    """
    stated = {one.source: _stated(one) for one in sorted(facts, key=lambda one: one.source)}
    return _ENCODER.encode(stated) if stated else None


def facts_from(text: str | None) -> tuple[Facts, ...]:
    """Return the facts of each source that `facts_text` wrote, ordered by source."""
    return tuple(
        convert(stated | {"source": source, "meta": tuple(stated.get("meta", {}).items())}, Facts)
        for source, stated in (json.loads(text).items() if text else ())
    )


def domains_in(facts: Iterable[Facts], tags: Iterable[str]) -> set[str]:
    """Return the domains that a dataset belongs to: of tags `domain:NAME`, and of the metadata `domain`.

    >>> sorted(domains_in([Facts("dbt", datetime.now(UTC), meta=(("domain", '"sales"'),))], ["domain: finance", "pii"]))
    ['finance', 'sales']
    """
    domains = {text[len(_DOMAIN) :].strip() for text in tags if text.casefold().startswith(_DOMAIN)}
    for one in facts:
        domains |= domains_in((), one.tags)
        for name, text in one.meta:
            value = json.loads(text) if name.casefold() == "domain" else None
            domains |= {
                each.strip() for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)
            }
    return domains - {""}


def _stated(facts: Facts) -> dict[str, Any]:
    found = _set_fields(facts)
    del found["source"]
    return found | {"meta": dict(facts.meta)} if facts.meta else found


def _set_fields(value: Any) -> dict[str, Any]:
    """Return the fields of a value of this module that are set; a number of 0 is."""
    given = ((name, getattr(value, name)) for name in value.__slots__)
    return {name: found for name, found in given if found or type(found) is int}


def _plain(value: Any) -> Any:
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else _set_fields(value)


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain)
