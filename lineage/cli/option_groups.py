"""Option groups: a dataclass with a field for each option, which several commands take as one parameter.

A group's `panel` is the heading under which `--help` lists its options; a group that inherits from others has all of
their options, each under the heading of the group that declares it.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, cleandoc, signature
from typing import Annotated, Any, get_type_hints

from typer.models import OptionInfo

__all__ = ["with_option_groups"]


def with_option_groups(*, hidden: tuple[type, ...] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator for a command: a parameter of a dataclass type becomes an option for each of its fields.

    `--help` lists the command's own options first, then those of its groups.
    Paragraphs of the command's docstring are joined into one line each, for `--help` to wrap.

    Args:
        hidden: groups whose options `--help` does not list.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(command, include_extras=True)
        groups: dict[str, Any] = {}
        own: list[Parameter] = []
        of_groups: list[Parameter] = []
        for parameter in signature(command).parameters.values():
            kind = hints[parameter.name]
            if is_dataclass(kind):
                groups[parameter.name] = kind
                of_groups += _options_of(kind, hidden=kind in hidden)
            else:
                own.append(parameter.replace(annotation=kind, kind=Parameter.KEYWORD_ONLY))

        @wraps(command)
        def run(**values: Any) -> None:
            built = {
                name: kind(**{field.name: values.pop(field.name) for field in fields(kind) if field.name in values})
                for name, kind in groups.items()
            }
            command(**values, **built)

        run.__doc__ = _unwrap(command.__doc__ or "")
        run.__signature__ = Signature([*own, *of_groups])  # type: ignore[attr-defined]
        return run

    return decorate


def _options_of(group: Any, *, hidden: bool) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    found = []
    for field in fields(group):
        option = copy(next(one for one in hints[field.name].__metadata__ if isinstance(one, OptionInfo)))
        option.hidden = option.hidden or hidden
        option.rich_help_panel = _panel(group, field.name)
        annotation: Any = Annotated[hints[field.name].__origin__, option]
        default = Parameter.empty if field.default is MISSING else field.default
        found.append(Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation))
    return found


def _panel(group: Any, name: str) -> str | None:
    declaring = next(one for one in group.__mro__ if name in vars(one).get("__annotations__", {}))
    panel: str | None = vars(declaring).get("panel")
    return panel


def _unwrap(docstring: str) -> str:
    """Return a docstring whose paragraphs are one line each.

    >>> _unwrap("Do it.\\n\\n    In a\\n    moment.")
    'Do it.\\n\\nIn a moment.'
    """
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in cleandoc(docstring).split("\n\n"))
