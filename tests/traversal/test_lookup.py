import pytest

from lineage.traversal import AmbiguousNameError, UnknownNameError, resolve, resolve_column, resolve_table
from tests.traversal.fake_store import FakeStore

STORE = FakeStore(
    {
        "db.shop.orders": ["id", "amount", "address", "address.city"],
        "db.shop.customers": ["id", "name"],
        "db.crm.customers": ["id", "email", "phone"],
        "db.old.invoices": ["id"],
        "db.new.invoices": ["id"],
        "db.mixed.t": ["Id", "id", "ID2"],
    },
    dropped={"db.old.invoices", "db.crm.customers#phone"},
)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("db.shop.orders.amount", "ns/db.shop.orders#amount"),
        ("shop.orders.amount", "ns/db.shop.orders#amount"),
        ("orders.amount", "ns/db.shop.orders#amount"),
        ("Orders.AMOUNT", "ns/db.shop.orders#amount"),
        ("orders.address.city", "ns/db.shop.orders#address.city"),
        ("ns/db.shop.orders#address.city", "ns/db.shop.orders#address.city"),
        ('"db"."shop".orders."amount"', "ns/db.shop.orders#amount"),
        ("customers.email", "ns/db.crm.customers#email"),
        ("shop.customers.id", "ns/db.shop.customers#id"),
        ("invoices.id", "ns/db.new.invoices#id"),
        ("customers.phone", "ns/db.crm.customers#phone"),
        ("old.invoices.id", "ns/db.old.invoices#id"),
        ("mixed.t.id", "ns/db.mixed.t#id"),
        ("mixed.t.Id", "ns/db.mixed.t#Id"),
        ("mixed.t.id2", "ns/db.mixed.t#ID2"),
    ],
)
def test_a_column_is_found_by_what_people_type(text: str, key: str) -> None:
    found = resolve_column(STORE, text)
    assert found.key == key
    assert resolve(STORE, text) == found


@pytest.mark.parametrize("text", ["db.shop.orders", "shop.orders", "ORDERS", "ns/db.shop.orders"])
def test_a_table_is_found_by_what_people_type(text: str) -> None:
    found = resolve_table(STORE, text)
    assert (found.key, found.name, found.is_table) == ("ns/db.shop.orders", "db.shop.orders", True)
    assert resolve(STORE, text) == found


def test_a_column_has_its_full_name() -> None:
    found = resolve(STORE, "orders.address.city")
    assert found.name == "db.shop.orders.address.city"
    assert (found.dataset, found.column) == ("ns/db.shop.orders", "address.city")


def test_several_columns_of_one_name_are_listed() -> None:
    with pytest.raises(AmbiguousNameError, match=r"'customers\.id' means 2 things") as raised:
        resolve_column(STORE, "customers.id")
    assert raised.value.candidates == ("ns/db.crm.customers#id", "ns/db.shop.customers#id")
    assert raised.value.hint == "type more of the name, or one of these keys"
    for key in raised.value.candidates:
        assert resolve(STORE, key).key == key


def test_case_that_fits_none_of_two_is_ambiguous() -> None:
    with pytest.raises(AmbiguousNameError):
        resolve_column(STORE, "mixed.t.iD")


def test_several_tables_of_one_name_are_listed() -> None:
    with pytest.raises(AmbiguousNameError, match=r"ns/db\.crm\.customers, ns/db\.shop\.customers"):
        resolve_table(STORE, "customers")


def test_many_candidates_are_counted() -> None:
    store = FakeStore({f"s{n:02}.t": [] for n in range(12)})
    with pytest.raises(AmbiguousNameError, match=r"means 12 things: ns/s00\.t, .*ns/s09\.t and 2 more"):
        resolve(store, "t")


def test_a_name_that_is_a_table_and_a_column_is_ambiguous() -> None:
    store = FakeStore({"a.b": [], "x.a": ["b"]})
    with pytest.raises(AmbiguousNameError, match="means 2 things"):
        resolve(store, "a.b")
    assert resolve_table(store, "a.b").key == "ns/a.b"
    assert resolve_column(store, "a.b").key == "ns/x.a#b"


def test_an_unknown_column_of_a_known_table_offers_that_tables_columns() -> None:
    with pytest.raises(UnknownNameError, match=r"db\.shop\.orders has no column 'amout'") as raised:
        resolve(STORE, "shop.orders.amout")
    assert raised.value.hint == "did you mean `db.shop.orders.amount`?"


@pytest.mark.parametrize("text", ["custmers", "costumers", "customerz", "Custommers"])
def test_an_unknown_table_offers_the_nearest(text: str) -> None:
    with pytest.raises(UnknownNameError, match=f"no table '{text}' in the graph") as raised:
        resolve_table(STORE, text)
    assert raised.value.suggestions == ("db.crm.customers", "db.shop.customers")
    assert raised.value.hint == "did you mean `db.crm.customers` or `db.shop.customers`?"


def test_an_unknown_column_of_an_unknown_table_offers_the_nearest() -> None:
    with pytest.raises(UnknownNameError) as raised:
        resolve(STORE, "ordrs.amount")
    assert raised.value.suggestions[0] == "db.shop.orders.amount"


def test_without_anything_near_nothing_is_offered() -> None:
    with pytest.raises(UnknownNameError, match="no table or column 'zzz' in the graph") as raised:
        resolve(STORE, "zzz")
    assert raised.value.suggestions == ()
    assert raised.value.hint is None


@pytest.mark.parametrize("text", ["", ".", "#", "..", "a..b", '"', "ns/db.shop.orders#"])
def test_odd_text_is_unknown(text: str) -> None:
    with pytest.raises(UnknownNameError):
        resolve(STORE, text)
