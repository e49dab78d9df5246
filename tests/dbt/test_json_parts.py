"""Some fields of a JSON object, read without the others."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw

from lineage_ingest.dbt.artifacts.json_parts import FieldReader


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1, "c": [1, 2], "b": {"x": null}}', {"a": 1, "b": '{"x": null}'}),
        ('{"a": null}', {"a": None}),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ("{}", {}),
        ('{"a": ' + "9" * 400 + "}", {"a": int("9" * 400)}),
        ('{"a": ' + "9" * 400 + ', "b": [], "z": 1}', {"a": int("9" * 400), "b": "[]"}),
        ("[1]", None),
        ("null", None),
        ('"a"', None),
    ],
    ids=["all", "null", "twice", "empty", "large", "large and a part", "list", "nothing", "text"],
)
def test_fields_of_a_value(text: str, expected: dict[str, Any] | None) -> None:
    found = FieldReader(("a", "b"), parts=("b",)).read(Raw(text.encode()))
    if found is not None and "b" in found:
        found["b"] = bytes(found["b"]).decode()
    assert found == expected


@pytest.mark.parametrize("text", ['{"a": 1', '{"a": tru}', '{"a": "\\x"}', ""])
def test_a_damaged_text(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        FieldReader(("a",)).read(Raw(text.encode()))
