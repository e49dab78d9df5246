"""The report of personal data, as the service and assistants ask for it."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime

from lineage.governance.report.pii_report import PiiReport, make_report
from lineage.governance.report.policy import Policy
from lineage.governance.tags.rules import default_rules
from lineage.governance.tags.tagging import classify
from lineage.store.protocol import GraphStore

__all__ = ["current_pii_report"]


def current_pii_report(
    store: GraphStore,
    *,
    classes: Collection[str] = (),
    columns: Collection[str] | None = None,
    policy: Policy | None = None,
) -> PiiReport:
    """Return the report of the columns of some classes (all, without any), or of `columns` (keys), as of now.

    Raises:
        StoreError: the store could not be read.
    """
    # What functions do is known to the extraction, which the service loads when it is first needed.
    from lineage.sql.resolve.calls.functions import value_functions  # noqa: PLC0415

    known = classify(store, default_rules())
    return make_report(
        store, known, value_functions(), datetime.now(UTC), classes=classes, columns=columns, policy=policy
    )
