"""What a report has that an earlier one, saved as JSON, had not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lineage.frozen import frozen
from lineage.governance.exposure import EXPOSURES, Exposure
from lineage.governance.report.pii_report import PiiReport
from lineage.governance.yaml_files import GovernanceFileError

__all__ = ["ExposureChange", "changed_exposures", "read_saved_report"]


@frozen(order=True)
class ExposureChange:
    """A column that a source is or reaches now and did not before, or whose exposure is another; None: it is gone."""

    source: str
    column: str
    before: str | None
    now: str | None

    @property
    def is_worse(self) -> bool:
        """Whether more of the value is shown than before."""
        if self.now is None:
            return False
        return self.before is None or Exposure(self.now).rank < Exposure(self.before).rank


def read_saved_report(path: Path) -> dict[str, Any]:
    """Return a report that was saved with `--format json`.

    Raises:
        GovernanceFileError: the file cannot be read, or is none.
    """
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise GovernanceFileError(str(path), error.lineno, error.colno, f"not JSON: {error.msg}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise GovernanceFileError(str(path), 1, 1, f"cannot be read: {error}") from error
    try:
        _exposures(saved)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise GovernanceFileError(str(path), 1, 1, "no report: save one with `--format json`") from error
    return dict(saved)


def changed_exposures(saved: dict[str, Any], report: PiiReport) -> list[ExposureChange]:
    """Return what has changed since a saved report, the worse changes first."""
    before, now = _exposures(saved), _exposures(report.to_dict())
    changed = [
        ExposureChange(*pair, before.get(pair), now.get(pair))
        for pair in before.keys() | now.keys()
        if before.get(pair) != now.get(pair)
    ]
    return sorted(changed, key=lambda one: (not one.is_worse, one.source, one.column))


def _exposures(saved: Any) -> dict[tuple[str, str], str]:
    return {
        (source["name"], one["name"]): EXPOSURES[EXPOSURES.index(one["exposure"])].value
        for source in saved["sources"]
        for one in (source["own"], *source["reached"])
    }
