"""The SVG picture and the site: where things stand, how unresolved lineage is marked, and hostile names."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from lineage.export.graph_part import GraphPart, partial_tables, read_part
from lineage.export.page.site import ForeignFolderError, write_site
from lineage.export.picture.diagrams import mermaid
from lineage.export.picture.layers import place_boxes
from lineage.export.picture.svg import svg
from lineage.model.influence.transformations import EdgeKind
from lineage.store import GraphStore
from lineage.traversal import resolve
from tests.service.graph import fill
from tests.store.batch_builders import batch, job, key, table
from tests.store.conftest import both_stores, open_again, pytest_generate_tests, store

__all__ = ["both_stores", "open_again", "pytest_generate_tests", "store"]

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("seed", range(20))
def test_boxes_do_not_overlap_and_links_lead_to_the_right(seed: int) -> None:
    chance = random.Random(seed)
    names = [f"t{number}" for number in range(chance.randint(1, 40))]
    heights = {name: chance.randint(20, 300) for name in names}
    links = [(chance.choice(names), chance.choice(names)) for _ in range(chance.randint(0, 60))]
    links = [(a, b) for a, b in links if int(a[1:]) < int(b[1:])]  # without cycles
    places = place_boxes(heights, links, 20)
    assert all(places[a][0] < places[b][0] for a, b in links)
    for name, (layer, top) in places.items():
        for other, (beside, above) in places.items():
            if layer == beside and name != other:
                assert top + heights[name] + 19.9 < above or above + heights[other] + 19.9 < top
    assert min(top for _, top in places.values()) == 0
    chance.shuffle(names)
    chance.shuffle(links)
    assert place_boxes({name: heights[name] for name in names}, [*links, *links], 20) == places


def test_a_cycle_has_a_picture() -> None:
    places = place_boxes({"a": 10, "b": 10, "c": 10}, [("a", "b"), ("b", "c"), ("c", "a"), ("b", "b")], 5)
    assert {name: layer for name, (layer, _) in places.items()} == {"a": 0, "b": 1, "c": 2}


def paths(text: str) -> dict[str, str]:
    """Return the class of each line of a picture, by what it says."""
    found = {}
    for path in ElementTree.fromstring(text).iter(f"{SVG}path"):
        title = path.find(f"{SVG}title")
        if title is not None:
            found[title.text or ""] = path.get("class") or ""
    return found


def test_a_picture_has_each_edge_and_says_what_is_not_resolved(store: GraphStore) -> None:
    fill(store)
    part = read_part(store)
    text = svg(part, partial=partial_tables(store, part))
    assert paths(text) == {
        "contacts → copied: its columns are not known": "feed",
        "staged.mail → contacts.address: value": "flow",
        "staged.mail → contacts.hashed: value, masked": "flow",
        "staged.mail → contacts.n: value, masked": "flow",
        "users.country → staged: influence: filters, joins …": "reference",
        "users.email → staged.mail: value": "flow",
        "users.id → staged.id: value": "flow",
    }
    assert re.findall(r"<title>(\w+) \([^)]*, not fully resolved\)", text) == ["copied"]
    assert "  t0 -.->|?| t1" in mermaid(part)
    values = read_part(store, [resolve(store, "staged.mail")], kinds={EdgeKind.CONTRIBUTES})
    assert {edge.kind for edge in values.edges} == {EdgeKind.CONTRIBUTES}
    assert len(paths(svg(values, tables_only=True))) == 3


def test_a_part_has_what_only_table_level_lineage_reaches(store: GraphStore) -> None:
    fill(store)
    part = read_part(store, [resolve(store, "contacts.address")])
    assert (key("contacts"), key("copied")) in part.feeds
    assert key("copied") in {one.key for one in part.datasets}


def test_a_wide_table_has_a_last_row_for_the_rest(store: GraphStore) -> None:
    names = [f"c{number:02}" for number in range(50)]
    store.apply(batch(table("s", *names), job("a.sql", *(f"s.{name} -> t.{name}" for name in names), at=1)))
    text = svg(read_part(store))
    assert text.count("+ 21 more columns") == 2
    assert len(paths(text)) == 50


HOSTILE = ['a"<b>&', "a'b</style><script>x</script>", "../../etc", "ä ö", "\x1b[31m", "a.b.c"]


def test_names_do_no_harm_to_a_picture_or_a_site(store: GraphStore, tmp_path: Path) -> None:
    jobs = [job(f"{number}.sql", f"{name}.x -> out.c{number}", at=1) for number, name in enumerate(HOSTILE)]
    store.apply(batch(*jobs))
    part = read_part(store)
    ElementTree.fromstring(svg(part))  # well-formed
    write_site(store, part, tmp_path / "site")
    text = "".join(path.read_text() for path in (tmp_path / "site").rglob("*.html") if path.name != "explorer.html")
    assert "<script>x" not in text
    assert "\x1b" not in text
    assert {path.parent for path in tmp_path.rglob("*.html")} == {tmp_path / "site", tmp_path / "site" / "tables"}


def test_a_site_links_its_pages_and_replaces_a_former_one(store: GraphStore, tmp_path: Path) -> None:
    fill(store)
    store.apply(batch(job("b.sql", "staged.mail -> old.address", at=6), run="more"))
    site = tmp_path / "site"
    part = read_part(store)
    assert write_site(store, part, site) == 7
    for page in [site / "index.html", *(site / "tables").iterdir()]:
        for address in re.findall(r'href="([^"]*)"', page.read_text(encoding="utf-8")):
            if not address.startswith("data:"):
                target = unquote(unescape(address)).partition("#")[0]
                assert (page.parent / target).resolve().is_file(), (page, address)
    contacts = (site / "tables" / "contacts.html").read_text(encoding="utf-8")
    assert '<a href="staged.html">staged.mail</a> <span class="tag">masked</span>' in contacts
    assert "by columns that are not known: <a" in contacts
    assert "no table `x`" in contacts
    copied = (site / "tables" / "copied.html").read_text(encoding="utf-8")
    assert "not fully resolved" in copied
    assert "Nothing in the graph reads or writes this table" not in copied
    assert "ana" not in re.findall(r"\w+", "".join(one.read_text() for one in (site / "tables").iterdir()))
    without = [one for one in part.datasets if one.key != key("old")]
    edges = [edge for edge in part.edges if edge.target.partition("#")[0] != key("old")]
    write_site(store, GraphPart(without, part.columns, edges, (), part.feeds), site)
    assert not (site / "tables" / "old.html").exists()


def test_tables_of_one_name_have_pages_of_their_own(store: GraphStore, tmp_path: Path) -> None:
    fill(store)
    part = read_part(store)
    [one] = [dataset for dataset in part.datasets if dataset.key == key("users")]
    other = replace(one, key="mysql/users", namespace="mysql")
    write_site(store, replace(part, datasets=[*part.datasets, other]), tmp_path / "site")
    assert len(list((tmp_path / "site" / "tables").glob("users-*.html"))) == 2


def test_a_folder_of_something_else_is_refused(store: GraphStore, tmp_path: Path) -> None:
    fill(store)
    (tmp_path / "index.html").write_text("<h1>mine</h1>")
    with pytest.raises(ForeignFolderError, match="name another folder"):
        write_site(store, read_part(store), tmp_path)
    assert (tmp_path / "index.html").read_text() == "<h1>mine</h1>"
