"""Whether this program is installed as it should be."""

from __future__ import annotations

import importlib.util
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version

from lineage.doctor.finding import Finding, Health
from lineage.sql.scan.implementation import chosen_engine

__all__ = ["examine_installation"]

_PACKAGE = "lineage-graph"
_EXTRAS = {
    "neo4j": "neo4j", "spark": "pyspark", "dbt": "jinja2", "openlineage": "jsonschema_rs", "kafka": "confluent_kafka",
    "server": "strawberry", "databases": "sqlalchemy", "bi": "lkml",
}  # fmt: skip
"""A module of each extra by which its presence is known."""
_OLDEST_JAVA = 17


def examine_installation() -> Iterator[Finding]:
    """Yield what there is to say of the interpreter, the parser, the scanner, the extras and Java."""
    yield _program()
    yield _parser()
    scanner = chosen_engine()
    if scanner.arrays is None:
        yield Finding(Health.WARNING, "scanner", f"the slower one in Python is used: {scanner.reason}")
    else:
        yield Finding(Health.OK, "scanner", scanner.reason)
    there = [name for name, module in _EXTRAS.items() if importlib.util.find_spec(module) is not None]
    without = [name for name in _EXTRAS if name not in there]
    lacking = f"; not installed: {', '.join(without)}" if without else ""
    yield Finding(Health.OK, "extras", f"{', '.join(there) or 'none'}{lacking}")
    if "spark" in there:
        yield _java()


def _program() -> Finding:
    python = f"Python {platform.python_version()}, {platform.machine()}"
    return Finding(Health.OK, "program", f"lineage {_version_of(_PACKAGE)}, {python}")


def _parser() -> Finding:
    """The parser's trees are our input, so that another version than the one we were made for may be read wrongly."""
    installed = _version_of("sqlglot")
    pins = (re.match(r"sqlglot\b[^=;]*==([\w.]+)", one) for one in _required())
    wanted = next((pin[1] for pin in pins if pin), installed)
    if installed != wanted:
        message = f"sqlglot {installed} is installed, and lineage is made for {wanted}: statements may be read wrongly"
        return Finding(Health.PROBLEM, "parser", message, f"pip install 'sqlglot[c]=={wanted}'")
    code = importlib.util.find_spec("sqlglot.parser")
    if code is None or (code.origin or "").endswith(".py"):
        message = f"sqlglot {installed} without its compiled part: reading SQL takes several times as long"
        return Finding(Health.WARNING, "parser", message, f"pip install 'sqlglot[c]=={wanted}'")
    return Finding(Health.OK, "parser", f"sqlglot {installed}, compiled")


def _java() -> Finding:
    """Spark needs a Java, which no package brings."""
    hint = f"install a JDK {_OLDEST_JAVA} or newer and set JAVA_HOME"
    if (program := shutil.which("java")) is None:
        return Finding(Health.WARNING, "java", "PySpark is installed, and no `java` is on the path", hint)
    try:
        done = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return Finding(Health.WARNING, "java", f"{program} does not run", hint)
    number = re.search(r'version "(\d+)', done.stderr)
    if number is None or int(number[1]) < _OLDEST_JAVA:
        return Finding(Health.WARNING, "java", f"{program} is older than Spark needs", hint)
    return Finding(Health.OK, "java", f"{number[1]}")


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def _required() -> list[str]:
    try:
        return requires(_PACKAGE) or []
    except PackageNotFoundError:
        return []
