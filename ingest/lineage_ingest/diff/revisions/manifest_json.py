"""What a diff reads of a manifest beyond lineage: settings, macros, owners, tests, exposures, as dbt wrote them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from pydantic_core import from_json

from lineage.frozen import frozen
from lineage.sql.canonical.forms.digests import digest
from lineage_ingest.dbt.artifacts.target_folder import Artifacts

__all__ = ["VARIABLE", "DbtTest", "ManifestJson"]

VARIABLE = re.compile(r"\b(?:env_)?var\s*\(")
"""A value that only compiled SQL has."""
_NAMES_RELATION = re.compile(r"(?:\w+__)?generate_(?:schema|alias|database)_name(?:_for_env)?")
"""Macros that decide where a relation is: https://docs.getdbt.com/docs/build/custom-schemas."""
_KNOWN = frozenset(("model", "snapshot", "seed", "source", "exposure", "metric", "semantic_model", "saved_query"))


@frozen
class DbtTest:
    """A test: its name as dbt selects it, the nodes that it reads, and the column that it is attached to, if any."""

    key: str
    name: str
    reads: tuple[str, ...]
    attached: str | None
    column: str | None
    reads_more: bool = False
    """Whether its condition may read further columns: it has a WHERE, or is no test of dbt's own."""


class ManifestJson:
    """The JSON of a manifest; parts of another form than expected count as absent."""

    def __init__(self, data: Any) -> None:
        self.data: Mapping[str, Any] = data if isinstance(data, Mapping) else {}

    @classmethod
    def of(cls, artifacts: Artifacts) -> ManifestJson:
        """Return the manifest of a target folder."""
        raw = (artifacts.target / "manifest.json").read_bytes()
        try:
            return cls(from_json(raw))
        except ValueError:
            return cls(from_json(raw, allow_partial=True))

    def section(self, name: str) -> Mapping[str, Mapping[str, Any]]:
        """Return the objects of a section, by unique id."""
        found = self.data.get(name)
        items = found.items() if isinstance(found, Mapping) else ()
        return {str(key): value for key, value in items if isinstance(value, Mapping)}

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Which dbt wrote the manifest, when, and for which adapter."""
        found = self.data.get("metadata")
        return found if isinstance(found, Mapping) else {}

    @cached_property
    def nodes(self) -> Mapping[str, Mapping[str, Any]]:
        """Models, seeds, snapshots, tests, operations and so on."""
        return self.section("nodes")

    @cached_property
    def macros(self) -> Mapping[str, Mapping[str, Any]]:
        """All macros, those of packages included."""
        return self.section("macros")

    def node(self, key: str) -> Mapping[str, Any]:
        """Return a node's object; an empty one if there is none."""
        return self.nodes.get(key, {})

    def needs(self, key: str) -> list[str]:
        """Return the unique ids of the nodes that a node depends on."""
        return _needs(self.node(key), "nodes")

    def consumer(self, key: str) -> Mapping[str, Any]:
        """Return the object of an exposure, metric, semantic model or saved query; an empty one if there is none."""
        sections = ("exposures", "metrics", "semantic_models", "saved_queries")
        return next((found for name in sections if (found := self.section(name).get(key)) is not None), {})

    @staticmethod
    def needs_of(node: Mapping[str, Any]) -> list[str]:
        """Return the unique ids of the nodes that a node's object depends on."""
        return _needs(node, "nodes")

    def config(self, key: str) -> Mapping[str, Any]:
        """Return a node's resolved settings."""
        found = self.node(key).get("config")
        return found if isinstance(found, Mapping) else {}

    def contract_types(self, key: str) -> Iterator[tuple[str, bool, str]]:
        """Yield the columns in a contract that dbt enforces: the name, whether it is quoted, and the type."""
        for name, one in self._contracted(key).items():
            if one.get("data_type"):
                yield str(one.get("name", name)), bool(one.get("quote")), str(one["data_type"])

    def contract_constraints(self, key: str) -> str:
        """Return a digest of the constraints of a contract that dbt enforces; empty if it has none."""
        columns = self._contracted(key)
        own = [(name, str(one["constraints"])) for name, one in columns.items() if one.get("constraints")]
        table = self.node(key).get("constraints") if columns else None
        return digest(own, str(table)) if own or table else ""

    def _contracted(self, key: str) -> Mapping[str, Mapping[str, Any]]:
        """Return the columns in a contract that dbt enforces."""
        contract = self.config(key).get("contract")
        columns = self.node(key).get("columns")
        if not isinstance(contract, Mapping) or not contract.get("enforced") or not isinstance(columns, Mapping):
            return {}
        return {str(name): one for name, one in columns.items() if isinstance(one, Mapping)}

    # Macros

    def macros_of(self, key: str) -> list[tuple[str, str]]:
        """Return the names and texts of the macros that a node needs, directly or through others."""
        return self._with_called(_needs(self.node(key), "macros"))

    def _with_called(self, macros: Sequence[str]) -> list[tuple[str, str]]:
        stack = list(macros)
        seen: dict[str, str] = {}
        while stack:
            name = stack.pop()
            if name in seen:
                continue
            macro = self.macros.get(name, {})
            seen[name] = str(macro.get("macro_sql", ""))
            stack += _needs(macro, "macros")
        return sorted(seen.items())

    def own_macros_of(self, key: str) -> list[tuple[str, str]]:
        """Return those of the macros that a node needs which are not dbt's own."""
        return [(name, text) for name, text in self.macros_of(key) if not self.is_of_dbt(name)]

    def is_of_dbt(self, macro: str) -> bool:
        """Return whether a macro is dbt's own, or its adapter's."""
        return self.macros.get(macro, {}).get("package_name") in self.packages_of_dbt

    def build_macros(self, materialized: str) -> list[tuple[str, str]]:
        """Return the project's own macros that take the place of dbt's, and those that these call.

        That is a materialization, or a macro that one calls.
        """
        names = {
            str(one.get("name")) for one in self.macros.values() if one.get("package_name") in self.packages_of_dbt
        }
        found = [
            key
            for key, one in self.macros.items()
            if not self.is_of_dbt(key) and self._is_build_macro(str(one.get("name")), materialized, names)
        ]
        return [(key, text) for key, text in self._with_called(found) if not self.is_of_dbt(key)]

    def _is_build_macro(self, name: str, materialized: str, names: Collection[str]) -> bool:
        """Return whether a macro takes the place of one of dbt's, whose names are given, when a model is built."""
        if name.startswith(f"materialization_{materialized}_"):
            return True
        dispatched = name.removeprefix("default__").removeprefix(f"{self.adapter}__")
        if dispatched.startswith("test_") or _NAMES_RELATION.fullmatch(name):
            return False  # a generic test builds nothing; the names themselves are compared
        return name in names or dispatched in names  # a macro that a package dispatches itself is in the SQL

    def naming_macros(self) -> list[tuple[str, str]]:
        """Return the project's own macros that decide the names of relations, and those that these call."""
        found = [
            key
            for key, one in self.macros.items()
            if _NAMES_RELATION.fullmatch(str(one.get("name"))) and not self.is_of_dbt(key)
        ]
        return [(key, text) for key, text in self._with_called(found) if not self.is_of_dbt(key)]

    @property
    def adapter(self) -> str:
        """The name of the adapter."""
        return str(self.metadata.get("adapter_type", ""))

    @property
    def dbt_version(self) -> str | None:
        """The version of dbt that wrote the manifest."""
        found = self.metadata.get("dbt_version")
        return found if isinstance(found, str) else None

    @property
    def packages_of_dbt(self) -> frozenset[str]:
        """The packages whose macros are dbt's own, or its adapter's."""
        return frozenset(("dbt", f"dbt_{self.adapter}", "dbt_postgres", "dbt_spark"))

    # Other parts

    def uncompiled(self) -> list[str]:
        """Return the names of the SQL models that dbt has only parsed."""
        return sorted(
            str(node.get("name"))
            for key, node in self.nodes.items()
            if node.get("resource_type") in ("model", "snapshot")
            and node.get("language") != "python"
            and not node.get("compiled_code")
            and bool(node.get("raw_code") or node.get("original_file_path"))  # else it is of another project
            and self.config(key).get("materialized") != "ephemeral"
        )

    def unread_seeds(self) -> list[str]:
        """Return the names of the seeds that are too large for dbt: their checksum is that of the path."""
        return sorted(
            str(node.get("name"))
            for node in self.nodes.values()
            if node.get("resource_type") == "seed"
            and isinstance(checksum := node.get("checksum"), Mapping)
            and checksum.get("name") == "path"
        )

    def project_hooks(self, beside: Collection[str] = ()) -> str:
        """Return the digest of on-run-start and on-run-end of the project, apart from some; empty if there are none."""
        found = [
            (key, str(node.get("raw_code", "")), self.own_macros_of(key))
            for key, node in sorted(self.nodes.items())
            if node.get("resource_type") == "operation" and key not in beside
        ]
        return digest(found) if found else ""

    def other_needs(self, key: str) -> Iterator[tuple[str, str]]:
        """Yield what a node needs besides tables and macros, such as functions of the project, and what these need."""
        functions = self.section("functions")
        waiting, seen = list(_needs(self.node(key), "nodes")), set[str]()
        while waiting:
            other = waiting.pop(0)
            kind = other.partition(".")[0]
            if kind in _KNOWN or other in seen:
                continue
            seen.add(other)
            node = self.nodes.get(other) or functions.get(other, {})
            yield f"{kind} {other.rpartition('.')[2]}", digest(str(node.get("raw_code", "")), str(node.get("config")))
            waiting += _needs(node, "nodes")

    def event_times(self, key: str) -> Iterator[tuple[str, str]]:
        """Yield the settings that say by which column a microbatch model filters what it reads."""
        sources = self.section("sources")
        for other in _needs(self.node(key), "nodes"):
            config = (self.nodes.get(other) or sources.get(other, {})).get("config")
            if isinstance(config, Mapping) and config.get("event_time"):
                yield f"event_time of {other.rpartition('.')[2]}", str(config["event_time"])

    def test_definition(self, key: str) -> str:
        """Return a digest of a test: its SQL or rows, arguments, settings, macros; empty if there is none."""
        node = self._test(key)
        if not node:
            return ""
        own = [(name, json.dumps(node.get(name), sort_keys=True, default=str)) for name in _DEFINES_TEST]
        values = self._compiled_test(node) if self._reads_variables(key) else ""
        return digest(own, *_test_settings(node), self.own_macros_of(key), values)

    def is_test_of_unknown_values(self, key: str) -> bool:
        """Return whether a test reads variables, and dbt has not compiled it: their values are not known."""
        node = self._test(key)
        return bool(node) and not node.get("compiled_code") and self._reads_variables(key)

    def _test(self, key: str) -> Mapping[str, Any]:
        return self.nodes.get(key) or self.section("unit_tests").get(key, {})

    def _reads_variables(self, key: str) -> bool:
        given, settings = _test_settings(self._test(key))
        macros = (text for _, text in self.own_macros_of(key))
        texts = [str(self._test(key).get("raw_code")), given, *settings, *macros]
        return self._test(key).get("resource_type") == "test" and any(map(VARIABLE.search, texts))

    def _compiled_test(self, node: Mapping[str, Any]) -> str:
        """Return a test's compiled SQL, its relations by their unique ids: they have other names elsewhere."""
        text = str(node.get("compiled_code") or "")
        for key in _needs(node, "nodes"):
            relation = (self.nodes.get(key) or self.section("sources").get(key, {})).get("relation_name")
            text = text.replace(str(relation), key) if relation else text
        return text

    def tests(self) -> Iterator[DbtTest]:
        """Yield the data tests and unit tests."""
        for key, node in self.nodes.items():
            if node.get("resource_type") == "test":
                column = node.get("column_name")
                attached = node.get("attached_node")
                yield DbtTest(
                    key,
                    str(node.get("name")),
                    tuple(_needs(node, "nodes")),
                    attached if isinstance(attached, str) else None,
                    column if isinstance(column, str) else None,
                    _reads_more(node),
                )
        for key, node in self.section("unit_tests").items():
            model = next((one for one in _needs(node, "nodes") if one.startswith("model.")), None)
            yield DbtTest(key, str(node.get("name")), tuple(_needs(node, "nodes")), model, None)


_DEFINES_TEST = ("raw_code", "column_name", "attached_node", "given", "expect", "overrides", "model", "depends_on")
_CONFIGURES_TEST = ("where", "limit", "fail_calc", "warn_if", "error_if", "severity", "enabled")
_OF_ONE_COLUMN = frozenset(("unique", "not_null", "accepted_values", "relationships"))


def _test_settings(node: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return the arguments of a test, as JSON, and its settings."""
    config, metadata = node.get("config"), node.get("test_metadata")
    arguments = metadata.get("kwargs") if isinstance(metadata, Mapping) else None
    settings = [str(config.get(name)) for name in _CONFIGURES_TEST] if isinstance(config, Mapping) else []
    return json.dumps(arguments, sort_keys=True, default=str), settings


def _reads_more(node: Mapping[str, Any]) -> bool:
    metadata, config = node.get("test_metadata"), node.get("config")
    name = metadata.get("name") if isinstance(metadata, Mapping) and not metadata.get("namespace") else None
    where = config.get("where") if isinstance(config, Mapping) else None
    return name not in _OF_ONE_COLUMN or bool(where)


def _needs(node: Mapping[str, Any], what: str) -> list[str]:
    depends = node.get("depends_on")
    found = depends.get(what) if isinstance(depends, Mapping) else None
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []
