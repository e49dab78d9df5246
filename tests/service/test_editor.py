"""The GraphQL editor and the page about the routes: whole without a network, under a strict policy."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from graphql import parse, validate

from lineage.store import GraphStore, open_store
from lineage_graphql.http.pages.editor_route import example_queries
from lineage_graphql.schema.root import schema
from lineage_graphql.settings import Settings
from tests.service.graph import fill
from tests.service.running import Service, running

FOLDER = Path(__file__).parents[2] / "graphql" / "lineage_graphql" / "editor"


class Page(HTMLParser):
    """What a page refers to, and what stands in it that runs or styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.references: list[str] = []
        self.inline: list[tuple[str, str]] = []
        self._within = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._within = tag if tag in ("script", "style") else ""
        for name, value in attrs:
            if name in ("src", "href") and value:
                self.references.append(value)
            if name.startswith("on") or name == "style":
                self.inline.append((name, value or ""))

    def handle_data(self, data: str) -> None:
        if self._within and data.strip():
            self.inline.append((self._within, data))
        self._within = ""


@pytest.fixture(scope="module")
def small_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    with open_store(tmp_path_factory.mktemp("editor") / "store.db") as store:
        fill(store)
        yield store


@pytest.fixture(scope="module")
def served(small_store: GraphStore) -> Iterator[Service]:
    with running(small_store) as service:
        yield service


def policy_of(service: Service, path: str) -> tuple[str, dict[str, list[str]]]:
    answer = service.http.get(path, headers={"accept": "text/html"})
    assert answer.status_code == 200
    parts = (one.split() for one in answer.headers["content-security-policy"].split(";"))
    return answer.text, {name: values for name, *values in parts}


def test_the_editor_refers_to_nothing_elsewhere(served: Service) -> None:
    text, policy = policy_of(served, "/graphql")
    page = Page(text)
    assert page.inline == []
    references = [one for one in page.references if one != "data:,"]
    assert len(references) == 7
    for reference in references:
        assert reference.startswith("graphql/editor/")
        answer = served.http.get(f"/{reference}")
        assert (answer.status_code, answer.headers["x-content-type-options"]) == (200, "nosniff")
        kind = {"js": "text/javascript", "css": "text/css"}[reference.rpartition(".")[2]]
        assert answer.headers["content-type"].startswith(kind)
        assert "'none'" in answer.headers["content-security-policy"]
        if reference.endswith("css"):
            assert set(re.findall(r"(?:url\(|@import)\s*[\"']?(\w+:|/|\w)", answer.text)) <= {"data:"}
    assert policy["default-src"] == ["'none'"]
    assert policy["script-src"] == ["'self'"]
    assert policy["connect-src"] == ["'self'"]
    for values in policy.values():
        assert all(value in ("'self'", "'none'", "data:") or value.startswith("'nonce-") for value in values)
    nonces = {policy_of(served, "/graphql")[1]["style-src"][-1] for _ in range(3)} | {policy["style-src"][-1]}
    assert len(nonces) == 4


def test_files_of_the_editor_are_as_they_were_published() -> None:
    packages = json.loads((FOLDER / "vendor" / "versions.json").read_text(encoding="utf-8"))
    named = {name: package["sha256"] for files in packages.values() for name, package in files.items()}
    licences = (FOLDER / "vendor" / "LICENSES.md").read_text(encoding="utf-8")
    for name, digest in named.items():
        assert hashlib.sha256((FOLDER / "vendor" / name).read_bytes()).hexdigest() == digest
        assert name in licences
    assert {path.name for path in (FOLDER / "vendor").iterdir()} == {*named, "versions.json", "LICENSES.md"}


def test_the_examples_are_queries_that_are_answered(served: Service) -> None:
    tabs = served.http.get("/graphql/editor/examples.json").json()
    assert [tab["query"] for tab in tabs] == list(example_queries().values())
    for name, text in example_queries().items():
        assert validate(schema._schema, parse(text)) == [], name
        query = text.replace("schema.table.column", "users.email").replace("schema.table", "users")
        assert served.data(query), name


def test_no_other_file_is_served(served: Service) -> None:
    for name in ("index.html", "versions.json", "..%2f..%2fapp.py", "%2e%2e/app.py", "none.js"):
        assert served.http.get(f"/graphql/editor/{name}").status_code in (404, 405), name


def test_the_page_about_the_routes_needs_no_network(served: Service) -> None:
    text, policy = policy_of(served, "/docs")
    page = Page(text)
    assert set(page.references) == {"openapi.json", "data:,"}
    [(kind, style)] = page.inline
    assert kind == "style"
    assert policy["script-src"] == ["'none'"]
    [allowed] = policy["style-src"]
    assert allowed == f"'sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}'"
    assert "/api/v1/lineage/batch" in text


def test_where_only_trusted_documents_are_answered_there_is_no_editor(small_store: GraphStore, tmp_path: Path) -> None:
    file = tmp_path / "documents.json"
    file.write_text(json.dumps({"version": "{ service { version } }"}))
    with running(small_store, Settings(trusted_documents=file)) as service:
        assert service.http.get("/").headers["location"] == "/graphql"  # no explorer: it sends documents of its own
        for path in ("/graphql", "/graphql/editor/editor.js", "/graphql/editor/examples.json"):
            assert service.http.get(path, headers={"accept": "text/html"}).status_code == 404
