"""Which tests run in one process of pytest-xdist: those that share a database, and those that share a fixture."""

from __future__ import annotations

import pytest

from tests.neo4j_fixture import GROUP

_FREE = frozenset(("own_saved_files",))
"""Fixtures of this project that cost nothing."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Name the group of each test, unless its file names one."""
    for item in items:
        if not isinstance(item, pytest.Function):
            continue
        if _uses_neo4j(item):  # all of them, since they share one database
            item.add_marker(pytest.mark.xdist_group(GROUP))
        elif not any(item.iter_markers("xdist_group")) and (group := _shared_fixture(item)):
            item.add_marker(pytest.mark.xdist_group(group))


def _uses_neo4j(item: pytest.Function) -> bool:
    # A fixture that is parametrised by store asks for `neo4j_uri` only when it runs.
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return "neo4j_uri" in item.fixturenames or "neo4j" in parameters


def _shared_fixture(item: pytest.Function) -> str | None:
    """Return the fixture of the session, or else the module, whose tests would set it up once in each process.

    A fixture with parameters is set up for each of them anyway.
    """
    used = [
        (name, found[-1])
        for name in item.fixturenames
        if name not in _FREE and (found := item._fixtureinfo.name2fixturedefs.get(name))
    ]
    ours = [(name, one) for name, one in used if one.baseid and not one.params]  # those of plugins have no base
    for name, one in ours:
        if one.scope == "session":
            return name
    return item.nodeid.partition("::")[0] if any(one.scope == "module" for _, one in ours) else None
