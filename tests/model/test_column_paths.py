"""Paths and keys of columns, over arbitrary identifiers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage import extract
from lineage.model.dialects import dialect_named
from lineage.model.names import (
    ColumnPath,
    column_key,
    column_text,
    dataset_key,
    dataset_of,
    is_column_key,
    split_column_key,
    split_dataset_key,
)
from lineage.model.statement import ColumnRef

texts = st.text(st.one_of(st.sampled_from("#%.\"`[]' 235aZ/>+é\n\t\x1b"), st.characters(exclude_categories=["Cs"])))
QUOTED = {
    "postgres": lambda name: '"' + name.replace('"', '""') + '"',
    "mysql": lambda name: "`" + name.replace("`", "``") + "`",
    "tsql": lambda name: "[" + name.replace("]", "]]") + "]",
}


@given(st.lists(texts, min_size=1, max_size=3))
def test_a_path_is_read_back_as_it_was_written(parts: list[str]) -> None:
    path = ColumnPath(tuple(parts))
    assert ColumnPath.read(str(path)) == path == ColumnPath.parse(str(path))


@given(texts, texts, texts)
def test_a_key_is_split_into_what_it_was_made_of(namespace: str, name: str, path: str) -> None:
    dataset = dataset_key(namespace, name)
    key = column_key(dataset, path)
    assert key.count("#") == 1
    assert split_column_key(key) == (dataset, path)
    assert dataset_of(key) == dataset
    assert split_dataset_key(dataset, namespace) == (namespace, name)
    assert is_column_key(key)
    assert not is_column_key(dataset)


@given(st.lists(texts, min_size=2, max_size=6, unique=True))
def test_different_names_have_different_keys(names: list[str]) -> None:
    assert len({dataset_key("pg", name) for name in names}) == len(names)
    assert len({column_key("pg/t", str(ColumnPath((name,)))) for name in names}) == len(names)


@pytest.mark.parametrize("name", ["a b", "item#", "50%", "raw/a%20b", "é", "a:b", "x'y"])
def test_usual_names_are_written_as_they_are(name: str) -> None:
    assert column_text(name) == name
    assert dataset_key("pg", name).replace("%23", "#") == f"pg/{name}"


@given(st.sampled_from(sorted(QUOTED)), texts.filter(lambda name: name and name != "*" and "\0" not in name))
def test_a_quoted_identifier_of_sql_is_one_column(dialect: str, name: str) -> None:
    [statement] = extract(f"SELECT {QUOTED[dialect](name)} FROM t", dialect=dialect)
    folded = dialect_named(dialect).fold_column(name, quoted=True)
    assert statement.output_columns == [folded]
    assert [(edge.source, edge.target) for edge in statement.edges] == [
        (ColumnRef("t", column_text(folded)), ColumnRef(None, column_text(folded)))
    ]
