"""Values that each run of dbt writes into compiled SQL anew: its id, and when it started.

Two compilations of the same template differ in them; that is no edit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from functools import cached_property

from lineage_ingest.diff.revisions.manifest_json import ManifestJson

__all__ = ["RunValues"]

_INSTANT = re.compile(
    r"(?<![\w-])(\d{4})([-/]?)(\d\d)\2(\d\d)"
    r"(?:[ T_]?\d\d:?\d\d(?::?\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:?\d\d)?(?![\w-])"
)
_STARTED = re.compile(r"\brun_started_at\b")
_OTHER_VALUES = re.compile(r"\b(?:env_var|var|run_query|statement|load_result|adapter|graph)\b")
"""What else may give a template a time that is written nowhere in it."""
_DIGIT = re.compile(r"[0-9a-f]")


class RunValues:
    """What the run that wrote a manifest put into the SQL that it compiled."""

    def __init__(self, manifest: ManifestJson) -> None:
        self._manifest = manifest

    def removed_from(self, sql: str, templates: Iterable[str]) -> str:
        """Return compiled SQL with zeros in place of the run's values; `templates` are what it was compiled from.

        A time counts as that of the run if a template asks for it, if it is that of about when dbt was done, if no
        template contains it, and if no template takes values from elsewhere. dbt states the time of its start
        nowhere: what the manifest has may be that of an earlier run.
        """
        if self._invocation and self._invocation in sql:
            sql = sql.replace(self._invocation, _DIGIT.sub("0", self._invocation))
        text = "\n".join(templates)
        if self._day is None or not _STARTED.search(text) or _OTHER_VALUES.search(text):
            return sql
        return _INSTANT.sub(lambda found: found[0] if found[0] in text else self._without_time(found), sql)

    def _without_time(self, match: re.Match[str]) -> str:
        try:
            day = date(int(match[1]), int(match[3]), int(match[4]))
        except ValueError:
            return match[0]
        is_of_run = self._day is not None and -2 <= (day - self._day).days <= 1  # anywhere, and a run of some hours
        return _DIGIT.sub("0", match[0]) if is_of_run else match[0]

    @cached_property
    def _invocation(self) -> str:
        found = self._manifest.metadata.get("invocation_id")
        return found if isinstance(found, str) and len(found) == _ID_LENGTH else ""

    @cached_property
    def _day(self) -> date | None:
        try:
            at = datetime.fromisoformat(str(self._manifest.metadata.get("generated_at")))
        except ValueError:
            return None
        return at.astimezone(UTC).date() if at.tzinfo is not None else at.date()


_ID_LENGTH = len("00000000-0000-0000-0000-000000000000")
