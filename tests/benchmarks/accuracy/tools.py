"""The tools that are compared, and the environment of each."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

__all__ = ["OURS", "TOOLS", "Tool", "environment_of"]

_ROOT = Path(__file__).parents[3]
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lineage-accuracy"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: the packages that it needs, the adapter that asks it, and the dialects that it reads (none: all)."""

    name: str
    packages: tuple[str, ...]
    adapter: str
    note: str
    dialects: tuple[str, ...] = ()


OURS = Tool(
    "lineage",
    (),
    "ours",
    "this project, one statement at a time; `full` is its completeness. Kinds, spans and references are made as well; "
    "a reference to a column counts where the truth has a source, never as a wrong one",
)
TOOLS = (
    OURS,
    Tool(
        "sqlglot",
        ("sqlglot[rs]==30.30.0",),
        "sqlglot_lineage",
        "its lineage module: the tree qualified once, its scope reused for each column. It knows no targets: the "
        "columns of an INSERT get the names of the table's by position",
    ),
    Tool(
        "DataHub",
        ("acryl-datahub[sql-parser]==1.7.0.17",),
        "datahub",
        "`sqlglot_lineage` with a resolver that knows all tables; full where it reports no "
        "error. The columns of an INSERT get the names of the query's",
    ),
    Tool(
        "SQLLineage",
        ("sqllineage==1.5.9",),
        "sqllineage",
        "with its metadata provider; it reads writes only, so a SELECT becomes a CREATE TABLE AS",
    ),
    Tool(
        "OpenLineage SQL",
        ("openlineage-sql==1.54.0",),
        "openlineage",
        "it takes no schema, so it expands no star; full where it reports no error",
    ),
    Tool(
        "LineageX",
        ("lineagex==0.0.27", "ipython==8.38.0"),
        "lineagex",
        "without a database connection; it reads every dialect as PostgreSQL's; what it calls referenced does not "
        "count",
    ),
    Tool("inbq", ("inbq==0.18.0",), "inbq_lineage", "BigQuery only; its side inputs do not count", ("bigquery",)),
)


def environment_of(tool: Tool) -> Path:
    """Return the Python of a tool's own environment, which is made if it is not there yet.

    Raises:
        subprocess.CalledProcessError: the tool cannot be installed.
    """
    if not tool.packages:
        return Path(sys.executable)
    folder = _CACHE / "-".join(one.replace("==", "-").replace("[", "-").replace("]", "") for one in tool.packages)
    python, done = folder / "bin" / "python", folder / "installed"
    if not done.exists():
        venv.create(folder, with_pip=True, clear=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        uv = shutil.which("uv") or shutil.which("uv", path=_ROOT / ".uv" / "bin")
        if uv:
            install = [uv, "pip", "install", "--quiet", "--python", str(python)]
        subprocess.run([*install, *tool.packages], check=True, capture_output=True, text=True)
        done.touch()
    return python
