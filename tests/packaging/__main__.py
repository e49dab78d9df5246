"""Check what `make dist` built: it installs and runs on every Python here, nothing is missing, licences are accepted.

For each Python from 3.11 on that is installed (or can be had with --download), a fresh environment gets the wheels of
dist/ with the extra `all`, and one without extras; other packages come from the index. In each the README's first
example gives what it says, every module of ours can be imported, and the native scanner is used. A wheel that is
built from the source distribution has the same files. Licences and a bill of materials are in build/dist-check.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from tests.docs.blocks import read_blocks
from tests.packaging.environments import Environment, pythons, uv
from tests.packaging.licences import write_list

ROOT = Path(__file__).parents[2]
DIST, OUT = ROOT / "dist", ROOT / "build" / "dist-check"
SBOM_TOOL = "cyclonedx-bom==7.5.0"
_IMPORTS = """
import importlib, pkgutil, sys
failed, number = [], 0
for top in ("lineage", "lineage_ingest", "lineage_graphql", "lineage_editor"):
    package = importlib.import_module(top)
    for module in pkgutil.walk_packages(package.__path__, top + "."):
        if module.name.rpartition(".")[2] == "__main__" or module.name == "lineage.notebook.live":  # needs anywidget
            continue
        number += 1
        try:
            importlib.import_module(module.name)
        except Exception as error:
            failed.append(f"{module.name}: {error!r}")
print(number, "modules")
sys.exit("\\n".join(failed) or 0)
"""
_NATIVE = """
from lineage.sql.scan.implementation import chosen_engine
assert chosen_engine().name == "native", chosen_engine().reason
"""


def main(arguments: list[str]) -> int:
    """Check everything; return 1 if something is wrong."""
    parser = argparse.ArgumentParser("python -m tests.packaging", description=__doc__)
    parser.add_argument("--download", action="store_true", help="let uv download Pythons that are not here")
    parser.add_argument("--python", action="append", default=[], metavar="3.12", help="this version only; repeatable")
    options = parser.parse_args(arguments)
    wheel, native, source = (_only(pattern) for pattern in ("lineage_graph-*.whl", "lineage_native-*.whl", "*.tar.gz"))
    OUT.mkdir(parents=True, exist_ok=True)
    wrong = [f"licence of {one.name}" for one in write_list(OUT / "licences.csv") if not one.accepted]
    wrong += _of_source(source, wheel)
    with tempfile.TemporaryDirectory(prefix="dist-check-", dir=OUT) as folder:
        for version, python in pythons(options.download).items():
            if not options.python or version in options.python:
                wrong += _on(version, python, Path(folder), [wheel, native])
    for one in wrong:
        print(f"WRONG: {one}")
    print(f"{len(wrong)} wrong")
    return bool(wrong)


def _only(pattern: str) -> Path:
    found = sorted(DIST.glob(pattern))
    if len(found) != 1:
        sys.exit(f"dist/ has {len(found)} files {pattern}: run make dist")
    return found[0]


def _of_source(source: Path, wheel: Path) -> list[str]:
    """Return what a wheel that is built from the source distribution has more or less than the wheel."""
    with tempfile.TemporaryDirectory(dir=OUT) as folder:
        subprocess.run([uv(), "build", "--quiet", "--wheel", "--out-dir", folder, str(source)], check=True)
        built = next(Path(folder).glob("*.whl"))
        differing = _contents(built) ^ _contents(wheel)
    print(f"a wheel from {source.name} has {'the same files' if not differing else f'{len(differing)} other files'}")
    return [f"the source distribution: {name}" for name in sorted(differing)]


def _contents(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def _on(version: str, python: str, folder: Path, wheels: list[Path]) -> list[str]:
    """Return what is wrong with the wheels on one Python."""
    wrong: list[str] = []
    for name, extras in (("no extras", ""), ("all", "[all]")):
        made = Environment(folder / f"{version}{extras.strip('[]')}", python, folder / "cache")
        try:
            made.install([f"{wheels[0]}{extras}", str(wheels[1])], DIST)
        except subprocess.CalledProcessError as error:
            wrong.append(f"Python {version}, {name}: {error.stderr.strip()[-1_000:]}")
            continue
        checks = {"the README's first example": _example(made), "the native scanner": made.run("-c", _NATIVE)[1]}
        if extras:
            checks["imports"] = made.run("-c", _IMPORTS)[1]
            checks["bill of materials"] = _bill(made, OUT / f"sbom-{version}.cdx.json")
        failed = [f"Python {version}, {name}: {what}: {said}" for what, said in checks.items() if said]
        print(f"Python {version}, {name}: {made.size_mb()} MB, {'; '.join(failed) or 'good'}", flush=True)
        wrong += failed
        made.remove()
    return wrong


def _example(made: Environment) -> str:
    """Run the README's first commands and its example in Python; return what is not as it says."""
    blocks = read_blocks(ROOT / "README.md")
    at = next(i for i, one in enumerate(blocks) if one.language == "python" and "from lineage import" in one.text)
    output, said = made.run("-c", blocks[at].text)
    if said or output != blocks[at + 1].text:
        return said or f"it prints {output!r}"
    first = next(line for one in blocks for line in one.text.splitlines() if line.startswith("lineage extract"))
    output, said = made.command(first)
    return said or ("" if "CONTRIBUTES" in output else f"{first} prints {output!r}")


def _bill(made: Environment, path: Path) -> str:
    """Write a bill of materials of an environment as CycloneDX; return what is wrong with it."""
    tool = [uv(), "tool", "run", "--quiet", "--from", SBOM_TOOL, "cyclonedx-py"]
    options = ["environment", str(made.python), "--output-format", "JSON", "--output-file", str(path)]
    done = subprocess.run([*tool, *options], check=False, capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip()[-500:]
    names = {one["name"] for one in json.loads(path.read_text(encoding="utf-8"))["components"]}
    missing = {"lineage-graph", "lineage-native", "sqlglot", "apsw"} - names
    return f"it lacks {', '.join(sorted(missing))}" if missing else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
