"""All faults, in the order of the table."""

from __future__ import annotations

from tests.faults import kills, disks  # noqa: F401
from tests.faults.scene import FAULTS, Fault, Scene, WrongError

__all__ = ["FAULTS", "Fault", "Scene", "WrongError"]
