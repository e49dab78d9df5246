"""What random warehouses leave out in the tests, since it is known to fail: the reason beside each."""

from __future__ import annotations

__all__ = ["KNOWN"]

KNOWN: dict[str, str] = {}
