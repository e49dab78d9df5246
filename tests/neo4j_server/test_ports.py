import socket
from collections.abc import Iterator

import pytest

from lineage.neo4j_server.errors import ServerSetupError
from lineage.neo4j_server.ports import choose_port, free_port, is_free


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_port_that_is_listened_on_is_not_free(taken: int) -> None:
    assert not is_free(taken)
    assert is_free(free_port())


def test_the_wanted_port_is_taken_first() -> None:
    wanted, remembered, usual = free_port(), free_port(), free_port()
    assert choose_port("Bolt", wanted, remembered, usual) == wanted


def test_the_port_of_the_last_start_is_kept() -> None:
    remembered, usual = free_port(), free_port()
    assert choose_port("Bolt", None, remembered, usual) == remembered


def test_a_remembered_port_that_was_lost_is_replaced(taken: int) -> None:
    usual = free_port()
    assert choose_port("Bolt", None, taken, usual) == usual


def test_with_all_of_them_taken_any_free_one_is_chosen(taken: int) -> None:
    chosen = choose_port("Bolt", None, taken, taken)
    assert chosen != taken
    assert is_free(chosen)


def test_a_wanted_port_that_is_taken_is_an_error(taken: int) -> None:
    with pytest.raises(ServerSetupError, match=f"port {taken} for HTTP is taken by another program"):
        choose_port("HTTP", taken, None, 7474)
