"""Ctrl-C and SIGTERM end a command after its current batch."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from lineage.screen.listing import note

__all__ = ["stop_signals"]


@contextmanager
def stop_signals() -> Iterator[tuple[threading.Event, Callable[[], None]]]:
    """Yield the event that Ctrl-C and SIGTERM set, and a function that installs the handlers; a second Ctrl-C exits."""
    stopping = threading.Event()
    before: dict[signal.Signals, object] = {}

    def request_stop(_number: int, _frame: FrameType | None) -> None:
        if stopping.is_set():
            raise KeyboardInterrupt
        stopping.set()
        note("stopping after the current batch")

    def listen() -> None:
        for which in (signal.SIGINT, signal.SIGTERM):
            before[which] = signal.signal(which, request_stop)

    if threading.current_thread() is not threading.main_thread():
        yield stopping, lambda: None
        return
    try:
        yield stopping, listen
    finally:
        for which, handler in before.items():
            signal.signal(which, handler)  # type: ignore[arg-type]  # restore the previous handler
