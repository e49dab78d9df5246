"""Every locked package has a licence that is accepted."""

from __future__ import annotations

import pytest

from tests.packaging.licences import accepts, of_page, of_python


def test_every_locked_package_has_an_accepted_licence() -> None:
    found = [*of_python(), *of_page()]
    assert len(found) > 100
    assert not [f"{one.name}: {one.expression or 'it states none'}" for one in found if not one.accepted]


@pytest.mark.parametrize(
    ("expression", "accepted"),
    [
        ("MIT", True),
        ("MIT/Apache-2.0", True),
        ("GPL-3.0-only OR MIT", True),
        ("(MIT OR GPL-2.0-only) AND Unicode-3.0", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("MIT AND GPL-3.0-only", False),
        ("(GPL-2.0-only OR AGPL-3.0-only) AND MIT", False),
        ("", False),
    ],
)
def test_of_several_licences_one_can_be_chosen(expression: str, accepted: bool) -> None:
    assert accepts(expression) is accepted
