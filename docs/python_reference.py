"""Write docs/python_reference.md, the reference of the Python API, from its docstrings: `make docs`."""

from __future__ import annotations

import ast
import enum
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

PAGE = Path(__file__).with_name("python_reference.md")

PACKAGES = (
    "lineage",
    "lineage_ingest",
    "lineage.sql",
    "lineage.model",
    "lineage.catalog",
    "lineage.store",
    "lineage.traversal",
    "lineage.export",
    "lineage_graphql",
)
"""The packages whose `__all__` is public. A name in several packages is described in the first."""

_SECTION = re.compile(r"^(Args|Returns|Yields|Raises):$")
_ITEM = re.compile(r"^    (\*{0,2}\w+): ")
_PRIVATE_MODULE = re.compile(r"\b(?:lineage\w*|collections|datetime|pathlib|typing)\.[\w.]*\b(\w+)")


def page() -> str:
    """Return the text of the page."""
    lines = [
        "# Python reference",
        "",
        "The names of these packages are public; every other name may change without notice. `python -m pydoc NAME`",
        "shows the same texts. This page is generated from the docstrings by `make docs`.",
    ]
    described: set[int] = set()
    for name in PACKAGES:
        package = import_module(name)
        lines += ["", f"## {name}", "", *_markdown(package.__doc__ or "")]
        for public in package.__all__:
            value = getattr(package, public)
            if id(value) not in described:
                described.add(id(value))
                lines += ["", *_entry(name, public, value)]
    return "\n".join(lines) + "\n"


def _entry(package: str, name: str, value: Any) -> Iterator[str]:
    yield f"### {package}.{name}"
    yield ""
    if inspect.isclass(value):
        yield from _class(name, value)
    elif callable(value):
        yield from _signature(name, value)
        yield from _markdown(inspect.getdoc(value) or "")
    else:
        yield f"`{value!r}`"


def _class(name: str, kind: type) -> Iterator[str]:
    yield from _markdown(inspect.getdoc(kind) or "")
    attributes = list(_attributes(kind))
    if attributes:
        yield from ("", *attributes)
    for method, function in _methods(kind):
        called = f"{name}.{method}"
        yield ""
        if isinstance(function, property):
            yield f"**`{called}`**: {_one_line(function.__doc__)}"
            continue
        yield from _signature(called, getattr(kind, method))
        yield from _markdown(inspect.getdoc(getattr(kind, method)) or "")


def _attributes(kind: type) -> Iterator[str]:
    """Yield a list entry for each field of a dataclass or named tuple, and for each member of an enumeration."""
    texts: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        texts |= _attribute_docs(base)
    if issubclass(kind, enum.Enum):
        for member in kind:
            yield _bullet(f"`{member.name}` = `{member.value!r}`", texts.get(member.name))
    elif is_dataclass(kind):
        for field in fields(kind):
            if not field.name.startswith("_"):
                given = "" if field.default is MISSING else f" = {_default(field.default)}"
                yield _bullet(f"`{field.name}: {field.type}{given}`", texts.get(field.name))
    elif hasattr(kind, "model_fields"):
        for name, described in kind.model_fields.items():
            yield _bullet(f"`{name}`", described.description or texts.get(name))
    elif hasattr(kind, "_fields"):
        hints = kind.__annotations__
        for one in kind._fields:
            given = f" = {kind._field_defaults[one]!r}" if one in kind._field_defaults else ""  # type: ignore[attr-defined]
            yield _bullet(f"`{one}: {hints[one]}{given}`", texts.get(one))


def _attribute_docs(kind: type) -> dict[str, str]:
    """Return the docstrings below the attributes of a class, by attribute."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    except (OSError, TypeError):
        return {}
    found = {}
    body = tree.body if isinstance(tree, ast.ClassDef) else []
    for statement, after in pairwise(body):
        target = statement.target if isinstance(statement, ast.AnnAssign) else None
        if isinstance(statement, ast.Assign):
            target = statement.targets[0]
        if (
            isinstance(target, ast.Name)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
            and isinstance(after.value.value, str)
        ):
            found[target.id] = after.value.value
    return found


def _methods(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties that the project defines, of the class and its base classes."""
    seen: set[str] = set()
    for base in kind.__mro__:
        if base.__module__.partition(".")[0] not in ("lineage", "lineage_ingest", "lineage_graphql"):
            continue
        for name, value in vars(base).items():
            is_method = inspect.isfunction(value) or isinstance(value, property | classmethod | staticmethod)
            if is_method and not name.startswith("_") and name not in seen:
                seen.add(name)
                yield name, value


def _signature(name: str, function: Any) -> Iterable[str]:
    """Return the signature of a function as code: on one line, or with one parameter per line."""
    signature = inspect.signature(function)
    parameters = [one for one in signature.parameters.values() if one.name != "self"]
    returned = signature.return_annotation
    end = "" if returned is inspect.Signature.empty else f" -> {_annotation(returned)}"
    listed: list[str] = []
    starred = any(one.kind is one.VAR_POSITIONAL for one in parameters)
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            listed.append("*")
            starred = True
        default = "" if parameter.default is parameter.empty else f" = {_default(parameter.default)}"
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        annotation = "" if parameter.annotation is parameter.empty else f": {_annotation(parameter.annotation)}"
        listed.append(f"{star}{parameter.name}{annotation}{default}")
    line = f"{name}({', '.join(listed)}){end}"
    if len(line) > 100:
        line = "\n".join((f"{name}(", *(f"    {one}," if one != "*" else "    *," for one in listed), f"){end}"))
    return ("```python", *line.splitlines(), "```", "")


def _annotation(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return _PRIVATE_MODULE.sub(r"\1", text)


def _default(value: Any) -> str:
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(_default, value)))}}}" if value else "frozenset()"
    return str(value) if isinstance(value, enum.Enum) else re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def _bullet(head: str, text: str | None) -> str:
    return f"- {head}: {_one_line(text)}" if text else f"- {head}"


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


def _markdown(docstring: str) -> Iterator[str]:
    """Yield a docstring as Markdown: sections of arguments and errors as lists, examples as code."""
    in_code = in_section = False
    for line in inspect.cleandoc(docstring).splitlines():
        is_code = line.startswith((">>>", "...")) or (in_code and bool(line.strip()))
        if is_code != in_code:
            yield "```pycon" if is_code else "```"
            in_code = is_code
        section = _SECTION.match(line)
        if section is not None:
            in_section = True
            yield f"**{section[1]}**"
            yield ""
        elif in_section and _ITEM.match(line):
            yield _ITEM.sub(lambda found: f"- `{found[1]}`: ", line)
        elif in_section and line.strip():
            yield f"  {line.strip()}"
        else:
            in_section = in_section and not line.strip()
            yield line
    if in_code:
        yield "```"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
