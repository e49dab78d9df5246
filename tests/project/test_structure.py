"""The source layout: no import cycles, and one meaning per name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.structure import Structure

SAME_CLASS = {
    "BrokenRead": "GraphQL's type has the name of what traversals return",
    "Diagnostic": "GraphQL's type has the name of the schema",
    "Edge": "GraphQL's type has the name that Relay's connections prescribe",
    "FormerHolder": "GraphQL's type has the name of what traversals return",
    "GoneSource": "GraphQL's type has the name of what traversals return",
    "FormerName": "GraphQL's type has the name of the schema",
    "Namesake": "GraphQL's type has the name of what traversals return",
    "Span": "GraphQL's type is a range of text, as the model's is",
    "Node": "GraphQL's interface has the name that Relay prescribes",
}
"""Class names that two modules define, and the reason."""

SAME_MODULE = {
    "backend": "each Cypher store's, and what both have in common",
    "changes": "to the graph; to datasets, in a batch",
    "create": "statements that create: rewritten while parsing, resolved later",
    "datasets": "a resource of the schema, and its planning; those of a batch",
    "ddl": "definitions for the catalog, parsed and resolved",
    "diagnostics": "the model; those of a batch",
    "diff": "a command, and its GraphQL type",
    "edges": "of a statement; of a batch",
    "errors": "each package's own",
    "evidence": "the model, and how the terminal shows it",
    "explorer": "each store's own",
    "extraction": "SQL's front door, the stage of the log pipeline that calls it, its GraphQL field",
    "facts": "the model, their planning and storing; a project's; how the terminal and GraphQL show them",
    "files": "files as sources and destinations of statements",
    "forgetting": "its planning and its storing",
    "ingest": "each kind of input has one, and its command",
    "jobs": "a resource: its command, its GraphQL type",
    "lambdas": "of SQL; of Spark's plans",
    "lists": "lists of a store, and of the schema",
    "live_graph": "each store's own, and what they have in common",
    "observations": "of runs, as events have them and as the graph keeps them",
    "opening": "a store; an engine of the log pipeline",
    "openlineage": "the standard, in and out",
    "options": "of the command line, of a traversal",
    "paths": "between two columns: the traversal, its GraphQL type",
    "plan": "what an ingest will do; what a batch will change in the graph",
    "reader": "of each kind of dashboard export",
    "records": "of a text log; of the graph",
    "renames": "ALTER … RENAME in a script, and in the graph",
    "returning": "RETURNING in a program, and in a statement",
    "runs": "of ingests; of statements in a log",
    "schema": "of tables; of the graph",
    "session_variables": "of SQL; of Spark's scripts",
    "settings": "of the service; of a local Neo4j",
    "sources": "the SQL texts of a script; the files that contain them",
    "statement": "the model; the tokens of one as rewrites see them",
    "statements": "of SQL, in scripts; of the stores; of SQLite",
    "transaction": "of each store",
    "usage": "the model, the traversal, the command, the GraphQL type",
}
"""Module names that occur in several packages, and their meaning there."""


@pytest.fixture(scope="module")
def structure() -> Structure:
    return Structure(Path(__file__).parents[2])


def test_no_modules_import_each_other(structure: Structure) -> None:
    schema = "lineage_graphql.schema.objects"
    # GraphQL types with fields of each other's types: these imports are lazy.
    assert structure.circles == [[f"{schema}.datasets", f"{schema}.jobs", f"{schema}.related_tables"]]


def test_a_class_name_means_one_class(structure: Structure) -> None:
    assert {name for name, modules in structure.classes.items() if len(modules) > 1} == set(SAME_CLASS)


def test_a_module_name_that_several_have_means_the_same(structure: Structure) -> None:
    assert {name for name, modules in structure.modules.items() if len(modules) > 1} == set(SAME_MODULE)


def test_nothing_else_is_loose(structure: Structure) -> None:
    assert {name.rpartition(".")[2] for name in structure.loose("lineage.sql")} == {
        "budget", "extraction", "plugins", "table_tracing",
    }  # fmt: skip
    assert {name.rpartition(".")[2] for name in structure.loose("lineage.store")} == {
        "errors", "exploring", "live_graph", "moving", "opening", "page_requests", "protocol", "time_limit", "values",
    }  # fmt: skip
