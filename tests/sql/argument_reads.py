"""Which arguments of syntax nodes the rules really read: prints those that accounting lists as read, and no rule reads.

python -m tests.sql.argument_reads [FILE.sql DIALECT ...]

The parser's compiled classes read arguments without Python, so a copy of sqlglot without its compiled modules is used,
in which `args` records the keys that are read. Only `full` statements count: others announce that something is missing.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[2]

NOT_READ = {
    "Alias.alias",  # ClickHouse's name inside an expression; a read of it is reported
    "Bracket.this",  # of what an assignment sets
    "ColumnDef.kind", "CombinedParameterizedAgg.expressions", "Kwarg.this", "PropertyEQ.this", "Parameter.this",
    "Table.this", "Table.db", "Table.catalog", "Table.alias",  # of CREATE SCHEMA, DROP FUNCTION and the like
    "Table.partition", "Tuple.expressions", "Paren.this",  # the partitions of ALTER TABLE
    "TableAlias.this",  # of what a PIVOT reads
    "Select.expressions", "Select.from_", "From.this",  # the query that stands for a trigger's row; FROM SHARE
    "Alter.actions", "Alter.options", "Cache.this", "Drop.tables", "Drop.expressions",  # what has no lineage
    "Create.expression", "Create.clone",  # the columns of a type; what a schema is cloned from, which is reported
    "Update.limit", "Delete.limit", "Limit.expression",  # of UPDATE and DELETE: a constant
    "Delete.tables",  # the alias of what FROM names
    "Window.partition_by", "Window.order", "Window.spec",  # a named window that nothing uses
    "Anonymous.expressions", "Variadic.this",  # OPENQUERY as what DELETE changes; a named argument of constants
}  # fmt: skip
"""Arguments of some nodes that no rule has to read, although rules read those of others of the type."""


def unread(files: list[tuple[Path, str]]) -> list[str]:
    """Return `Type.argument: where` for each argument that is listed as read and that no rule has read.

    Runs in a process of its own.
    """
    found = importlib.util.find_spec("sqlglot")
    assert found is not None
    assert found.origin is not None
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(Path(found.origin).parent, Path(folder, "sqlglot"), ignore=shutil.ignore_patterns("*.so"))
        code = f"import sys; sys.path[:0] = [{folder!r}, {str(_ROOT)!r}]; from tests.sql.argument_reads import main"
        listed = [str(part) for pair in files for part in pair]
        done = subprocess.run(
            [sys.executable, "-c", f"{code}; main(sys.argv[1:])", *listed], check=True, capture_output=True, text=True
        )
    return done.stdout.splitlines()


def main(arguments: list[str]) -> None:
    """Print what is unread in the cases, and in the files given with their dialects."""
    import sqlglot  # noqa: PLC0415  the copy without compiled modules
    from sqlglot import exp  # noqa: PLC0415
    from sqlglot.expressions import core  # noqa: PLC0415

    assert str(core.__file__).endswith(".py"), sqlglot.__file__
    from lineage import Catalog, extract, extract_script  # noqa: PLC0415
    from lineage.sql import extraction  # noqa: PLC0415
    from lineage.sql.resolve.coverage.accounting import READ, has_only_operands  # noqa: PLC0415
    from lineage.sql.resolve.resolver import LEAVES  # noqa: PLC0415
    from lineage.sql.script import script  # noqa: PLC0415
    from tests.sql.case_files import read_cases  # noqa: PLC0415

    where = ""
    met: dict[str, str] = {}
    resolve = extraction.resolve_statement

    def children(node: Any) -> Iterator[tuple[str, Any]]:
        for key, value in dict.items(node.args):
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, exp.Expr):
                    yield key, item

    def resolve_and_compare(parsed: Any, *args: Any, **options: Any) -> Any:
        stack = [parsed.tree] if parsed.tree is not None else []
        while stack:
            node = stack.pop()
            if not isinstance(node.args, _Recorded):
                node.args = _Recorded(node.args)
            stack.extend(child for _, child in children(node))
        result = resolve(parsed, *args, **options)
        is_whole = result[1] is not None and result[0].completeness == "full"
        stack = [parsed.tree] if is_whole else []
        while stack:
            node = stack.pop()
            kind = type(node)
            read = READ.get(kind)
            if kind in LEAVES or not isinstance(node.args, _Recorded) or (read is None and not has_only_operands(kind)):
                continue
            for key, child in children(node):
                if read is not None and key not in read:
                    continue
                if key in node.args.read:
                    stack.append(child)
                elif f"{kind.__name__}.{key}" not in NOT_READ:
                    met.setdefault(f"{kind.__name__}.{key}", where)
        return result

    for module in (extraction, script):
        if hasattr(module, "resolve_statement"):
            module.resolve_statement = resolve_and_compare  # type: ignore[attr-defined]
    for loaded in list(sys.modules.values()):
        if getattr(loaded, "resolve_statement", None) is resolve:
            loaded.resolve_statement = resolve_and_compare  # type: ignore[attr-defined]
    for case in read_cases():
        where = case.name
        names: dict[str, Any] = {key: value for key, value in case.options.items() if key.startswith("default_")}
        extract_script(case.sql, case.dialect, Catalog.from_dict(case.schemas, case.dialect), **names)
    for path, dialect in zip(arguments[::2], arguments[1::2], strict=True):
        where = path
        extract(Path(path).read_text(encoding="utf-8", errors="replace"), dialect)
    for argument, place in met.items():
        print(f"{argument}: {place}")


class _Recorded(dict[str, Any]):
    """The arguments of a node, and the keys that were read."""

    __slots__ = ("read",)

    def __init__(self, arguments: dict[str, Any]) -> None:
        super().__init__(arguments)
        self.read: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        self.read.add(key)
        return dict.get(self, key, default)

    def __getitem__(self, key: str) -> Any:
        self.read.add(key)
        return dict.__getitem__(self, key)

    def _note_all(self) -> None:
        """A loop over all arguments reads them, unless the parser's library walks the whole tree."""
        caller = sys._getframe(2)
        if "/sqlglot/" in caller.f_code.co_filename:
            around = caller.f_back
            by_rule = around is not None and "/lineage/sql/resolve/" in around.f_code.co_filename
            is_copy = caller.f_code.co_name == "__deepcopy__"  # what is read is the copy
            if not is_copy and (caller.f_code.co_name != "iter_expressions" or not by_rule):
                return
        self.read.update(dict.keys(self))

    def values(self) -> Any:
        self._note_all()
        return dict.values(self)

    def items(self) -> Any:
        self._note_all()
        return dict.items(self)


if __name__ == "__main__":
    given = sys.argv[1:]
    print("\n".join(unread([(Path(path), dialect) for path, dialect in zip(given[::2], given[1::2], strict=True)])))
