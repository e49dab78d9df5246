"""Plain scalars of YAML as YAML 1.2 reads them: `=`, `no`, `012` and `1:30` are texts.

PyYAML reads YAML 1.1, in which `=` is a value of its own, that it cannot construct: Metabase's exports have it in each
comparison. A column named `on` would be `True`. https://yaml.org/spec/1.2.2/#103-core-schema
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import yaml  # type: ignore[import-untyped]

__all__ = ["core_schema_loader"]

_TAG = "tag:yaml.org,2002:"
_SCALARS = (
    ("null", re.compile(r"~|null|Null|NULL|"), "~nN\0"),
    ("bool", re.compile(r"true|True|TRUE|false|False|FALSE"), "tTfF"),
    ("int", re.compile(r"[-+]?(?:0|[1-9][0-9]*)|0x[0-9a-fA-F]+"), "-+0123456789"),
    ("float", re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)\.[0-9]*)(?:[eE][-+]?[0-9]+)?"), "-+0123456789."),
    ("merge", re.compile("<<"), "<"),
)
"""The scalars that are no texts: tag, form, and the characters that they begin with."""


@cache
def core_schema_loader() -> Any:
    """Return a loader of plain values whose scalars are those of YAML's core schema."""
    resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    for name, form, first in _SCALARS:
        for character in first:
            own = "" if character == "\0" else character
            resolvers.setdefault(own, []).append((f"{_TAG}{name}", re.compile(rf"(?:{form.pattern})\Z")))
    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return type("CoreSchemaLoader", (base,), {"yaml_implicit_resolvers": resolvers})
