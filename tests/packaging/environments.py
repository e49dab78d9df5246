"""Fresh environments: of every Python that is here."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

__all__ = ["Environment", "pythons", "uv"]

ROOT = Path(__file__).parents[2]
OLDEST, NEWEST = (3, 11), (3, 14)


def uv() -> str:
    """Return uv: what is on the path, or what the Makefile has put into .uv/."""
    return shutil.which("uv") or str(ROOT / ".uv" / "bin" / "uv")


def pythons(download: bool = False) -> dict[str, str]:
    """Return the interpreters from 3.11 on by their minor versions: of uv, of pyenv, on the path.

    With `download`, uv gets those that are missing; one that cannot be had is named and left out.
    """
    found: dict[str, str] = {}
    for minor in range(OLDEST[1], NEWEST[1] + 1):
        version = f"3.{minor}"
        if download:
            got = subprocess.run([uv(), "python", "install", "--quiet", version], check=False, capture_output=True)
            if got.returncode:
                print(f"Python {version} cannot be downloaded")
        candidates = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"), reverse=True)
        listed = subprocess.run(
            [uv(), "python", "list", "--only-installed", "--output-format", "json", version],
            check=False, capture_output=True, text=True,
        )  # fmt: skip
        paths = [one["path"] for one in json.loads(listed.stdout or "[]") if one["implementation"] == "cpython"]
        usable = [path for path in (*map(str, candidates), *paths) if _runs(path, version)]
        if usable:
            found[version] = usable[0]
        else:
            print(f"Python {version} is not here")
    return found


def _runs(path: str, version: str) -> bool:
    asked = [path, "-c", "import sys, ensurepip; print('%d.%d' % sys.version_info[:2])"]
    try:
        return subprocess.run(asked, check=False, capture_output=True, text=True).stdout.strip() == version
    except OSError:
        return False


class Environment:
    """A virtual environment of its own; nothing of the checkout is in it."""

    def __init__(self, folder: Path, python: str, cache: Path) -> None:
        self._folder, self._cache = folder, cache
        subprocess.run([uv(), "venv", "--quiet", "--python", python, str(folder)], check=True)

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self._folder / "bin" / "python"

    def install(self, wanted: list[str], wheels: Path) -> None:
        """Install packages, ours from the folder of wheels.

        Raises:
            CalledProcessError: they cannot be installed.
        """
        options = [
            "--quiet",
            "--python",
            str(self.python),
            "--find-links",
            str(wheels),
            "--cache-dir",
            str(self._cache),
        ]
        subprocess.run([uv(), "pip", "install", *options, *wanted], check=True, capture_output=True, text=True)

    def run(self, *arguments: str) -> tuple[str, str]:
        """Run its Python outside the checkout; return its output and, if it fails, its errors."""
        return self._run([str(self.python), *arguments])

    def command(self, line: str) -> tuple[str, str]:
        """Run a command of it, as a shell would."""
        name, *arguments = shlex.split(line)
        return self._run([str(self.python.with_name(name)), *arguments])

    def size_mb(self) -> int:
        """Return what it takes on the disk."""
        return sum(one.lstat().st_size for one in self._folder.rglob("*")) // 10**6

    def remove(self) -> None:
        """Remove it."""
        shutil.rmtree(self._folder)

    def _run(self, command: list[str]) -> tuple[str, str]:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        environment["COLUMNS"] = "200"
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=self._folder, env=environment)
        return done.stdout, (done.stderr.strip()[-1_000:] or f"status {done.returncode}") if done.returncode else ""
