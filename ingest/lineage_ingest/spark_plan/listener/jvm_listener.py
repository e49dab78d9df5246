"""The part of the listener that runs in Spark's JVM: its Java source, compiled there by the Janino that Spark ships.

So there is no jar to install or to match with Spark's version.
"""

from __future__ import annotations

import json
import secrets
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["JvmListener", "ListenerLimits"]

_SOURCES = ("Reflect", "Json", "Sources", "PlanWriter", "Ended", "PlanListener")
_PACKAGE = "lineage.spark"
_CONNECT_SECONDS = 30.0
_LOADERS: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""The compiled classes of each JVM. py4j keeps methods by the name of their class, so it is compiled once."""


class ListenerLimits:
    """Limits of the JVM's part: plans in its queue, characters and milliseconds of one plan."""

    def __init__(self, capacity: int = 10_000, max_characters: int = 16_000_000, budget_ms: int = 2_000) -> None:
        self.capacity = capacity
        self.max_characters = max_characters
        self.budget_ms = budget_ms


class JvmListener:
    """A listener in the JVM of a Spark session, whose frames are handed to a function in a thread of this process."""

    def __init__(
        self, spark: SparkSession, limits: ListenerLimits, on_frame: Callable[[Mapping[str, Any]], None]
    ) -> None:
        """Compile, register and connect the listener.

        Raises:
            py4j.protocol.Py4JError: Spark's JVM refuses.
            OSError: no connection over loopback.
        """
        self._on_frame = on_frame
        self._marks: dict[str, threading.Event] = {}
        token = secrets.token_hex(16)
        with socket.create_server(("127.0.0.1", 0), backlog=4) as server:
            server.settimeout(_CONNECT_SECONDS)
            self._context = spark.sparkContext._jsc.sc()
            self._listener = _new_listener(spark, server.getsockname()[1], token, limits)
            self._socket = _accept(server, token)
        self._context.addSparkListener(self._listener)
        self._thread = threading.Thread(target=self._read, name="lineage-frames", daemon=True)
        self._thread.start()

    def flush(self, seconds: float) -> bool:
        """Wait until the plans of everything that ended are handed over; return whether they all were."""
        until = int(seconds * 1000)
        mark = secrets.token_hex(4)
        reached = self._marks[mark] = threading.Event()
        try:
            if not self._context.isStopped():
                self._context.listenerBus().waitUntilEmpty(until)
            return bool(self._listener.flush(mark, until)) and reached.wait(seconds)
        except Exception:  # noqa: BLE001  the JVM is gone, or did not finish in time
            return False
        finally:
            self._marks.pop(mark, None)

    def close(self) -> None:
        """Stop listening."""
        try:
            self._context.removeSparkListener(self._listener)
            self._listener.close()
        except Exception:  # noqa: BLE001  the JVM is gone
            pass
        self._socket.close()
        self._thread.join(1.0)

    def _read(self) -> None:
        while (text := _frame(self._socket)) is not None:
            frame = json.loads(text)
            if (mark := frame.get("mark")) is not None:
                if frame.get("lost"):
                    self._on_frame({"lost": frame["lost"]})
                if (reached := self._marks.get(mark)) is not None:
                    reached.set()
            else:
                self._on_frame(frame)


def _new_listener(spark: SparkSession, port: int, token: str, limits: ListenerLimits) -> Any:
    jvm, gateway = spark._jvm, spark.sparkContext._gateway
    assert jvm is not None
    assert gateway is not None
    loader = _LOADERS.get(gateway)
    if loader is None:
        loader = _LOADERS[gateway] = _compile(spark)
    [constructor] = loader.loadClass(f"{_PACKAGE}.PlanListener").getConstructors()
    values = (port, token, limits.capacity, limits.max_characters)
    arguments = gateway.new_array(jvm.java.lang.Object, 5)
    for index, value in enumerate(values):
        arguments[index] = value
    arguments[4] = jvm.java.lang.Long.valueOf(limits.budget_ms)
    return constructor.newInstance(arguments)


def _compile(spark: SparkSession) -> Any:
    """Return the class loader of the compiled classes."""
    assert spark._jvm is not None
    loader = spark._jsparkSession.getClass().getClassLoader()
    for name in _SOURCES:
        compiler = spark._jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(loader)
        compiler.cook(files("lineage_ingest.spark_plan").joinpath(f"jvm/{name}.java").read_text(encoding="utf-8"))
        loader = compiler.getClassLoader()
    return loader


def _accept(server: socket.socket, token: str) -> socket.socket:
    """Return the connection that knows the token; others on this machine are refused."""
    while True:
        connection, _ = server.accept()
        connection.settimeout(_CONNECT_SECONDS)
        if _frame(connection) == token.encode():
            connection.settimeout(None)
            return connection
        connection.close()


def _frame(connection: socket.socket) -> bytes | None:
    """Return the next frame; None at the end of the connection."""
    head = _exactly(connection, 4)
    return None if head is None else _exactly(connection, struct.unpack(">i", head)[0])


def _exactly(connection: socket.socket, count: int) -> bytes | None:
    buffer = bytearray()
    while len(buffer) < count:
        try:
            part = connection.recv(min(count - len(buffer), 1 << 20))
        except OSError:
            return None
        if not part:
            return None
        buffer += part
    return bytes(buffer)
