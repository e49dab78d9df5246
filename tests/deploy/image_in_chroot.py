"""Build the image without a container engine: the steps of deploy/Dockerfile in a chroot, and the service from it.

python -m tests.deploy.image_in_chroot ROOT PYTHON    as root, on Linux

ROOT is a minimal Debian of the image's release (`debootstrap --variant=minbase bookworm ROOT`), which is left as it is;
PYTHON a folder with a Python of the image's version, for /usr/local of the base image. The stage that compiles the
scanner is not run: its wheel is that of `make dist`. The service runs as the image's user, with its variables and its
command, on a root file system that is read-only but for /data and /tmp; it must answer, and end on SIGTERM.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

from lineage.neo4j_server.ports import free_port

ROOT = Path(__file__).parents[2]
_NOT_RUN = "scanner"
_MOUNTS = "mount --bind {root} {root} && mount -t proc proc {root}/proc && mount --bind /dev {root}/dev"
_READ_ONLY = "mount -o remount,bind,ro {root} && mount --bind {data} {root}/data && mount -t tmpfs tmpfs {root}/tmp"


@dataclass
class Stage:
    """A stage of the Dockerfile, as a folder."""

    root: Path
    environment: dict[str, str] = field(
        default_factory=lambda: {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}
    )
    folder: str = "/"
    user: str = "0:0"
    command: list[str] = field(default_factory=list)
    entry: list[str] = field(default_factory=list)

    def run(self, command: str) -> None:
        """Run a command as RUN does."""
        network = {key: value for key, value in os.environ.items() if key.startswith(("PIP_", "UV_", "SSL_"))}
        inside = shlex.join(
            ["chroot", f"--userspec={self.user}", str(self.root), "/bin/sh", "-c", f"cd {self.folder} && {command}"]
        )
        script = f"{_MOUNTS.format(root=self.root)} && exec {inside}"
        subprocess.run(["unshare", "--mount", "/bin/sh", "-c", script], check=True, env={**network, **self.environment})

    def copy(self, sources: list[Path], target: str) -> None:
        """Copy files and folders as COPY does: what a folder contains, not the folder."""
        place = self.root / (self.folder if not target.startswith("/") else "").lstrip("/") / target.lstrip("/")
        for source in sources:
            if source.is_dir():
                shutil.copytree(
                    source,
                    place,
                    symlinks=True,
                    dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("target", "__pycache__"),
                )
            else:
                into = place / source.name if target.endswith(("/", ".")) else place
                into.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, into)


def build(folder: Path, base: Path, python: Path) -> Stage:
    """Run the steps of all stages but the scanner's; return the last one."""
    stages: dict[str, Stage] = {}
    name, stage = _NOT_RUN, Stage(folder)
    for word, rest in instructions(ROOT / "deploy" / "Dockerfile"):
        if word == "FROM":
            name = rest.partition(" AS ")[2] or "image"
            print(f"== {rest}", flush=True)
            if name != _NOT_RUN:
                stage = stages[name] = Stage(_root(folder / name, base, python))
        elif name != _NOT_RUN:
            print(f"   {word} {rest[:90]}", flush=True)
            _step(stage, word, rest, stages)
    return stages[name]


def instructions(path: Path) -> list[tuple[str, str]]:
    """Return the instructions of a Dockerfile: the word and the rest, continued lines joined."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.lstrip().startswith("#")]
    text = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in text.splitlines() if line)]


def _root(root: Path, base: Path, python: Path) -> Path:
    subprocess.run(["cp", "-a", str(base), str(root)], check=True)
    shutil.copytree(python, root / "usr" / "local", symlinks=True, dirs_exist_ok=True)
    for file in ("/etc/resolv.conf", "/etc/hosts", "/etc/ssl/certs/ca-certificates.crt"):
        (root / file[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, root / file[1:])
    subprocess.run(["chroot", str(root), "/sbin/ldconfig"], check=True)
    return root


def _step(stage: Stage, word: str, rest: str, stages: dict[str, Stage]) -> None:
    match word:
        case "RUN":
            stage.run(rest)
        case "ARG" | "ENV":
            for pair in shlex.split(rest):
                key, _, value = pair.partition("=")
                stage.environment[key] = value.replace("$PATH", stage.environment["PATH"])
        case "WORKDIR":
            stage.folder = rest
            (stage.root / rest[1:]).mkdir(parents=True, exist_ok=True)
        case "USER":
            stage.user = rest
        case "COPY":
            *sources, target = rest.split()
            if sources[0] == f"--from={_NOT_RUN}":
                stage.copy(sorted((ROOT / "dist").glob("lineage_native-*.whl")), "/wheels/")
            elif sources[0].startswith("--from="):
                stage.copy([stages[sources[0][7:]].root / sources[1][1:]], target)
            else:
                stage.copy([ROOT / one for one in sources], target)
        case "ENTRYPOINT":
            stage.entry = json.loads(rest)
        case "CMD":
            stage.command = json.loads(rest)


def serve(stage: Stage, data: Path) -> None:
    """Start the service as a container would, with a read-only root, and ask it; it ends on SIGTERM."""
    os.chown(data, *map(int, stage.user.split(":")))
    port = free_port()
    mounted = f"{_MOUNTS.format(root=stage.root)} && {_READ_ONLY.format(root=stage.root, data=data)}"
    variables = [f"{key}={value}" for key, value in stage.environment.items()]
    command = [*stage.entry, *stage.command, "--host", "127.0.0.1", "--port", str(port)]
    inside = [
        "chroot",
        f"--userspec={stage.user}",
        str(stage.root),
        "/usr/bin/env",
        "-i",
        "-C",
        stage.folder,
        *variables,
    ]
    script = f"{mounted} && exec {shlex.join([*inside, *command])}"
    process = subprocess.Popen(["unshare", "--mount", "/bin/sh", "-c", script])
    try:
        began = time.monotonic()
        while time.monotonic() - began < 120 and process.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
                    status = answer.status
                break
            except OSError:
                time.sleep(0.5)
        else:
            sys.exit("the service does not answer")
        print(f"the service answers {status} after {time.monotonic() - began:.1f} s, as user {stage.user}")
        print("in /data:", *sorted(one.name for one in data.iterdir()))
        process.send_signal(signal.SIGTERM)
        print("it ends with", process.wait(30))
    finally:
        process.kill()


def main(arguments: list[str]) -> int:
    """Build in a temporary folder, which is removed, and start the service."""
    if len(arguments) != 2 or os.geteuid():
        print(__doc__)
        return 2
    with tempfile.TemporaryDirectory(prefix="lineage-image-") as folder:
        stage = build(Path(folder), *map(Path, arguments))
        size = subprocess.run(["du", "-sm", str(stage.root)], check=True, capture_output=True, text=True).stdout
        print(f"the image has {size.split()[0]} MB")
        data = Path(folder) / "data"
        data.mkdir()
        serve(stage, data)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
