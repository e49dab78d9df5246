"""The Jinja environment in which raw SQL is rendered: what is not known stays a placeholder, and whatever asks about it
(a condition, a comparison, a loop, a test, a default) is noted, since the answer is a guess.

https://jinja.palletsprojects.com/en/stable/templates/#list-of-builtin-tests
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial, wraps
from typing import Any

from jinja2 import ChainableUndefined
from jinja2.exceptions import SecurityError
from jinja2.runtime import Undefined
from jinja2.sandbox import SandboxedEnvironment
from jinja2.utils import Namespace, missing

from lineage_ingest.dbt.templates.template_relations import RelationText

__all__ = ["make_environment"]

_PLAIN = (Mapping, Namespace, list, tuple, int, float)
"""Values of templates: what they lack is not there, for dbt as well."""


_MAX_CALLS = 1_000_000
"""Maximum number of calls of one model's template, with the macros that it calls."""
_MAX_ITEMS = 100_000
"""Maximum number of items of a list that templates add to."""


class _Sandbox(SandboxedEnvironment):
    """Lets templates change lists and mappings, as dbt does (`do fields.append(x)`), but not without end."""

    calls = 0
    concat = staticmethod(lambda parts: "".join(map(str, parts)))  # a block that calls an unknown macro is no text

    def call(self, context: Any, function: Any, /, *values: Any, **named: Any) -> Any:
        """Call a function of a template."""
        self.calls += 1
        items = getattr(function, "__self__", None)
        if self.calls > _MAX_CALLS or (isinstance(items, (list, dict, set)) and len(items) > _MAX_ITEMS):
            raise OverflowError
        if isinstance(items, str) and function == items.join and values:
            values = (map(str, values[0]),)  # some may be unknown
        return super().call(context, function, *values, **named)

    def unsafe_undefined(self, obj: Any, attribute: str) -> Undefined:
        """Refuse an attribute.

        Raises:
            SecurityError: always; a placeholder would hide that something is not done.
        """
        raise SecurityError(f"{type(obj).__name__}.{attribute}")


def make_environment(note: Callable[[str], None], mark: Callable[..., str]) -> Any:
    """Return an environment; `note` is called with what is guessed.

    `mark` returns what tells a call of a name from others, or nothing; it gets the name and the arguments.
    """

    class Unknown(ChainableUndefined):
        """A name that dbt defines at run time: its text is a placeholder that the SQL parser reports."""

        def __getattr__(self, name: str) -> Any:
            if name.startswith("__") or name in ("unsafe_callable", "alters_data"):  # what the sandbox asks
                raise AttributeError(name)
            return type(self)(name=f"{self._undefined_name}.{name}")

        def __getitem__(self, key: Any) -> Any:
            return type(self)(name=self._undefined_name)

        def __call__(self, *values: Any, **named: Any) -> Any:
            name = self._undefined_name or "…"
            return type(self)(name=name if name.endswith(")") else f"{name}(…{mark(name, values, named)})")

        def __str__(self) -> str:
            return "" if _is_absent(self) else f"{{{{ {self._undefined_name} }}}}"

        def __html__(self) -> str:
            return str(self)

        def __iter__(self) -> Iterator[Any]:
            if not _is_absent(self):
                note(f"a loop over `{self._undefined_name}` is read once: its columns or tables are not known")
                yield type(self)(name=self._undefined_name)

        def __bool__(self) -> bool:
            self._guess("is taken to be false: what depends on it is not read")
            return False

        def __eq__(self, other: object) -> bool:
            self._guess("is taken to differ from what it is compared with: it is not known")
            return _is_absent(self) and type(self) is type(other)

        def __ne__(self, other: object) -> bool:
            return not self == other

        def __hash__(self) -> int:
            return hash(self._undefined_name)

        def __contains__(self, item: object) -> bool:
            self._guess("is taken to contain nothing: it is not known")
            return False

        def __len__(self) -> int:
            self._guess("is taken to have one item: it is not known")
            return 0 if _is_absent(self) else 1

        def _of_same_name(self, *_: Any) -> Any:
            return type(self)(name=self._undefined_name)

        __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _of_same_name
        __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __neg__ = __pos__ = _of_same_name

        def _compared(self, _: object) -> bool:
            self._guess("is taken to be neither less nor more than what it is compared with: it is not known")
            return False

        __lt__ = __le__ = __gt__ = __ge__ = _compared  # type: ignore[assignment]

        def __add__(self, other: Any) -> str:  # type: ignore[override]
            return f"{self}{other}"

        def __radd__(self, other: Any) -> str:  # type: ignore[override]
            return f"{other}{self}"

        def _guess(self, how: str) -> None:
            if not _is_absent(self):
                note(f"`{self._undefined_name}` {how}")

    environment: Any = _Sandbox(undefined=Unknown, extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"])
    environment.tests["mapping"] = lambda value: isinstance(value, (Mapping, RelationText))  # as dbt's relations are
    for name, function in list(environment.tests.items()):
        environment.tests[name] = _asking_first(function, partial(_test_unknown, name, note))
    for name, function in list(environment.filters.items()):
        with_default = name in ("default", "d")
        environment.filters[name] = _asking_first(
            function, partial(_note_default, note) if with_default else lambda unknown: unknown
        )
    # dbt's own filters: https://docs.getdbt.com/reference/dbt-jinja-functions/as_bool
    environment.filters.update(dict.fromkeys(("as_bool", "as_native", "as_number", "as_text"), lambda value: value))
    return environment


def _is_absent(value: Undefined) -> bool:
    """Return whether a value is known not to be there: a key of a mapping, or an item before the first of a loop."""
    of: Any = value._undefined_obj
    return value._undefined_name is None or (of is not missing and isinstance(of, _PLAIN))


def _asking_first(function: Callable[..., Any], answer: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a test or filter that lets `answer` decide about a value that is not known, unless that returns None."""
    index = int(hasattr(function, "jinja_pass_arg"))  # after the context or the environment

    @wraps(function)
    def asking(*values: Any, **named: Any) -> Any:
        value = values[index] if len(values) > index else None
        if isinstance(value, Undefined) and not _is_absent(value) and (found := answer(value)) is not None:
            return found
        return function(*values, **named)

    return asking


def _test_unknown(name: str, note: Callable[[str], None], value: Undefined) -> bool:
    note(f"`{value._undefined_name}` being {name} is taken to be false: what depends on it is not read")
    return False


def _note_default(note: Callable[[str], None], value: Undefined) -> None:
    note(f"`{value._undefined_name}` is taken by default: it is not known")
