"""The schema as others see it: its SDL, and that everything in it is described."""

from __future__ import annotations

from pathlib import Path

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLObjectType,
    build_schema,
    find_breaking_changes,
)

from lineage_graphql.schema.root import schema
from lineage_graphql.schema.sdl import sdl

SDL = Path(__file__).parents[2] / "graphql" / "schema.graphql"


def test_the_committed_schema_is_what_the_service_has() -> None:
    """`make docs` writes it anew."""
    assert SDL.read_text(encoding="utf-8") == sdl()


def test_the_committed_schema_can_be_read() -> None:
    assert find_breaking_changes(build_schema(SDL.read_text(encoding="utf-8")), schema._schema) == []


def test_everything_is_described() -> None:
    missing = []
    for name, kind in schema._schema.type_map.items():
        if name.startswith("__"):
            continue
        if not kind.description and name not in ("Boolean", "Int", "Float", "String", "ID"):
            missing.append(name)
        if isinstance(kind, GraphQLObjectType | GraphQLInputObjectType):
            for field_name, field in kind.fields.items():
                missing += [] if field.description else [f"{name}.{field_name}"]
                for argument_name, argument in getattr(field, "args", {}).items():
                    missing += [] if argument.description else [f"{name}.{field_name}({argument_name})"]
    assert missing == []


def test_enums_have_the_words_of_the_model() -> None:
    kind = schema._schema.type_map["EdgeKind"]
    assert isinstance(kind, GraphQLEnumType)
    assert set(kind.values) == {"CONTRIBUTES", "REFERENCES"}


def test_the_folder_graphql_hides_no_package() -> None:
    import graphql  # noqa: PLC0415

    assert "site-packages" in str(graphql.__file__)
