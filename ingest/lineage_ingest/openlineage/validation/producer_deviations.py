"""Known deviations of producers from the specification, and how they are read.

Everything else is checked against the published schemas as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from lineage_ingest.openlineage.validation.json_schemas import CORE

__all__ = ["optional_members", "read_time", "without_nulls"]

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:?\d\d)?")


def optional_members(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return `eventType` and `schemaURL` of an event.

    Null counts as absent: some clients serialise absent members so. A missing `schemaURL`, which Marquez accepts,
    becomes the current version's.
    """
    given = {name: event[name] for name in ("eventType", "schemaURL") if event.get(name) is not None}
    return {"schemaURL": CORE, **given}


def without_nulls(value: Any, levels: int = 250) -> Any:
    """Return a facet without its null members: some clients serialise absent members so.

    Values nested deeper than `levels` stay as they are: `find_unstorable` refuses them.
    """
    if levels == 0:
        return value
    if isinstance(value, dict):
        return {name: without_nulls(part, levels - 1) for name, part in value.items() if part is not None}
    return [without_nulls(part, levels - 1) for part in value] if isinstance(value, list) else value


def read_time(text: Any, problems: list[str]) -> Any:
    """Return a time as RFC 3339 with a time zone; anything else is returned unchanged, for the schema to refuse.

    A time without a zone counts as UTC, which is added to `problems`. A space may separate date and time. A leap
    second (:60) becomes the first second of the next minute. Fractions are cut to microseconds.
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
        problems.append("/eventTime has no time zone: UTC is assumed")
    return at.isoformat()
