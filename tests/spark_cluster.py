"""A standalone Spark cluster on loopback: a master and two workers, whose Python cannot import this project."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sysconfig
import tempfile
import time
import urllib.request
import venv
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pyspark
import pytest

from lineage.neo4j_server.ports import free_port
from tests.java_options import SPARK

SPARK_HOME = Path(pyspark.__file__).parent
_START = 60.0


@dataclass(frozen=True)
class SparkCluster:
    """Where the master answers, the workers' processes and folders, and a Python for them."""

    master: str
    workers: tuple[subprocess.Popen[bytes], ...]
    folders: tuple[Path, ...]
    python: Path
    """It has all packages of this environment but the project."""

    @property
    def conf(self) -> Mapping[str, str]:
        """The settings of an application: it is small, and all of it is on loopback."""
        return {
            "spark.driver.host": "127.0.0.1",
            "spark.executor.memory": "512m",
            "spark.pyspark.python": str(self.python),
            "spark.executor.extraJavaOptions": " ".join(SPARK),
        }

    def stores_rows(self, number: int) -> bool:
        """Return whether an executor of a worker has stored rows of an application."""
        return next((self.folders[number] / "local").glob("**/rdd_*"), None) is not None

    def kill_worker(self, number: int) -> None:
        """Kill a worker and its executors at once."""
        os.killpg(self.workers[number].pid, signal.SIGKILL)
        self.workers[number].wait()


@contextmanager
def spark_cluster() -> Iterator[SparkCluster]:
    """Run a cluster of two workers with one core each; all of it is gone after the block."""
    home = Path(tempfile.mkdtemp(prefix="lineage-cluster-"))
    port, page = free_port(), free_port()
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, home, ignore_errors=True)
        names = ("--host", "127.0.0.1", "--port", str(port), "--webui-port", str(page))
        stack.enter_context(_daemon(home / "master", "org.apache.spark.deploy.master.Master", *names))
        master = f"spark://127.0.0.1:{port}"
        folders = (home / "one", home / "two")
        options = ("--host", "127.0.0.1", "--cores", "1", "--memory", "700m", "--webui-port", "0")
        _await(page, 0)
        workers = tuple(
            stack.enter_context(
                _daemon(folder, "org.apache.spark.deploy.worker.Worker", *options, "-d", str(folder), master)
            )
            for folder in folders
        )
        _await(page, len(workers))
        yield SparkCluster(master, workers, folders, _python_without_us(home / "python"))


@pytest.fixture(scope="module")
def cluster() -> Iterator[SparkCluster]:
    """A running cluster for the tests of a module; the last one may kill its workers."""
    with spark_cluster() as running:
        yield running


@contextmanager
def _daemon(folder: Path, name: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a daemon of Spark in a process group of its own, which its executors join."""
    folder.mkdir()
    command = (str(SPARK_HOME / "bin" / "spark-class"), name, *arguments)
    environment = {
        **os.environ,
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "128m",
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_DAEMON_JAVA_OPTS": " ".join(SPARK),
    }
    environment.pop("PYTHONPATH", None)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _await(page: int, workers: int) -> None:
    until = time.monotonic() + _START
    while time.monotonic() < until:
        with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{page}/json/", timeout=5) as answer:
            if answer.read().decode().count('"ALIVE"') > workers:  # the master itself, too
                return
        time.sleep(0.1)
    pytest.fail("the cluster does not start", pytrace=False)


def _python_without_us(folder: Path) -> Path:
    """Return a Python with all packages of this one but the project, which only an import hook or .pth file adds."""
    venv.create(folder, symlinks=True, with_pip=False)
    inside = next(folder.glob("lib/python*/site-packages"))
    (inside / "packages.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    python = folder / "bin" / "python"
    probe = "import importlib.util, pyarrow; assert importlib.util.find_spec('lineage') is None"
    subprocess.run((python, "-c", probe), check=True, cwd=folder, env={"PATH": os.environ["PATH"]})
    return python
