"""The lineage of a script's statements: the public function over `Script`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from lineage.catalog import Catalog
from lineage.garbage_collection import seldom_collecting
from lineage.model.dialect import Dialect
from lineage.model.statement import StatementLineage
from lineage.model.text.decoding import decode_sql
from lineage.sql.budget import Budget
from lineage.sql.extraction import options_for
from lineage.sql.resolve.resolver import SetOperationReferences
from lineage.sql.script.parallel.processes import resolve_texts
from lineage.sql.script.script import Script
from lineage.sql.script.sources import ScriptPart

__all__ = ["extract_script"]


def extract_script(
    sql: str | Path | Mapping[str, str] | Sequence[str],
    dialect: str | Dialect = "ansi",
    catalog: Catalog | None = None,
    *,
    namespace: str = "",
    default_database: str | None = None,
    default_schema: str | None = None,
    set_operation_references: SetOperationReferences = "exact",
    functions: Iterable[str | Path] = (),
    budget: Budget | None = None,
    jobs: int = 1,
) -> list[StatementLineage]:
    """Return the lineage of the statements of a script, each resolved with what the others define.

    `sql` is the script's text, the path of a file or of a folder of `.sql` files, texts by name, or a list of texts,
    which run one after the other and are called `1`, `2`, …. The order of the answer is that of the texts;
    `StatementLineage.source` names the text where there are several. A text of a mapping or folder that holds one
    query and nothing else defines a dataset of its name.

    `jobs` is the largest number of processes that resolve the texts of a mapping or a folder; the result does not
    depend on it. It is 1 by default because worker processes import the program's main module: a script that asks for
    more needs `if __name__ == "__main__":` around what it does. Less than a second of work stays in this process.

    >>> view, table = extract_script('''
    ...     CREATE VIEW report AS SELECT * FROM orders;
    ...     CREATE TABLE orders AS SELECT id, amount FROM raw;
    ... ''', "postgres")
    >>> view.output_columns
    ['id', 'amount']

    Raises:
        UnknownDialectError: no dialect has that name.
        ValueError: `set_operation_references` is neither "exact" nor "paper", or `jobs` is less than 1.
        TypeError: `sql` is none of these.
        OSError: the path cannot be read.
        WorkerError: a worker process was killed, or crashed.
    """
    if jobs < 1:
        raise ValueError(f"jobs: found {jobs}, expected at least 1")
    texts: Mapping[str, str | Sequence[ScriptPart]]
    if isinstance(sql, Path):
        files = sorted(sql.rglob("*.sql")) if sql.is_dir() else [sql]
        names = {f: str(f.relative_to(sql) if sql.is_dir() else f) for f in files}
        texts = {name: decode_sql(f.read_bytes(), name).text or "" for f, name in names.items()}
    else:
        texts = {"": sql} if isinstance(sql, str) else sql if isinstance(sql, Mapping) else {"": _number(sql)}
    options = options_for(
        dialect,
        namespace=namespace,
        default_database=default_database,
        default_schema=default_schema,
        set_operation_references=set_operation_references,
        functions=functions,
        budget=budget,
    )
    several = {name: text for name, text in texts.items() if isinstance(text, str)}
    with seldom_collecting():
        if len(several) > 1 and len(several) == len(texts):
            return resolve_texts(several, options, catalog, jobs=jobs)
        return Script(texts, options, catalog).resolve()


def _number(texts: Sequence[str]) -> list[ScriptPart]:
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        message = f"SQL is a text, a path, a mapping of names to texts or a list of texts; found {type(texts).__name__}"
        raise TypeError(message)
    return [ScriptPart(text, str(number)) for number, text in enumerate(texts, 1)]
