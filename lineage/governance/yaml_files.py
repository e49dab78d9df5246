"""YAML files that people write: read into pydantic models; an error says where, by line and column."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import yaml  # type: ignore[import-untyped]
from pydantic import BaseModel, ValidationError

__all__ = ["GovernanceFileError", "read_yaml"]

M = TypeVar("M", bound=BaseModel)
_Place = tuple[str | int, ...]


class GovernanceFileError(ValueError):
    """A file of rules, policies or tags is wrong; the message begins with file, line and column."""

    def __init__(self, path: str, line: int, column: int, message: str) -> None:
        super().__init__(f"{path}:{line}:{column}: {message}")


def read_yaml(path: str | Path, text: str, model: type[M]) -> M:
    """Return the content of a YAML file as a model.

    Raises:
        GovernanceFileError: it is no YAML, or does not have the form of the model.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        value = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise GovernanceFileError(str(path), line, column, f"not YAML: {error.problem or error.context}") from error
    except yaml.YAMLError as error:  # a character that YAML does not allow
        raise GovernanceFileError(str(path), 1, 1, f"not YAML: {' '.join(str(error).split())}") from error
    try:
        return model.model_validate({} if value is None else value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        line, column = _position(root, first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        name = ".".join(str(part) for part in first["loc"])
        raise GovernanceFileError(str(path), line, column, f"{name}: {message}" if name else message) from error


def _position(node: Any, place: _Place) -> tuple[int, int]:
    """Return the line and column of the deepest node on the way to a place."""
    if node is None:
        return 1, 1
    mark = node.start_mark
    for part in place:
        inner = None
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == str(part):
                    mark, inner = key.start_mark, value
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            inner = node.value[part]
            mark = inner.start_mark
        if inner is None:
            break
        node = inner
    return mark.line + 1, mark.column + 1
