"""What runs in a target's own process: input after input, each on disk before it is tried."""

from __future__ import annotations

import hashlib
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tests.fuzz.mutations import MARKER, containers
from tests.fuzz.targets import TARGETS
from tests.fuzz.trial import Attempt, Input, Target, failure_of

__all__ = ["current", "read_input", "repeat", "run", "write_input"]

_MINIMISING = 15.0  # seconds for each failure


def run(name: str, seed: int, seconds: float, folder: Path) -> None:
    """Try inputs for a time; write each kind of failure once, and how many were tried."""
    target, draw, found = TARGETS[name], random.Random(f"{name}/{seed}"), Counter[str]()
    target.draw(random.Random(0))  # reads what inputs are made from
    count, until = 0, time.time() + seconds
    with tempfile.TemporaryDirectory() as scratch, target.opened(Path(scratch)) as attempt:
        while time.time() < until:
            tried = target.draw(draw)
            write_input(current(folder, name), tried)
            failure = failure_of(target, attempt, tried)
            if failure is not None:
                found[failure] += 1
                if found[failure] == 1:
                    _report(name, failure, _minimised(target, attempt, tried, failure, current(folder, name)), folder)
            count += 1
            (folder / f".{name}.count").write_text(str(count))
    current(folder, name).unlink(missing_ok=True)


def repeat(path: Path) -> str | None:
    """Try a file that `run` wrote; return what is wrong with the answer."""
    name, tried = path.name.partition("--")[0], read_input(path)
    with tempfile.TemporaryDirectory() as scratch, TARGETS[name].opened(Path(scratch)) as attempt:
        return failure_of(TARGETS[name], attempt, tried)


def current(folder: Path, name: str) -> Path:
    """Return the file that has the input which is being tried."""
    return folder / f".{name}.current"


def write_input(path: Path, tried: Input) -> None:
    """Write an input: a line of JSON that says how it is read, then its bytes."""
    head = json.dumps({"kind": tried.kind, "name": tried.name, "planted": tried.planted})
    path.write_bytes(head.encode() + b"\n" + tried.data)


def read_input(path: Path) -> Input:
    """Return what `write_input` wrote."""
    head, _, data = path.read_bytes().partition(b"\n")
    return Input(**json.loads(head), data=data)


def _report(name: str, failure: str, tried: Input, folder: Path) -> None:
    digest = hashlib.sha256(failure.encode()).hexdigest()[:8]
    path = folder / f"{name}--{tried.kind}--{digest}"
    write_input(path, tried)
    print(f"{name} ({tried.kind}): {failure}\n  python -m tests.fuzz --repeat {path}", flush=True)


def _minimised(target: Target, attempt: Attempt, tried: Input, failure: str, path: Path) -> Input:
    """Return the input without what the failure does not need."""
    until = time.time() + _MINIMISING
    smaller = True
    while smaller:
        smaller = False
        for data in _smaller(tried.data):
            if time.time() > until:
                return tried
            one = replace(tried, data=data)
            write_input(path, one)
            if (not tried.planted or MARKER.encode() in data) and failure_of(target, attempt, one) == failure:
                tried, smaller = one, True
                break
    return tried


def _smaller(data: bytes) -> Iterator[bytes]:
    """Yield the data without a part: members of JSON, else halves, quarters and so on."""
    try:
        whole = json.loads(data)
    except ValueError:
        size = len(data) // 2
        while size:
            for begin in range(0, len(data), size):
                yield data[:begin] + data[begin + size :]
            size //= 2
        return
    for number in range(sum(1 for _ in containers(whole))):
        keys = next(one for at, one in enumerate(containers(whole)) if at == number)
        for key in list(keys) if isinstance(keys, dict) else range(len(keys)):
            copied = json.loads(data)
            del next(one for at, one in enumerate(containers(copied)) if at == number)[key]
            yield json.dumps(copied).encode()
