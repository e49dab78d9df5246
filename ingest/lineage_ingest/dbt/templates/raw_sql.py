"""Render the raw SQL of a model that dbt has only parsed: what needs no database is expanded, the rest is reported.

`ref`, `source`, `function`, `this`, `config`, `var`, `env_var`, `is_incremental`, control structures and macros are
expanded, in Jinja's sandbox: those of packages and of dbt only if they need no database. So is what else asks for the
build, where `render` gets one.
Anything else stays as the placeholder `{{ name(…) }}`, which the SQL parser fills and reports. Ephemeral models are
inlined as CTEs, as dbt does.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage_ingest.dbt.artifacts.manifest import Manifest
from lineage_ingest.dbt.artifacts.manifest_nodes import DbtNode
from lineage_ingest.dbt.builds.build_kinds import BuildKind, TemplateAdapter, TemplateFlags
from lineage_ingest.dbt.templates.call_marks import CallMarks, without_marks
from lineage_ingest.dbt.templates.known_results import (
    CONTEXT_FUNCTIONS,
    NEEDING_DATABASE,
    PARENT_ADAPTERS,
    PATTERNS,
    REFUSALS,
    ColumnTypes,
    TemplatePackage,
    quoted_by,
)
from lineage_ingest.dbt.templates.project_variables import ProjectVariables
from lineage_ingest.dbt.templates.template_relations import KnownColumns, RelationText, TemplateColumn

if TYPE_CHECKING:
    from jinja2 import Undefined

__all__ = ["RawSqlRenderer", "RenderedSql", "RenderingMissingError"]

_CTE = "__dbt__cte__"
_SPACE = re.compile(r"\s+|--[^\n]*|/\*(?:[^*]|\*(?!/))*\*/")
_WITH = re.compile(r"with\s+(?:recursive\s+)?", re.IGNORECASE)
_HINT = "run `dbt compile`, and ingest again"
_MAX_CHARACTERS = 2_000_000
_MAX_TURNS = 1_000_000
"""Maximum number of turns of a model's loops over ranges."""
_KEPT_TEMPLATES = 512
"""Hooks of many models are one text, each model is rendered for several builds, and many call the same macros."""


class RenderingMissingError(ValueError):
    """Jinja is not installed."""


@dataclass(slots=True)
class RenderedSql:
    """The SQL of a model, and what is in doubt about it."""

    text: str
    doubts: list[Diagnostic] = field(default_factory=list)
    asks_for_build: bool = False
    """Whether another build may give another text."""
    without_columns: tuple[str, ...] = ()
    """The relations whose columns the template asks for, and that are not known."""


class RawSqlRenderer:
    """Renders the models of one manifest."""

    def __init__(
        self,
        manifest: Manifest,
        macros: Mapping[str, Any],
        relation: Callable[[DbtNode], str],
        variables: ProjectVariables,
        values: Mapping[str, Any] = MappingProxyType({}),
        *,
        marks: CallMarks | None = None,
        columns: Callable[[DbtNode], KnownColumns | None] = lambda _: None,
    ) -> None:
        """Create a renderer. `macros` are those of the manifest; `relation` returns a node's relation as in SQL.

        `values` are further names that templates may use. `marks` tell calls that are not expanded from others.
        `columns` returns those of a node's relation.

        Raises:
            RenderingMissingError: Jinja is not installed.
        """
        self._relation = relation
        self._columns = columns
        self._quote = quoted_by(str(manifest.metadata.adapter_type))
        self._variables = variables
        self._nodes = {**manifest.nodes, **manifest.sources}
        self._by_name: dict[str, list[DbtNode]] = {}
        for node in manifest.nodes.values():
            self._by_name.setdefault(node.name, []).append(node)
        self._functions = {node.name: node for node in manifest.functions.values()}
        self._sources = {(node.unique_id.split(".")[2], node.name): node for node in manifest.sources.values()
                         if node.unique_id.count(".") >= 3}  # fmt: skip
        self._project = manifest.metadata.project_name or ""
        adapter = str(manifest.metadata.adapter_type)
        self._adapters = tuple(one for one in (adapter, PARENT_ADAPTERS.get(adapter)) if one is not None)
        self._open: list[_Rendering] = []
        try:
            from lineage_ingest.dbt.templates.jinja_environment import make_environment  # noqa: PLC0415  needs an extra
        except ImportError as error:
            message = "Jinja is not installed: pip install '.[dbt]' in a checkout of lineage"
            raise RenderingMissingError(message) from error
        self._environment = make_environment(self.note, marks or _no_mark)
        self._compiled = lru_cache(_KEPT_TEMPLATES)(self._environment.from_string)
        patterns = {name: partial(self._of_known_text, name, found) for name, found in PATTERNS.items()}
        self._environment.globals.update(
            ref=self._ref,
            source=self._source,
            function=self._function,
            config=_nothing,
            var=self._var,
            env_var=self._env_var,
            is_incremental=self._is_incremental,
            should_full_refresh=self._should_full_refresh,
            load_relation=partial(self._load_relation, "load_relation"),
            load_cached_relation=partial(self._load_relation, "load_cached_relation"),
            adapter=TemplateAdapter(
                {
                    "get_relation": self._get_relation,
                    "get_columns_in_relation": self._get_columns,
                    "dispatch": self._dispatch,
                    "quote": self._quote,
                },
                self._unknown,
            ),
            api=TemplatePackage({"Column": ColumnTypes(adapter)}, partial(self._unknown_of, "api")),
            modules=TemplatePackage(
                {"re": TemplatePackage(patterns, partial(self._unknown_of, "modules.re"))},
                partial(self._unknown_of, "modules"),
            ),
            flags=TemplateFlags(self._is_refresh, self._unknown),
            target=TemplatePackage({"type": adapter}, partial(self._unknown_of, "target")),
            exceptions=TemplatePackage(REFUSALS, partial(self._unknown_of, "exceptions")),
            execute=True,
            statement=self._statement,
            range=self._range,
            log=_nothing,
            **{"return": _return},
            print=_nothing,
            **CONTEXT_FUNCTIONS,
        )
        self._environment.globals.update(values)
        self._load_macros(macros)

    def render(self, node: DbtNode, *, first_build: bool = False, build: BuildKind | None = None) -> RenderedSql:
        """Return the SQL of a node's raw code; of an incremental model, that of later builds or of the first one.

        With `build`, the template is also answered what it asks for the model's table and a full refresh.
        """
        current = _Rendering(node, first_build=first_build, build=build)
        self._environment.calls = 0
        self._open.append(current)
        try:
            text = self._text(node)
        finally:
            self._open.pop()
        rendered = RenderedSql(_with_ctes(text, current.ctes), asks_for_build=current.asks_for_build)
        rendered.without_columns = tuple(current.without_columns)
        rendered.doubts = [
            Diagnostic(DiagnosticCode.NOT_COMPILED, Severity.WARNING, without_marks(message), hint=_HINT)
            for message in dict.fromkeys((*current.doubts, *current.partly_known))
        ]
        rendered.doubts += current.cycles
        return rendered

    def _text(self, node: DbtNode) -> str:
        raw = node.raw_code or ""
        try:
            template = self._compiled(raw)
            own = self._macros.get(node.package_name or "", {}) if node.package_name != self._project else {}
            settings = TemplatePackage({"materialized": node.config.materialized}, partial(self._unknown_of, "config"))
            model = TemplatePackage({"name": node.name, "config": settings}, partial(self._unknown_of, "model"))
            text: str = template.render({**own, "this": self._named(node), "model": model})
        except Exception as error:  # noqa: BLE001  a template may raise anything; its message may quote SQL
            self._open[-1].doubts.append(
                f"the template cannot be rendered ({type(error).__name__}): it is read as it is"
            )
            return raw
        if len(text) > _MAX_CHARACTERS:
            self._open[-1].doubts.append("the rendered template is too large: it is read as it is")
            return raw
        return text

    def _load_macros(self, macros: Mapping[str, Any]) -> None:
        """Define the macros: those of the project precede those of dbt; those of packages have the package's name."""
        self._macros: dict[str, dict[str, Any]] = {}
        for macro in macros.values():
            name = str(macro.get("name")) if isinstance(macro, Mapping) else ""
            if name and name not in NEEDING_DATABASE:
                package = str(macro.get("package_name"))
                call = partial(self._call_macro, package, str(macro.get("macro_sql", "")), name)
                self._macros.setdefault(package, {})[name] = _returning(call)
        known = self._environment.globals
        known.update(self._macros.get(self._project, {}))
        for package in self._packages_of_dbt:
            known.update({name: call for name, call in self._macros.get(package, {}).items() if name not in known})
        for package, own in self._macros.items():
            known.setdefault(package, TemplatePackage(own, partial(self._unknown_of, package)))

    @property
    def _packages_of_dbt(self) -> tuple[str, ...]:
        return (*(f"dbt_{one}" for one in self._adapters), "dbt")

    def _call_macro(self, package: str, text: str, name: str, *values: Any, **named: Any) -> Any:
        """Call a macro. Its module is made here, where all macros are known: it keeps the names that it finds.

        A macro of a package that needs a database is a placeholder as a whole, and leaves no doubt of its own.
        """
        is_own = package == self._project
        before = len(self._open[-1].doubts) if self._open else 0
        try:
            own = {} if package in (self._project, *self._packages_of_dbt) else self._macros[package]
            template = self._compiled(text)
            context = template.new_context(own)
            deque(template.root_render_func(context), maxlen=0)  # a module would lack names that begin with `_`
            macro = context.vars.get(name) or self._unknown(name)
            output = macro(*values, **named)
        except _ReturnedError as returned:
            output = returned.value
        except Exception:
            if is_own:
                raise
            output = "{{"
        is_text = isinstance(output, (str, self._environment.undefined))
        # A list of names is a guess if anything was guessed on the way; a number shapes no lineage.
        is_number = isinstance(output, (int, float))
        is_guess = "{{" in str(output) if is_text else len(self._open[-1].doubts) > before and not is_number
        if is_own or not is_guess:
            return output
        del self._open[-1].doubts[before:]
        return self._unknown_of(package, name)(*values, **named)

    def _unknown_of(self, package: str, name: str) -> Undefined:
        return self._unknown(name if package == self._project else f"{package}.{name}")

    def _dispatch(self, name: str, macro_namespace: str | None = None, **_: Any) -> Any:
        """Return the macro of the adapter, else the default one: of the project, else of the package."""
        of_dbt = macro_namespace in (None, "dbt")
        packages = (self._project, *(self._packages_of_dbt if of_dbt else (str(macro_namespace),)))
        for prefix in (*self._adapters, "default"):
            for package in packages:
                if (call := self._macros.get(package, {}).get(f"{prefix}__{name}")) is not None:
                    return call
        return self._unknown(name)

    def _ref(self, *names: str, **_version: Any) -> str:
        candidates = self._by_name.get(str(names[-1]) if names else "", [])
        wanted = _version.get("v", _version.get("version"))
        candidates = [
            node for node in candidates if node.version == (node.latest_version if wanted is None else str(wanted))
        ]
        package = str(names[0]) if len(names) > 1 else None
        reader = self._open[-1].node
        needed = reader.depends_on.nodes
        ranked = sorted(
            (node for node in candidates if package in (None, node.package_name)),
            key=lambda one: (one.unique_id not in needed, one.package_name != reader.package_name),
        )
        node = next(iter(ranked), None)
        if node is None:
            self._open[-1].doubts.append(f"the manifest has no model `{names[-1] if names else ''}`")
            return str(names[-1]) if names else ""
        return self._inline(node) if node.is_ephemeral else self._named(node)

    def _inline(self, node: DbtNode) -> str:
        """Add an ephemeral model as a CTE, with the CTEs that it needs; return the CTE's name."""
        current = self._open[-1]
        name = f"{_CTE}{node.alias or node.name}"  # the identifier: versions of a model have the same name
        known = current.inlined.setdefault(name, node.unique_id)
        if known != node.unique_id:
            current.doubts.append(f"two ephemeral models are called {name}: only the first one is read")
        if name in current.ctes:
            return name
        if any(one.node.unique_id == node.unique_id for one in self._open):
            message = f"the ephemeral model {node.name} reads itself: it has no SQL"
            hint = "break the cycle: dbt does not build it either"
            current.cycles.append(Diagnostic(DiagnosticCode.CYCLIC_DEFINITION, Severity.ERROR, message, hint=hint))
            return name
        inner = _Rendering(node, build=current.build)
        self._open.append(inner)
        try:
            text = node.compiled_code if node.compiled_code and not inner.ctes else self._text(node)
        finally:
            self._open.pop()
        for other, own in inner.ctes.items():
            if current.inlined.setdefault(other, inner.inlined[other]) != inner.inlined[other]:
                current.doubts.append(f"two ephemeral models are called {other}: only the first one is read")
            current.ctes.setdefault(other, own)
        current.ctes[name] = text
        current.doubts += inner.doubts
        current.cycles += inner.cycles
        current.without_columns |= inner.without_columns
        current.partly_known |= inner.partly_known
        current.asks_for_build |= inner.asks_for_build
        return name

    def _source(self, *names: str) -> str:
        node = self._sources.get((str(names[0]), str(names[1]))) if len(names) == 2 else None
        if node is None:
            self._open[-1].doubts.append("the manifest has no source of that name")
            return ".".join(map(str, names))
        return self._named(node)

    def _function(self, *names: str) -> str:
        node = self._functions.get(str(names[-1])) if names else None
        if node is None:
            self._open[-1].doubts.append("the manifest has no function of that name")
            return ".".join(map(str, names))
        return self._named(node)

    def _named(self, node: DbtNode) -> RelationText:
        return RelationText(self._relation(node), node)

    def _var(self, name: str, default: Any = None) -> Any:
        is_set, value = self._variables.value(self._open[-1].node.package_name, name)
        if is_set:
            return deepcopy(value)  # a template may add to a list, and the next one must not find that
        shown = f"var('{name}')" if name.isidentifier() else "var"
        if default is None:
            return self._unknown(shown)
        if not self._variables.is_known:
            self.note(f"`{shown}` is taken by default: the project's file, which may set it, is not there")
        return default

    def _env_var(self, name: str, default: Any = None) -> Any:
        shown = f"env_var('{name}')" if name.isidentifier() else "env_var"
        if default is None:
            return self._unknown(shown)
        self.note(f"`{shown}` is taken by default: the environment of dbt is not known")
        return default

    def _is_incremental(self) -> bool:
        """Return True for incremental models: so they run from the second time on."""
        current = self._asked()
        if current.node.config.materialized != "incremental" or current.first_build:
            return False
        return current.build is None or (current.build.has_table and not self._should_full_refresh())

    def _asked(self) -> _Rendering:
        """Return the current rendering, which depends on the build from now on."""
        current = self._open[-1]
        current.asks_for_build = True
        return current

    def _is_refresh(self) -> bool | None:
        build = self._asked().build if self._open else None
        return None if build is None else build.is_refresh

    def _should_full_refresh(self) -> Any:
        """Return whether the table is made anew: the model's setting precedes dbt's option."""
        setting = self._open[-1].node.config.full_refresh
        known = self._is_refresh() if setting is None else setting
        return self._unknown("should_full_refresh(…)") if known is None else known

    def _load_relation(self, name: str, relation: Any = None, *_: Any, **__: Any) -> Any:
        """Return the model's own table if it is there; which other tables are is not known."""
        current = self._asked()
        own = self._named(current.node)
        if current.build is None or current.node.is_ephemeral or relation != own:
            return self._unknown(f"{name}(…)")
        return own if current.build.has_table else None

    def _get_relation(self, database: Any = None, schema: Any = None, identifier: Any = None) -> Any:
        own = self._named(self._open[-1].node)
        asked = [str(one).lower() for one in (database, schema, identifier)]
        is_own = asked == [str(one).lower() for one in (own.database, own.schema, own.identifier)]
        return self._load_relation("adapter.get_relation", own if is_own else None)

    def _get_columns(self, relation: Any = None, *_: Any) -> Any:
        """Return the columns of a relation, if they are known."""
        known = self._columns(relation.node) if isinstance(relation, RelationText) else None
        if known is None:
            if isinstance(relation, RelationText):
                self._open[-1].without_columns[relation] = None
            return self._unknown("adapter.get_columns_in_relation")(relation)
        if not known.complete:
            message = f"`{relation}` is taken to have the columns that its properties file lists: it may have others"
            self._open[-1].partly_known[message] = None
        return [TemplateColumn(one, self._quote) for one in known.columns]

    def _statement(self, *_: Any, fetch_result: bool = False, **__: Any) -> str:
        """Return nothing, as dbt does for `{% call statement(…) %}`; what it fetches is asked for by `load_result`."""
        if not fetch_result:
            self.note("`statement(…)` is taken to change nothing: the SQL that it runs is not read")
        return ""

    def _of_known_text(self, name: str, function: Callable[..., Any], *values: Any, **named: Any) -> Any:
        """Return what a pattern finds; a text with a placeholder is not known, and must not lose its braces."""
        is_known = not any("{{" in str(value) for value in values)
        return function(*values, **named) if is_known else self._unknown(f"re.{name}")(*values, **named)

    def _range(self, *bounds: int) -> range:
        """Return a range; nested loops over ranges may turn this many times in all."""
        found = range(*bounds)
        self._open[-1].turns += len(found)
        if self._open[-1].turns > _MAX_TURNS:
            raise OverflowError
        return found

    def _unknown(self, name: str) -> Undefined:
        found: Undefined = self._environment.undefined(name=name)
        return found

    def note(self, message: str) -> None:
        """Record a doubt about the model that is being rendered."""
        if self._open:
            self._open[-1].doubts.append(message)


@dataclass(slots=True)
class _Rendering:
    """A model that is being rendered: the CTEs that it needs, and what is in doubt."""

    node: DbtNode
    ctes: dict[str, str] = field(default_factory=dict)
    inlined: dict[str, str] = field(default_factory=dict)
    """The unique id of the model of each CTE."""
    doubts: list[str] = field(default_factory=list)
    cycles: list[Diagnostic] = field(default_factory=list)
    without_columns: dict[str, None] = field(default_factory=dict)
    partly_known: dict[str, None] = field(default_factory=dict)
    turns: int = 0
    first_build: bool = False
    build: BuildKind | None = None
    asks_for_build: bool = False


def _no_mark(*_: Any) -> str:
    return ""


def _nothing(*_: Any, **__: Any) -> str:
    return ""


class _ReturnedError(Exception):
    """What `return` ends a macro with: https://docs.getdbt.com/reference/dbt-jinja-functions/return."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


def _return(value: Any = None) -> Any:
    raise _ReturnedError(value)


def _returning(macro: Callable[..., Any]) -> Callable[..., Any]:
    """Return a macro whose result is what it returns, else its text."""

    def call(*values: Any, **named: Any) -> Any:
        try:
            return macro(*values, **named)
        except _ReturnedError as found:
            return found.value

    return call


def _with_ctes(text: str, ctes: Mapping[str, str]) -> str:
    """Return the query with CTEs before its own."""
    if not ctes:
        return text
    listed = ", ".join(f"{name} as (\n{own}\n)" for name, own in ctes.items())
    start = 0
    while (space := _SPACE.match(text, start)) is not None:
        start = space.end()
    own_with = _WITH.match(text, start)
    if own_with is None:
        return f"with {listed}\n{text}"
    return f"{text[: own_with.end()]}{listed}, {text[own_with.end() :]}"
