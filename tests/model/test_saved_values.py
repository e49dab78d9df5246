"""Files that the product reads back: a file can name the product's own classes, and nothing else."""

from __future__ import annotations

import io
import pickle

import pytest

from lineage import saved_values
from lineage.model.diagnostics import Severity, Span
from lineage.saved_values import UnexpectedClassError, from_saved, to_saved

MODULES = ("lineage.model.",)


def global_of(module: str, name: str) -> bytes:
    """Return a pickled reference, as a file of another program can have it."""
    parts = b"".join(b"\x8c" + bytes([len(text)]) + text.encode() for text in (module, name))
    return b"\x80\x04" + parts + b"\x93."


def test_own_classes_are_read() -> None:
    values = [{Span(0, 1, 1, 1)}, frozenset({"a"})]
    assert from_saved(to_saved(values), MODULES) == values
    assert from_saved(global_of("lineage.model.diagnostics", "Span"), MODULES) is Span


def test_members_of_enums_are_read_whichever_python_saved_them() -> None:
    file = io.BytesIO()
    saved_values._ByClass(file).dump([Severity.ERROR, {"a": Severity.INFO}])
    assert from_saved(file.getvalue(), MODULES) == [Severity.ERROR, {"a": Severity.INFO}]
    assert b"getattr" not in file.getvalue()
    assert from_saved(to_saved(Severity.ERROR), MODULES) is Severity.ERROR


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("builtins", "getattr"),
        ("lineage.saved_values", "from_saved"),
        ("lineage.model.text.json_values", "find_unstorable"),  # a function
        ("lineage.model.spelling", "re.compile"),  # what a module imports
        ("lineage.model.batch", "datetime"),
    ],
)
def test_nothing_else_is_read(module: str, name: str) -> None:
    with pytest.raises((UnexpectedClassError, AttributeError)):
        from_saved(global_of(module, name), MODULES)
    with pytest.raises(UnexpectedClassError):
        from_saved(pickle.dumps(print), MODULES)
