"""The workers of a cluster: our modules are shipped to them, and the rest of what they need is checked first.

Shipped are the packages `lineage` and `lineage_ingest`, as one zip file. Compiled packages cannot be imported from a
zip file: a worker's Python must have them (`NEEDED`).
"""

from __future__ import annotations

import atexit
import importlib.util
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["ClusterError", "is_cluster", "prepare_workers"]

NEEDED = ("pandas", "pyarrow", "sqlglot")
"""Distributions that the Python of every worker must have."""
SAME = ("sqlglot",)
"""Those of which a worker must have the driver's version: another one may read SQL differently."""
PLUGINS = "lineage.rules"
"""Entry-point group of installed rules, which decide lineage, too."""
_SHIPPED = ("lineage", "lineage_ingest")
_NOT_SHIPPED = frozenset({"__pycache__", "native"})
_HINT = (
    "a worker's Python needs the packages of 'lineage-graph[spark]': install them there, name its Python by "
    "--spark-conf spark.pyspark.python=PATH, or ship an environment: "
    "--spark-conf spark.archives=environment.tar.gz#env --spark-conf spark.pyspark.python=./env/bin/python"
)
_REASONS = re.compile(
    r"(Cannot run program [^\n]*|\[PYTHON_VERSION_MISMATCH\][^\n]*|ModuleNotFoundError: [^\n]*|ImportError: [^\n]*)"
)


class ClusterError(RuntimeError):
    """Workers lack something that they need."""


def is_cluster(master: str) -> bool:
    """Return whether this master runs Python outside this machine's environment.

    >>> is_cluster("spark://host:7077"), is_cluster("local[2]")
    (True, False)
    """
    return not master.startswith("local")


def prepare_workers(spark: SparkSession) -> None:
    """Ship our modules to the workers, and check what is there beside them.

    Raises:
        ClusterError: a worker has no such Python, or it lacks a package or has another version of one.
    """
    folders = list(map(_folder_of, _SHIPPED))
    packages = [folder for folder in folders if folder is not None]
    if len(packages) == len(folders):  # else spark-submit has shipped them already
        _ship(spark, packages)
    found = _look_at_workers(spark)
    problems = sorted({problem for host, has in found for problem in _problems(host, has)})
    if problems:
        raise ClusterError(f"{'; '.join(problems)}; {_HINT}")


def _ship(spark: SparkSession, packages: Iterable[Path]) -> None:
    folder = Path(tempfile.mkdtemp(prefix="lineage-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # executors that start later fetch it, too
    archive = folder / "lineage_packages.zip"
    _write_archive(packages, archive)
    before = list(sys.path)
    spark.sparkContext.addPyFile(str(archive))
    sys.path[:] = before  # here, modules are still imported from their folder


def _folder_of(package: str) -> Path | None:
    """Return the folder of a package; None if it is imported from an archive."""
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent
    return folder if folder.is_dir() else None


def _write_archive(packages: Iterable[Path], archive: Path) -> None:
    """Write packages into a zip file, with what Python has compiled of them: each worker process would do it again."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for package in packages:
            for path in sorted(package.rglob("*")):
                inside = path.relative_to(package.parent)
                if path.is_dir() or not _NOT_SHIPPED.isdisjoint(inside.parts):
                    continue
                packed.write(path, inside.as_posix())
                if path.suffix == ".py" and (compiled := _compiled(path)) is not None:
                    packed.writestr(inside.with_suffix(".pyc").as_posix(), compiled)


def _compiled(path: Path) -> bytes | None:
    """Return the bytecode of a module as a file that is not checked against its source (PEP 552)."""
    try:
        bytecode = Path(importlib.util.cache_from_source(str(path))).read_bytes()
        source = path.stat()
    except OSError:
        return None
    magic, flags, rest = bytecode[:4], bytecode[4:8], bytecode[16:]
    fresh = int(source.st_mtime).to_bytes(8, "little")[:4] + (source.st_size & 0xFFFFFFFF).to_bytes(4, "little")
    if magic != importlib.util.MAGIC_NUMBER or flags != bytes(4) or bytecode[8:16] != fresh:
        return None
    return magic + (1).to_bytes(4, "little") + importlib.util.source_hash(path.read_bytes()) + rest


def _look_at_workers(spark: SparkSession) -> list[tuple[str, Mapping[str, Any]]]:
    """Return what workers have, by host, each once.

    Raises:
        ClusterError: Python does not run there.
    """
    from py4j.protocol import Py4JJavaError  # noqa: PLC0415  Spark is an extra
    from pyspark.errors import PySparkException  # noqa: PLC0415

    context = spark.sparkContext
    tasks = 2 * max(context.defaultParallelism, 2)
    try:
        with _pickled_by_value():
            seen = context.parallelize(range(tasks), tasks).mapPartitions(_look_around).collect()
    except (Py4JJavaError, PySparkException) as error:
        reasons = _REASONS.findall(str(error))
        if not reasons:
            raise
        raise ClusterError(
            f"workers cannot run Python ({context.pythonExec}): {reasons[-1].strip()}; {_HINT}"
        ) from error
    return list({(host, str(has)): (host, has) for host, has in seen}.values())


@contextmanager
def _pickled_by_value() -> Iterator[None]:
    """Send functions of this module as code: importing it may be what fails."""
    from pyspark import cloudpickle  # noqa: PLC0415  Spark is an extra

    here = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(here)  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        cloudpickle.unregister_pickle_by_value(here)  # type: ignore[no-untyped-call]


def _look_around(_rows: Iterable[int]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of this worker's host, and what it has. It runs there."""
    import socket  # noqa: PLC0415  by value, a function brings no imports

    yield socket.gethostname(), _what_is_here()


def _what_is_here() -> dict[str, Any]:
    """Return the versions of the needed distributions, the installed rules, and what cannot be imported."""
    versions: dict[str, str | None] = {}
    for name in NEEDED:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = None
    broken = None
    if all(versions.values()):
        try:
            importlib.import_module("lineage_ingest.query_log.pipeline.engines.workers")
        except ImportError as error:
            broken = str(error)
    rules = sorted(f"{one.name} = {one.value}" for one in entry_points(group=PLUGINS))
    return {"versions": versions, "rules": rules, "broken": broken, "python": sys.executable}


def _problems(host: str, has: Mapping[str, Any]) -> Iterator[str]:
    here, versions = _what_is_here(), has["versions"]
    where = f"{has['python']} on {host}"
    missing = [name for name, found in versions.items() if found is None]
    if missing:
        yield f"{where} lacks {', '.join(missing)}"
    for name in SAME:
        if versions[name] is not None and versions[name] != here["versions"][name]:
            yield f"{where} has {name} {versions[name]}, not {here['versions'][name]}"
    if has["broken"] is not None:
        yield f"{where} cannot import our modules: {has['broken']}"
    if has["rules"] != here["rules"]:
        yield f"{where} has other installed rules ({', '.join(has['rules']) or 'none'})"
