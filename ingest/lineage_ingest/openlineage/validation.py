"""Is it an event? A facet that is broken is left out and named; an event whose core is broken is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from lineage.export.openlineage import DATASET_FACET
from lineage.model.json_values import find_unstorable
from lineage_ingest.openlineage.json_schemas import CORE, SchemasMissingError, core_validator, facet_validator

__all__ = ["READ_FACETS", "CheckedEvent", "EventKind", "InvalidEventError", "SchemasMissingError", "check"]

READ_FACETS: Mapping[str, frozenset[str]] = {
    "run": frozenset({"parent", "processing_engine"}),
    "job": frozenset({"sql", "jobType", "lineage"}),
    "dataset": frozenset(
        {
            "schema",
            "columnLineage",
            "lineage",
            "symlinks",
            "lifecycleStateChange",
            "datasetType",
            DATASET_FACET,
        }
    ),
}
"""The facets that are read, by what they are of; all others are passed over."""

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:?\d\d)?")
_HINT = "what an event must have is said at openlineage.io/spec/2-0-2/OpenLineage.json"


class EventKind(StrEnum):
    """What an event tells of."""

    RUN = "RunEvent"
    DATASET = "DatasetEvent"
    JOB = "JobEvent"


class InvalidEventError(ValueError):
    """Something that is no OpenLineage event: where it is wrong (a JSON pointer), why, and what to do."""

    def __init__(self, pointer: str, reason: str, hint: str = _HINT) -> None:
        # Names in the pointer may be what no answer can be encoded with.
        pointer = pointer.encode(errors="backslashreplace").decode()
        super().__init__(f"{pointer or '/'}: {reason}")
        self.pointer = pointer
        self.reason = reason
        self.hint = hint


@dataclass(frozen=True, slots=True)
class CheckedEvent:
    """An event that is valid without the facets that were left out; `problems` says which, and why."""

    kind: EventKind
    event: Mapping[str, Any]
    problems: tuple[str, ...] = ()


def check(event: object) -> CheckedEvent:
    """Return the event with those of its facets that are read and valid.

    Raises:
        InvalidEventError: its core is not what OpenLineage 2-0-2 asks for.
        SchemasMissingError: jsonschema-rs is not installed.
    """
    if not isinstance(event, dict):
        raise InvalidEventError("", f"an event is an object, not {_named(event)}")
    kind = _kind(event)
    slim = _slim(event)
    unstorable = find_unstorable(slim)
    if unstorable is not None:
        raise InvalidEventError(*unstorable, "only what can be stored is taken")
    problems: list[str] = []
    if "eventTime" in slim:
        slim["eventTime"] = _read_time(slim["eventTime"], problems)
    _leave_out_broken(slim, problems)
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
    raise InvalidEventError("", "it has neither a run, nor a job, nor a dataset")


def _slim(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the event with what is read of it. What has a wrong shape stays, for the validator to say so."""
    slim = {name: event[name] for name in ("eventTime", "producer") if name in event}
    # These may be left out; some clients write null for that.
    slim |= {name: event[name] for name in ("eventType", "schemaURL") if event.get(name) is not None}
    slim.setdefault("schemaURL", CORE)  # Marquez takes events without
    for name in ("run", "job", "dataset"):
        if name in event:
            slim[name] = _slim_entity(event[name], name)
    for name in ("inputs", "outputs"):
        listed = event.get(name, [])
        if listed is None:  # some clients write null for none
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
            name: _without_nulls(facet) for name, facet in facets.items() if name in read and facet is not None
        }
    elif facets is not None:
        slim["facets"] = facets
    return slim


def _without_nulls(value: Any, levels: int = 250) -> Any:
    """Return a facet without the members that are null: serialisers write so what is not there.

    What is nested deeper than `levels` stays as it is: `find_unstorable` refuses it.
    """
    if levels == 0:
        return value
    if isinstance(value, dict):
        return {name: _without_nulls(part, levels - 1) for name, part in value.items() if part is not None}
    return [_without_nulls(part, levels - 1) for part in value] if isinstance(value, list) else value


def _read_time(text: Any, problems: list[str]) -> Any:
    """Return a time as RFC 3339 has it, with a zone: UTC where none is given. What is no time stays as it is.

    The second 60 of a leap second is the next minute's first.
    """
    found = _TIME.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return text
    day, minute, second, fraction, zone = found.groups()
    try:
        at = datetime.fromisoformat(f"{day}T{minute}:{'59' if second == '60' else second}{fraction or ''}")
        at = at.replace(tzinfo=UTC if zone is None else datetime.fromisoformat(f"{day}T00:00{zone.upper()}").tzinfo)
        if second == "60":
            at = at.replace(microsecond=0) + timedelta(seconds=1)
    except (ValueError, OverflowError):
        return text
    if zone is None:
        problems.append("/eventTime has no zone: it counts as UTC")
    return at.isoformat()


def _leave_out_broken(slim: dict[str, Any], problems: list[str]) -> None:
    """Take the facets that are not valid out of an event that was made slim."""
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


def _named(value: object) -> str:
    names = {list: "an array", str: "a text", type(None): "null", bool: "a truth value"}
    return names.get(type(value), "a number")


def _short(message: str, longest: int = 300) -> str:
    return message if len(message) <= longest else f"{message[:longest]} …"
