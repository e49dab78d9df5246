"""All faults, in the order of the table."""

from __future__ import annotations

# ruff: noqa: I001  their order is that of the table
from tests.faults import kills, servers, disks, network, clocks, together, broken_files
from tests.faults.scene import REGISTERED, Fault, Scene, WrongError

__all__ = ["FAULTS", "Fault", "Scene", "WrongError"]

_READ = (kills, servers, disks, network, clocks, together, broken_files)
FAULTS: list[Fault] = [*REGISTERED.values()]
