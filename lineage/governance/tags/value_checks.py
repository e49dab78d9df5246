"""Checks of one value, by their names in rules: `email`, `ip`, `card`, `phone:DE`, `stdnum:iban`, `presidio:US_SSN`.

Telephone numbers are checked by `phonenumbers` (without a country: only those with a `+`), standard numbers by the
module of `python-stdnum` of that name: https://arthurdejong.org/python-stdnum/formats, and kinds of values of Presidio
by its patterns, without a language model: https://microsoft.github.io/presidio/supported_entities. A value is shown to
nobody.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from ipaddress import ip_address

__all__ = ["CHECK_NAME", "ChecksUnavailableError", "UnknownCheckError", "value_check"]

CHECK_NAME = re.compile(r"email|ip|card|phone(?::[A-Z]{2})?|stdnum:[a-z_]+(?:\.[a-z_]+)?|presidio:[A-Z_]+")
"""The form of a check's name."""
_CARD = re.compile(r"\d(?:[ -]?\d){12,18}")
_GAP = re.compile(r"[ -]")
_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]+\.[A-Za-z]{2,}")


class ChecksUnavailableError(Exception):
    """A library of checks is not installed."""

    def __init__(self, library: str, extra: str = "pii") -> None:
        """Name the library, and the extra that brings it."""
        super().__init__(f"a check of values needs {library}")
        self.hint = f"pip install '.[{extra}]' in a checkout installs it"


class UnknownCheckError(Exception):
    """No library has a check of that name."""


@cache
def value_check(name: str) -> Callable[[str], bool]:
    """Return the function that says whether a value passes the check of this name.

    Raises:
        ChecksUnavailableError: its library is not installed.
        UnknownCheckError: there is none of that name.
    """
    kind, _, of = name.partition(":")
    if kind == "email":
        return lambda value: _EMAIL.fullmatch(value) is not None
    if kind == "ip":
        return _is_address
    if kind == "card":
        has_check_digit = _number_check("luhn")
        return lambda value: _CARD.fullmatch(value) is not None and has_check_digit(_GAP.sub("", value))
    return {"phone": _phone_check, "stdnum": _number_check, "presidio": _presidio_check}[kind](of)


def _is_address(value: str) -> bool:
    try:
        ip_address(value)
    except ValueError:
        return False
    return True


def _phone_check(country: str) -> Callable[[str], bool]:
    try:
        import phonenumbers  # noqa: PLC0415  an extra
    except ImportError as error:
        raise ChecksUnavailableError("phonenumbers") from error
    if country and country not in phonenumbers.SUPPORTED_REGIONS:
        raise UnknownCheckError(f"phone:{country}: phonenumbers knows no such country")

    def is_number(value: str) -> bool:
        try:
            return phonenumbers.is_valid_number(phonenumbers.parse(value, country or None))
        except phonenumbers.NumberParseException:
            return False

    return is_number


def _number_check(name: str) -> Callable[[str], bool]:
    try:
        import_module("stdnum")
    except ImportError as error:
        raise ChecksUnavailableError("python-stdnum") from error
    try:
        check: Callable[[str], bool] = import_module(f"stdnum.{name}").is_valid
    except (ImportError, AttributeError) as error:
        raise UnknownCheckError(f"stdnum:{name}: python-stdnum has no such number") from error
    return check


def _presidio_check(entity: str) -> Callable[[str], bool]:
    try:
        from presidio_analyzer import PatternRecognizer  # type: ignore[import-not-found]  # noqa: PLC0415
        from presidio_analyzer.recognizer_registry import (  # type: ignore[import-not-found]  # noqa: PLC0415
            RecognizerRegistry,
        )
    except ImportError as error:
        raise ChecksUnavailableError("presidio-analyzer", "presidio") from error
    registry = RecognizerRegistry()
    registry.load_predefined_recognizers()
    recognizers = [
        one for one in registry.recognizers if entity in one.supported_entities and isinstance(one, PatternRecognizer)
    ]
    if not recognizers:
        raise UnknownCheckError(f"presidio:{entity}: Presidio has no pattern of such values")

    def is_entity(value: str) -> bool:
        found = (each for one in recognizers for each in one.analyze(value, [entity], None) or ())
        return any((each.start, each.end) == (0, len(value)) for each in found)

    return is_entity
