"""Functions of a project: a call of one in a model's SQL is replaced by its body, as for functions of SQL files.

https://docs.getdbt.com/docs/build/udfs
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.sql.extraction import ExtractionOptions
from lineage.sql.parse.parsed import ParsedStatement
from lineage.sql.parse.statements import parse_statements
from lineage.sql.procedural import FunctionBody, ProgramStep
from lineage.sql.script.functions.inlining import Functions
from lineage_ingest.dbt.artifacts.manifest_nodes import DbtNode

__all__ = ["ProjectFunction", "called_functions", "functions_for"]


@frozen
class ProjectFunction:
    """A function in SQL: its name and schema without case, its parameters, and its body."""

    name: str
    schema: str
    parameters: tuple[str, ...]
    text: str


def called_functions(
    node: DbtNode, functions: Mapping[str, DbtNode], text_of: Callable[[DbtNode], str]
) -> tuple[tuple[ProjectFunction, ...], tuple[Diagnostic, ...]]:
    """Return the functions that a node calls, and those that these call; and what is not read of them."""
    found, unread = [], []
    for function in _needed(node, functions):
        if function.language not in (None, "sql"):
            if function.depends_on.nodes:
                message = f"the function {function.name} is not in SQL: what it reads of tables is not known"
                unread.append(Diagnostic(DiagnosticCode.NOT_FOLLOWED, Severity.WARNING, message))
            continue
        name, parameters = (function.alias or function.name).lower(), tuple(each.name for each in function.arguments)
        found.append(ProjectFunction(name, (function.schema_ or "").lower(), parameters, text_of(function)))
    return tuple(found), tuple(unread)


def _needed(node: DbtNode, functions: Mapping[str, DbtNode]) -> Iterator[DbtNode]:
    waiting, seen = list(node.depends_on.nodes), set[str]()
    while waiting:
        key = waiting.pop()
        if key in functions and key not in seen:
            seen.add(key)
            yield functions[key]
            waiting += functions[key].depends_on.nodes


def functions_for(called: Sequence[ProjectFunction], options: ExtractionOptions) -> Functions:
    """Return what replaces the calls of these functions."""
    dialect, budget = options.naming.dialect, options.budget
    functions = Functions(dialect, budget, lambda _: False)
    for one in called:
        for statement in parse_statements(one.text, dialect, budget):
            functions.learn([_defining(one, statement)])
            break
    return functions


def _defining(function: ProjectFunction, statement: ParsedStatement) -> ParsedStatement:
    body = FunctionBody(function.name, function.parameters, tuple(statement.tokens), schema=function.schema)
    return replace(statement, step=ProgramStep(function=body))
