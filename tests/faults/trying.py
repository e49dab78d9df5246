"""Tries faults on a store of one kind, and keeps what happened."""

from __future__ import annotations

import re
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.faults.estate import Estate
from tests.faults.matrix import FAULTS, Fault, Scene, WrongError
from tests.faults.places import NEO4J, Place

__all__ = ["KEPT", "WRONG", "kept", "try_all"]

WRONG = "**WRONG**"
KEPT = Path("build/faults")


def kept(kind: str, fault: Fault) -> Path:
    """Return the file that keeps what happened."""
    name = re.sub(r"\W+", "-", f"{kind} {fault.group} {fault.name}")
    return KEPT / f"{name}.txt"


def try_all(kind: str, numbers: Sequence[int]) -> dict[int, str]:
    """Make faults happen to a store of a kind; return what happened, by the number of the fault."""
    if not numbers:
        return {}
    with tempfile.TemporaryDirectory(prefix="lineage-faults-") as name:
        folder = Path(name)
        place = Place.with_server(folder) if kind == NEO4J else Place(folder)
        try:
            scene = Scene(place, Estate(folder / "estate"))
            return {number: _happen(FAULTS[number].happen, scene, number) for number in numbers}
        finally:
            place.close()


def _happen(happen: Callable[[Scene], str], scene: Scene, number: int) -> str:
    began = time.monotonic()
    try:
        text = happen(scene)
    except WrongError as error:
        text = f"{WRONG}: {error}"
    except Exception as error:  # noqa: BLE001  of a test's own part: the other faults are tried all the same
        traceback.print_exc()
        text = f"{WRONG}: {type(error).__name__}: {error}"
    title = f"{scene.place.kind}: {FAULTS[number].group}: {FAULTS[number].name}"
    kept(scene.place.kind, FAULTS[number]).write_text(text)
    print(f"{title} ({time.monotonic() - began:.0f} s)\n    {text}", flush=True)
    return text
