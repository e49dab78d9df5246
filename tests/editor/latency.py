"""How long an editor waits for `lineage lsp`, over standard input and output, with a store of 300 tables.

python -m tests.editor.latency [ROUNDS]
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from lineage_ingest import SqlOptions, ingest_sql
from tests.editor.stdio_client import Editor, place

__all__ = ["documents", "make_project", "measure"]

_LAYERS, _WIDTH, _COLUMNS = 10, 30, 20
_LIMIT_MS = 200


def make_project(folder: Path) -> None:
    """Write models in layers, each of which reads two tables of the layer below, and ingest them."""
    models = folder / "models"
    models.mkdir(parents=True)
    columns = [f"c{number}" for number in range(_COLUMNS)]
    base = [f"CREATE TABLE l0.t{n} ({', '.join(f'{c} int' for c in ['id', *columns])});" for n in range(_WIDTH)]
    (models / "l0.sql").write_text("\n".join(base))
    for layer in range(1, _LAYERS):
        for n in range(_WIDTH):
            chosen = ", ".join(f"a.{c} + b.{c} AS {c}" for c in columns)
            below = f"l{layer - 1}.t{n} AS a JOIN l{layer - 1}.t{(n + 1) % _WIDTH} AS b ON a.id = b.id"
            text = f"CREATE VIEW l{layer}.t{n} AS\nSELECT a.id, {chosen}\nFROM {below}\nWHERE a.c0 > 7;\n"
            (models / f"l{layer}_t{n}.sql").write_text(text)
    ingest_sql([models], store=folder / "lineage.db", options=SqlOptions(dialect="postgres", project="bench"))


def documents() -> dict[str, str]:
    """Return a query of twelve CTEs, and a script of 1,000 lines."""
    ctes = ["c0 AS (SELECT * FROM l4.t1 WHERE c1 > 0)"]
    ctes += [
        f"c{n} AS (SELECT x.id, x.c1 + y.c2 AS c1, x.c2, y.c3 FROM c{n - 1} x JOIN l{n % 9}.t{n} y ON x.id = y.id)"
        for n in range(1, 12)
    ]
    twelve = "CREATE VIEW mine.twelve AS\nWITH " + ",\n".join(ctes) + "\nSELECT c11.id, c11.c1, c11.c2 FROM c11;\n"
    lines: list[str] = []
    while len(lines) < 1_000:
        n = len(lines)
        items = [f"    a.c{k} + b.c{(k + n) % _COLUMNS} AS v{k}," for k in range(16)]
        lines += [
            f"CREATE VIEW mine.v{n} AS", "SELECT", *items, "    a.id", f"FROM l{n % 9}.t{n % _WIDTH} AS a",
            f"JOIN l{(n + 3) % 9}.t{n % 7} AS b ON a.id = b.id", "WHERE a.c1 > 3;", "",
        ]  # fmt: skip
    return {"twelve CTEs": twelve, "1,000 lines": "\n".join(lines)}


def measure(editor: Editor, name: str, text: str, rounds: int) -> dict[str, list[float]]:
    """Return the milliseconds of each kind of request, warm."""
    uri = editor.open(f"{name.rsplit(maxsplit=1)[-1]}.sql", text)
    editor.problems(uri)
    at = place(text, "c11.c1", inside=5) if "c11.c1" in text else place(text, "a.c3 + b", inside=3)
    taken: dict[str, list[float]] = {}

    def timed(what: str, work: Callable[[], object]) -> None:
        began = time.perf_counter()
        assert work() is not None
        taken.setdefault(what, []).append((time.perf_counter() - began) * 1e3)

    for number in range(rounds + 1):  # the first is to warm up
        # What is typed changes the text: hover and so on then wait for the document to be read again.
        changed = text + f"-- {number}\n"
        version = editor.change(uri, changed)
        timed("hover, which reads the text again", lambda: editor.hover(uri, at))
        timed("hover", lambda: editor.hover(uri, at))
        timed("definition", lambda: editor.definition(uri, at))
        timed("completion", lambda: editor.complete(uri, at))
        timed("code actions", lambda: editor.actions(uri, at))
        timed("who breaks", lambda: editor.command("lineage.whoBreaks", uri, at))
        editor.problems(uri, version)
        began = time.perf_counter()
        version = editor.change(uri, changed + "\n")
        editor.problems(uri, version)
        taken.setdefault("diagnostics, which wait for 150 ms", []).append((time.perf_counter() - began) * 1e3)
    return {what: times[1:] for what, times in taken.items()}


def main() -> None:
    """Print the median and the 95th percentile of each kind of request."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    slow = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "project"
        make_project(folder)
        with Editor(folder, "--store", str(folder / "lineage.db")) as editor:
            for name, text in documents().items():
                print(f"{name} ({text.count(chr(10)):,} lines)")
                for what, times in measure(editor, name, text, rounds).items():
                    p95 = statistics.quantiles(times, n=20)[18]
                    slow += p95 > _LIMIT_MS and not what.startswith(("diagnostics", "hover, which"))
                    print(f"  {what:40} p50 {statistics.median(times):6.1f} ms   p95 {p95:6.1f} ms")
    print(f"once the text is read, at most {_LIMIT_MS} ms at the 95th percentile: {'no' if slow else 'yes'}")


if __name__ == "__main__":
    main()
