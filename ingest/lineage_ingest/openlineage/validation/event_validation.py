"""Validation of events against OpenLineage's schemas: invalid facets are ignored, invalid events rejected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from lineage.export.openlineage import DATASET_FACET
from lineage.frozen import frozen
from lineage.model.text.json_values import find_unstorable
from lineage_ingest.openlineage.plan_facet import PLAN_FACET
from lineage_ingest.openlineage.validation.json_schemas import (
    FACETS_WITH_SCHEMA,
    SchemasMissingError,
    core_validator,
    facet_validator,
)
from lineage_ingest.openlineage.validation.producer_deviations import optional_members, read_time, without_nulls

__all__ = ["READ_FACETS", "CheckedEvent", "EventKind", "InvalidEventError", "SchemasMissingError", "check"]

READ_FACETS: Mapping[str, frozenset[str]] = {
    of: frozenset({name for holder, name in FACETS_WITH_SCHEMA if holder == of} | extra)
    for of, extra in (("run", {PLAN_FACET}), ("job", set()), ("dataset", {DATASET_FACET}))
}
"""The facets that are read, by what they belong to; all others are ignored."""

_HINT = "see openlineage.io/spec/2-0-2/OpenLineage.json for what an event requires"


class EventKind(StrEnum):
    """The kinds of event."""

    RUN = "RunEvent"
    DATASET = "DatasetEvent"
    JOB = "JobEvent"


class InvalidEventError(ValueError):
    """Not a valid OpenLineage event: a JSON pointer to what is wrong, the reason, and a hint."""

    def __init__(self, pointer: str, reason: str, hint: str = _HINT) -> None:
        # Names in the pointer may hold lone surrogates, which no response can encode.
        pointer = pointer.encode(errors="backslashreplace").decode()
        super().__init__(f"{pointer or '/'}: {reason}")
        self.pointer = pointer
        self.reason = reason
        self.hint = hint


@frozen
class CheckedEvent:
    """A valid event without its invalid facets; `problems` names these and gives the reasons."""

    kind: EventKind
    event: Mapping[str, Any]
    problems: tuple[str, ...] = ()


def check(event: object) -> CheckedEvent:
    """Return the event with those of its facets that are read and valid.

    Raises:
        InvalidEventError: it is not valid against OpenLineage 2-0-2.
        SchemasMissingError: jsonschema-rs is not installed.
    """
    if not isinstance(event, dict):
        raise InvalidEventError("", f"an event is an object, not {_json_type(event)}")
    kind = _kind(event)
    slim = _slim(event)
    unstorable = find_unstorable(slim)
    if unstorable is not None:
        raise InvalidEventError(*unstorable, "send text that is valid Unicode")
    problems: list[str] = []
    if "eventTime" in slim:
        slim["eventTime"] = read_time(slim["eventTime"], problems)
    _drop_invalid_facets(slim, problems)
    error = next(core_validator(str(kind)).iter_errors(slim), None)
    if error is not None:
        pointer = "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in error.instance_path)
        raise InvalidEventError(pointer, _short(error.message))
    return CheckedEvent(kind, slim, tuple(problems))


def _kind(event: Mapping[str, Any]) -> EventKind:
    if "run" in event:
        return EventKind.RUN
    if "dataset" in event:
        return EventKind.DATASET
    if "job" in event:
        return EventKind.JOB
    raise InvalidEventError("", "an event needs a run, a job or a dataset")


def _slim(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of an event that are read. A part of the wrong type stays, for the validator to reject."""
    slim = {name: event[name] for name in ("eventTime", "producer") if name in event}
    slim |= optional_members(event)
    for name in ("run", "job", "dataset"):
        if name in event:
            slim[name] = _slim_entity(event[name], name)
    for name in ("inputs", "outputs"):
        listed = event.get(name, [])
        if listed is None:  # some clients serialise an empty list so
            continue
        slim[name] = [_slim_entity(one, "dataset") for one in listed] if isinstance(listed, list) else listed
    return slim


def _slim_entity(entity: Any, of: str) -> Any:
    if not isinstance(entity, dict):
        return entity
    slim = {name: entity[name] for name in ("namespace", "name", "runId") if name in entity}
    facets = entity.get("facets")
    if isinstance(facets, dict):
        read = READ_FACETS[of]
        slim["facets"] = {
            name: without_nulls(facet) for name, facet in facets.items() if name in read and facet is not None
        }
    elif facets is not None:
        slim["facets"] = facets
    return slim


def _drop_invalid_facets(slim: dict[str, Any], problems: list[str]) -> None:
    """Drop the invalid facets of an event."""
    entities = [(slim.get(name), name, f"/{name}") for name in ("run", "job", "dataset")]
    for name in ("inputs", "outputs"):
        listed = slim.get(name)
        if isinstance(listed, list):
            entities += ((one, "dataset", f"/{name}/{index}") for index, one in enumerate(listed))
    for entity, of, pointer in entities:
        if isinstance(entity, dict) and isinstance(facets := entity.get("facets"), dict):
            entity["facets"] = dict(_valid_facets(facets, of, f"{pointer}/facets", problems))


def _valid_facets(facets: Mapping[str, Any], of: str, pointer: str, problems: list[str]) -> Iterator[tuple[str, Any]]:
    for name, facet in facets.items():
        error = next(facet_validator(of, name).iter_errors(facet), None)
        if error is None or (isinstance(facet, dict) and facet.get("_deleted") is True):
            yield name, facet
            continue
        inside = "".join(f"/{part}" for part in error.instance_path)
        problems.append(f"the facet {pointer}/{name} is left out: {inside or 'it'}: {_short(error.message)}")


def _json_type(value: object) -> str:
    names = {list: "an array", str: "a string", type(None): "null", bool: "a boolean"}
    return names.get(type(value), "a number")


def _short(message: str, longest: int = 300) -> str:
    return message if len(message) <= longest else f"{message[:longest]} …"
