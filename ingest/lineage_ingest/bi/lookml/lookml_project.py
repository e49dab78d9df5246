"""A LookML project: its views and explores with refinements and extensions merged, constants, connections."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from typing import Any

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage_ingest.bi.json_objects import objects_in

__all__ = ["FIELD_LISTS", "LookmlProject", "Named"]

FIELD_LISTS = ("dimensions", "dimension_groups", "measures", "filters", "parameters")
_LISTS_BY_NAME = (*FIELD_LISTS, "joins", "sets")
_ADDED = frozenset(("access_filters", "access_filter_fields"))
_QUERIES = frozenset(("sql", "explore_source", "sql_create", "create_process"))
_DECIDING = re.compile("sql|type$|filters|case$|derived_table$|from$|view_name$|foreign_key$|list_field$|based_on")
"""Parameters that decide which columns something reads."""
_EXTENDED = re.compile(r"\$\{EXTENDED\}")
_CONSTANT = re.compile(r"@\{(\w+)\}")
_MAX_EXTENSIONS = 30


@frozen
class Named:
    """A view or an explore: its merged definition, and the file of its definition."""

    name: str
    at: str
    definition: Mapping[str, Any]
    problems: tuple[Diagnostic, ...] = ()


@dataclass(slots=True)
class LookmlProject:
    """What the files of a project say, by name."""

    constants: dict[str, str] = field(default_factory=dict)
    connections: dict[str, str] = field(default_factory=dict)
    """Names of connections, by the path of the model file."""
    includes: dict[str, list[str]] = field(default_factory=dict)
    """Patterns of included files, by the path of the file that has them."""
    paths: dict[str, str] = field(default_factory=dict)
    """The paths of files in the project, by their names."""
    name: str = ""
    _views: dict[str, list[tuple[str, Mapping[str, Any]]]] = field(default_factory=dict)
    _explores: dict[str, list[tuple[str, Mapping[str, Any]]]] = field(default_factory=dict)
    _included: dict[str, set[str]] = field(default_factory=dict)
    _places: dict[str, tuple[int, int]] = field(default_factory=dict)
    _matches: dict[str, list[str]] = field(default_factory=dict)
    repeated: list[tuple[str, str]] = field(default_factory=list)
    """Files, and what views and explores in them define twice."""
    missing: list[tuple[str, str]] = field(default_factory=list)
    """Files, and what they extend or refine that is not in the project."""

    def add(self, document: Mapping[str, Any], at: str, path: str) -> None:
        """Add what one file says."""
        self.paths[at] = path
        if document.get("project_name"):
            self.name = str(document["project_name"])
        for constant in objects_in(document.get("constants")):
            self.constants[str(constant.get("name"))] = str(constant.get("value") or "")
        if document.get("connection"):
            self.connections[path] = str(document["connection"])
        self.includes[path] = [str(one) for one in _names(document.get("includes"))]
        for kind, known in (("views", self._views), ("explores", self._explores)):
            for one in objects_in(document.get(kind)):
                known.setdefault(str(one.get("name")), []).append((at, one))
                self.repeated += [(at, f"{name} of {one.get('name')}") for name in _repeated(one)]

    def with_constants(self, text: str) -> str:
        """Return a text with `@{NAME}` replaced; a constant that is not known stays."""
        return _CONSTANT.sub(lambda found: self.constants.get(found[1], found[0]), text)

    def views(self) -> dict[str, Named]:
        """Return the views by name."""
        return self._merged(self._views)

    def explores(self) -> dict[str, Named]:
        """Return the explores by name."""
        return self._merged(self._explores)

    def connections_of(self, at: str) -> list[str]:
        """Return the connections of what a file defines: that of the model that it is, else of models that include it.

        If none includes it, those of all models.
        """
        path = self.paths.get(at, at)
        names = [self.connections[path]] if path in self.connections else []
        if not names:
            names = [name for model, name in self.connections.items() if path in self._included_by(model)]
        return [self.with_constants(name) for name in dict.fromkeys(names or self.connections.values())]

    def _included_by(self, model: str) -> set[str]:
        if model not in self._included:
            paths: set[str] = set()
            open_paths = [model]
            while open_paths:
                for pattern in self.includes.get(open_paths.pop(), ()):
                    more = [path for path in self._matching(pattern) if path not in paths]
                    paths.update(more)
                    open_paths += more
            self._included[model] = paths
        return self._included[model]

    def _matching(self, pattern: str) -> list[str]:
        """Return the paths of the files that a pattern of `include` means."""
        if pattern not in self._matches:
            form = _include_form(pattern)
            self._matches[pattern] = [path for path in sorted(self.includes) if form.match(path)]
        return self._matches[pattern]

    def _merged(self, known: Mapping[str, list[tuple[str, Mapping[str, Any]]]]) -> dict[str, Named]:
        found: dict[str, Named] = {}
        for name, definitions in known.items():
            if name.startswith("+"):
                if name[1:] not in known:
                    self.missing.append((definitions[0][0], name[1:]))
                continue
            own: Mapping[str, Any] = {}
            at, definition = definitions[-1]
            refinements = self._ordered(known.get(f"+{name}", ()))
            for one in (definition, *(one for _, one in refinements)):
                own = _override(own, self._extended(one, known, at, 0))
            others = ", ".join(
                dict.fromkeys(self.paths.get(other, other) for other, one in definitions[:-1] if one != definition)
            )
            message = f"{name} is defined in {others}, too: only the last definition is read"
            problems = [Diagnostic(DiagnosticCode.DEFINED_TWICE, Severity.WARNING, message)] if others else []
            problems += self._undecided(refinements)
            found[name] = Named(name, at, own, tuple(problems))
        return found

    def _ordered(self, refinements: Sequence[tuple[str, Mapping[str, Any]]]) -> list[tuple[str, Mapping[str, Any]]]:
        """Return refinements in the order in which models include their files: the last one counts."""
        if len(refinements) < 2:
            return list(refinements)
        places = self._include_places()
        return sorted(refinements, key=lambda one: places.get(self.paths.get(one[0], one[0]), (len(places), 0)))

    def _undecided(self, refinements: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[Diagnostic]:
        """Yield what refinements of several files state differently, if nothing says which file comes last."""
        if len(refinements) < 2:
            return
        places = self._include_places()
        stated: dict[tuple[str, str], tuple[str, Any]] = {}
        for at, one in refinements:
            path = self.paths.get(at, at)
            for what, value in _statements(one):
                before, other = stated.get(what, (path, value))
                is_certain = places.get(before, (0, 0))[1] != places.get(path, (0, 0))[1] and all(
                    (before in one) == (path in one) for one in map(self._included_by, self.connections)
                )
                if other != value and before != path and not is_certain:
                    message = f"refinements in {before} and {path} differ in {' '.join(what)}: the last one is read"
                    hint = "the order in which a model includes them is not certain"
                    yield Diagnostic(DiagnosticCode.DEFINED_TWICE, Severity.WARNING, message, hint=hint)
                stated[what] = path, value

    def _include_places(self) -> dict[str, tuple[int, int]]:
        """Return the place of each file that a model includes, and the number of the line that includes it."""
        if not self._places:
            lines = 0
            waiting: list[tuple[str, int, bool]] = [(model, 0, False) for model in reversed(self.connections)]
            begun: set[str] = set()
            while waiting:
                path, line, is_done = waiting.pop()
                if is_done:
                    self._places.setdefault(path, (len(self._places) + 1, line))
                elif path not in begun:
                    begun.add(path)
                    waiting.append((path, line, True))  # what a file includes comes before it
                    inner = []
                    for pattern in self.includes.get(path, ()):
                        lines += 1
                        inner += [(one, lines, False) for one in self._matching(pattern)]
                    waiting += reversed(inner)
        return self._places

    def _extended(
        self,
        definition: Mapping[str, Any],
        known: Mapping[str, list[tuple[str, Mapping[str, Any]]]],
        at: str,
        depth: int,
    ) -> Mapping[str, Any]:
        """Return a definition over those that it extends."""
        base: Mapping[str, Any] = {}
        for name in _names(definition.get("extends__all", definition.get("extends"))):
            if name not in known or depth > _MAX_EXTENSIONS:
                self.missing.append((at, name))
                continue
            for _, one in (*known[name], *self._ordered(known.get(f"+{name}", ()))):
                base = _override(base, self._extended(one, known, at, depth + 1))
        without = {key: value for key, value in base.items() if key not in ("extension", "name")}
        return _override(without, definition)


def _repeated(definition: Mapping[str, Any]) -> list[str]:
    """Return the names of fields, and those of joins, that a view or an explore defines more than once."""
    fields = [str(one.get("name")) for kind in FIELD_LISTS for one in objects_in(definition.get(kind))]
    joins = [str(one.get("name")) for one in objects_in(definition.get("joins"))]
    return [name for names in (fields, joins) for name, count in Counter(names).items() if count > 1]


def _override(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return a definition with another one's parameters over it.

    Fields and joins are merged by name; the filters by a user's attributes are all kept; a derived table without a
    query of its own has that of the one below.
    """
    definition = dict(base)
    for key, value in own.items():
        below = base.get(key)
        if key in _LISTS_BY_NAME and isinstance(value, list):
            merged = {str(one.get("name")): one for one in below or () if isinstance(one, Mapping)}
            for child in value:
                if isinstance(child, Mapping):
                    name = str(child.get("name"))
                    before = merged.get(name, {})
                    merged[name] = {**before, **{own: _with_extended(child[own], before.get(own)) for own in child}}
            definition[key] = list(merged.values())
        elif key in _ADDED and isinstance(value, list) and isinstance(below, list):
            definition[key] = [*below, *value]
        elif key == "derived_table" and isinstance(below, Mapping) and not _QUERIES & set(value):
            definition[key] = {**below, **value}
        else:
            definition[key] = _with_extended(value, below)
    return definition


def _with_extended(value: Any, below: Any) -> Any:
    """Return a value in which `${EXTENDED}` is the value that it extends."""
    if isinstance(value, str) and isinstance(below, str):
        return _EXTENDED.sub(lambda _found: f"({below.strip()})", value)
    return value


def _statements(definition: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], Any]]:
    """Yield what a definition states of itself, and of its fields and joins, that decides what they read."""
    for key, value in definition.items():
        if key in _LISTS_BY_NAME:
            for one in objects_in(value):
                yield from (((str(one.get("name")), own), one[own]) for own in one if _DECIDING.match(own))
        elif _DECIDING.match(key):
            yield ("its", key), value


def _include_form(pattern: str) -> re.Pattern[str]:
    """Return the form of the paths of files that the pattern of an `include` means.

    >>> [_include_form(one).match(path) is not None for one, path in (
    ...     ("/views/**/*.view", "views/a.view.lkml"), ("b*", "x/bc.lkml"), ("*.view", "m.lkml"))]
    [True, True, False]
    """
    plain = pattern.lstrip("/").removeprefix("*/")
    own = {plain, plain.replace("**/", "")}
    return re.compile("|".join(translate(f"{head}{one}{tail}") for one in own for head in ("", "*/")
                               for tail in ("", ".lkml")))  # fmt: skip


def _names(value: Any) -> list[str]:
    """Return the names in `extends`, which the parser gives as a list, or a list of lists."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [name for one in value for name in _names(one)]
    return []
