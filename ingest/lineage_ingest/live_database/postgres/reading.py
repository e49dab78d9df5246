"""Read PostgreSQL's catalog: one query per kind of object, not per table.

https://www.postgresql.org/docs/current/catalogs.html. With an empty search path, PostgreSQL writes every name in a
definition with its schema. Objects of extensions and system schemas are left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Any

from lineage.catalog.database.errors import DatabaseError
from lineage.catalog.database.postgres_session import PostgresRejectionError, PostgresSession
from lineage.model.names import format_name
from lineage.model.text.name_lists import name_list
from lineage_ingest.live_database.objects import (
    ForeignServer,
    Inheritance,
    LiveColumn,
    LiveDatabase,
    LiveFunction,
    LiveRelation,
    RelationKind,
)

__all__ = ["read_database"]

Progress = Callable[[str, int, int | None], None]

# Schemas whose names begin with `pg_` are the system's: https://www.postgresql.org/docs/current/ddl-schemas.html
_SCHEMAS = """
SELECT nspname FROM pg_catalog.pg_namespace
WHERE nspname <> 'information_schema' AND nspname !~ '^pg_' ORDER BY nspname
"""
_RELATIONS = """
SELECT c.oid, n.nspname, c.relname, c.relkind::text, pg_catalog.pg_get_userbyid(c.relowner),
  pg_catalog.obj_description(c.oid, 'pg_class'),
  EXISTS (SELECT FROM pg_catalog.pg_depend AS d WHERE d.classid = 'pg_catalog.pg_class'::regclass
          AND d.objid = c.oid AND d.deptype = 'e')
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_(toast|temp)'
ORDER BY n.nspname, c.relname
"""
_COLUMNS = """
SELECT a.attrelid, a.attnum, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod),
  pg_catalog.col_description(a.attrelid, a.attnum), a.attgenerated::text,
  CASE WHEN a.attgenerated <> '' THEN pg_catalog.pg_get_expr(d.adbin, d.adrelid) END,
  (SELECT option_value FROM pg_catalog.pg_options_to_table(a.attfdwoptions) WHERE option_name = 'column_name')
FROM pg_catalog.pg_attribute AS a
  JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
  JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
  LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attnum > 0 AND NOT a.attisdropped
  AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_(toast|temp)'
ORDER BY a.attrelid, a.attnum
"""
_DEFINITIONS = """
SELECT c.oid, pg_catalog.pg_get_viewdef(c.oid) FROM pg_catalog.pg_class AS c
  JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('v', 'm') AND n.nspname = ANY(%s)
"""
_DEFINITION = "SELECT pg_catalog.pg_get_viewdef(%s::oid)"
_INHERITANCE = """
SELECT i.inhrelid, i.inhparent, c.relispartition FROM pg_catalog.pg_inherits AS i
  JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
WHERE c.relkind IN ('r', 'p', 'f') ORDER BY i.inhparent, i.inhrelid
"""
_FOREIGN = """
SELECT t.ftrelid, s.srvname, w.fdwname,
  (SELECT coalesce(json_object_agg(option_name, option_value), '{}')::text
   FROM pg_catalog.pg_options_to_table(coalesce(s.srvoptions, '{}') || coalesce(t.ftoptions, '{}')))
FROM pg_catalog.pg_foreign_table AS t JOIN pg_catalog.pg_foreign_server AS s ON s.oid = t.ftserver
  JOIN pg_catalog.pg_foreign_data_wrapper AS w ON w.oid = s.srvfdw
"""
_TRIGGERS = """
SELECT tgrelid, tgname || CASE WHEN tgqual IS NULL THEN '' ELSE ' (WHEN …)' END
FROM pg_catalog.pg_trigger WHERE NOT tgisinternal ORDER BY tgrelid, tgname
"""
# Policies are in force only if row-level security is enabled for the table.
_POLICIES = """
SELECT p.polrelid, p.polname FROM pg_catalog.pg_policy AS p JOIN pg_catalog.pg_class AS c ON c.oid = p.polrelid
WHERE c.relrowsecurity ORDER BY p.polrelid, p.polname
"""
_RULES = "SELECT ev_class, rulename FROM pg_catalog.pg_rewrite WHERE rulename <> '_RETURN' ORDER BY ev_class, rulename"
# Who may read: the privilege, and the right to use the schema. Members of these roles inherit it; superusers may
# always read. https://www.postgresql.org/docs/current/ddl-priv.html
_READERS = """
SELECT c.oid, 0, CASE WHEN x.grantee = 0 THEN 'public' ELSE r.rolname::text END
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace,
  LATERAL pg_catalog.aclexplode(c.relacl) AS x LEFT JOIN pg_catalog.pg_roles AS r ON r.oid = x.grantee
WHERE x.privilege_type = 'SELECT' AND x.grantee <> c.relowner AND n.nspname = ANY(%s)
  AND (x.grantee = 0 OR r.rolname IS NOT NULL)
  AND pg_catalog.has_schema_privilege(CASE WHEN x.grantee = 0 THEN 'public' ELSE r.rolname END, n.oid, 'USAGE')
UNION
SELECT a.attrelid, a.attnum, CASE WHEN x.grantee = 0 THEN 'public' ELSE r.rolname::text END
FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
  JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace,
  LATERAL pg_catalog.aclexplode(a.attacl) AS x LEFT JOIN pg_catalog.pg_roles AS r ON r.oid = x.grantee
WHERE x.privilege_type = 'SELECT' AND x.grantee <> c.relowner AND n.nspname = ANY(%s)
  AND (x.grantee = 0 OR r.rolname IS NOT NULL)
  AND pg_catalog.has_schema_privilege(CASE WHEN x.grantee = 0 THEN 'public' ELSE r.rolname END, n.oid, 'USAGE')
ORDER BY 1, 2, 3
"""
_MEMBERS = """
SELECT r.rolname::text, m.rolname::text FROM pg_catalog.pg_auth_members AS x
JOIN pg_catalog.pg_roles AS r ON r.oid = x.roleid JOIN pg_catalog.pg_roles AS m ON m.oid = x.member
WHERE r.rolname NOT LIKE 'pg\\_%%' ORDER BY 1, 2
"""
_FUNCTIONS = """
SELECT n.nspname, p.proname, pg_catalog.pg_get_function_identity_arguments(p.oid), l.lanname,
  pg_catalog.pg_get_functiondef(p.oid), p.proconfig, p.oid
FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
  JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
WHERE p.prokind IN ('f', 'p') AND l.lanname IN ('sql', 'plpgsql') AND n.nspname = ANY(%s)
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS d WHERE d.classid = 'pg_catalog.pg_proc'::regclass
                  AND d.objid = p.oid AND d.deptype = 'e')
ORDER BY n.nspname, p.proname, 3
"""
_CALLS = """
SELECT DISTINCT r.ev_class, coalesce(a.aggtransfn::pg_catalog.oid, p.oid)
FROM pg_catalog.pg_rewrite AS r
  JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = r.oid
  LEFT JOIN pg_catalog.pg_operator AS o ON d.refclassid = 'pg_catalog.pg_operator'::regclass AND o.oid = d.refobjid
  JOIN pg_catalog.pg_proc AS p
    ON p.oid = CASE WHEN d.refclassid = 'pg_catalog.pg_proc'::regclass THEN d.refobjid ELSE o.oprcode END
  LEFT JOIN pg_catalog.pg_aggregate AS a ON a.aggfnoid = p.oid
WHERE r.rulename = '_RETURN' ORDER BY 1, 2
"""
_OTHER_LANGUAGES = """
SELECT l.lanname, count(*) FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
  JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
WHERE p.prokind IN ('f', 'p') AND l.lanname NOT IN ('sql', 'plpgsql', 'internal', 'c') AND n.nspname = ANY(%s)
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS d WHERE d.classid = 'pg_catalog.pg_proc'::regclass
                  AND d.objid = p.oid AND d.deptype = 'e')
GROUP BY l.lanname ORDER BY l.lanname
"""
# Of all schemas, and of extensions; not names that plain functions have as well: a call is looked up by its name.
_AGGREGATES = """
SELECT p.proname FROM pg_catalog.pg_proc AS p
WHERE p.pronamespace <> 'pg_catalog'::pg_catalog.regnamespace GROUP BY p.proname
HAVING pg_catalog.bool_and(p.prokind = 'a') ORDER BY p.proname
"""
_PATH = "SELECT pg_catalog.current_schemas(false)::text[], pg_catalog.now()"


def read_database(
    session: PostgresSession, schemas: Collection[str] = (), namespace: str = "", progress: Progress | None = None
) -> LiveDatabase:
    """Return what the catalog says of a database; `schemas` limits what is stated to some schemas.

    Raises:
        DatabaseError: a schema does not exist, or tables may not be read.
    """
    return _CatalogReader(session, progress or (lambda _stage, _done, _total: None)).read(schemas, namespace)


class _CatalogReader:
    def __init__(self, session: PostgresSession, notify: Progress) -> None:
        self._session = session
        self._notify = notify
        self._problems: list[str] = []

    def read(self, schemas: Collection[str], namespace: str) -> LiveDatabase:
        session = self._session
        ((path, at),) = session.rows(_PATH)
        session.rows("SET LOCAL search_path = ''")
        chosen = self._schemas(schemas)
        relations, of_extensions = self._relations()
        relations = self._with_columns(relations)
        own = {oid: one for oid, one in relations.items() if one.schema in chosen and oid not in of_extensions}
        own = self._with_definitions(own, chosen)
        own = self._with_readers(own, chosen)
        triggers, rules = self._names_by_relation(_TRIGGERS, "triggers"), self._names_by_relation(_RULES, "rules")
        policies = self._names_by_relation(_POLICIES, "policies")
        functions, other_languages, has_functions = self._functions(chosen, tuple(path))
        named = self._attempt(_AGGREGATES, (), "aggregate functions") if has_functions else ()
        aggregates = tuple(str(name) for (name,) in named)
        calls: dict[int, list[int]] = defaultdict(list)
        if functions:
            for view, function in self._attempt(_CALLS, (), "functions that views call"):
                calls[view].append(function)
        servers = self._servers()
        stated = tuple(
            replace(
                one,
                triggers=triggers.get(oid, ()),
                rules=rules.get(oid, ()),
                policies=policies.get(oid, ()),
                calls=tuple(calls.get(oid, ())),
                server=servers.get(oid),
            )
            for oid, one in own.items()
        )
        inheritance = (Inheritance(*row) for row in self._attempt(_INHERITANCE, (), "inheritance and partitions"))
        return LiveDatabase(
            namespace=namespace or session.namespace,
            name=session.database,
            at=at,
            schemas=chosen,
            relations=stated,
            members=tuple((str(role), str(member)) for role, member in self._attempt(_MEMBERS, (), "members of roles")),
            functions=functions,
            search_path=tuple(path),
            inheritance=tuple(one for one in inheritance if one.child in own or one.parent in own),
            has_functions=has_functions,
            aggregates=aggregates,
            other_languages=other_languages,
            of_extensions=sum(relations[oid].schema in chosen for oid in of_extensions),
            problems=tuple(self._problems),
            outside=tuple(one for oid, one in relations.items() if oid not in own),
        )

    def _schemas(self, wanted: Collection[str]) -> tuple[str, ...]:
        existing = tuple(str(name) for (name,) in self._session.rows(_SCHEMAS))
        missing = sorted(set(wanted) - set(existing))
        if missing:
            raise DatabaseError(
                f"no schema {missing[0]} in the database {self._session.database}", f"it has: {name_list(existing, 20)}"
            )
        return tuple(name for name in existing if not wanted or name in wanted)

    def _relations(self) -> tuple[dict[int, LiveRelation], set[int]]:
        """Return the relations by oid, and those of them that belong to extensions."""
        relations: dict[int, LiveRelation] = {}
        of_extensions: set[int] = set()
        for oid, schema, name, kind, owner, comment, is_of_extension in self._session.stream(_RELATIONS):
            if is_of_extension:
                of_extensions.add(oid)
            relations[oid] = LiveRelation(oid, schema, name, RelationKind(kind), owner, comment)
            self._notify("reading", len(relations), None)
        return relations, of_extensions

    def _with_columns(self, relations: dict[int, LiveRelation]) -> dict[int, LiveRelation]:
        columns: dict[int, list[LiveColumn]] = defaultdict(list)
        texts: dict[str, str] = {}
        for oid, number, name, data_type, comment, kind, generated, remote in self._session.stream(_COLUMNS):
            shared = texts.setdefault(name, name), texts.setdefault(data_type, data_type)
            columns[oid].append(LiveColumn(number, *shared, comment, generated, kind == "v", (), remote))
        return {oid: replace(one, columns=tuple(columns.get(oid, ()))) for oid, one in relations.items()}

    def _with_definitions(
        self, relations: dict[int, LiveRelation], schemas: tuple[str, ...]
    ) -> dict[int, LiveRelation]:
        views = {oid: None for oid, one in relations.items() if one.kind.is_view}
        read: dict[int, str | None] = {}
        problems: dict[int, str] = {}
        try:
            for oid, definition in self._session.stream(_DEFINITIONS, (list(schemas),)):
                read[oid] = definition
                self._notify("views", min(len(read), len(views)), len(views))
        except PostgresRejectionError:  # one of them: ask for each
            for number, oid in enumerate(views):
                try:
                    ((read[oid],),) = self._session.rows(_DEFINITION, (oid,))
                except PostgresRejectionError as error:
                    problems[oid] = str(error)
                self._notify("views", number + 1, len(views))
        return {
            oid: replace(one, definition=read.get(oid), problem=problems.get(oid)) for oid, one in relations.items()
        }

    def _with_readers(self, relations: dict[int, LiveRelation], schemas: tuple[str, ...]) -> dict[int, LiveRelation]:
        readers: dict[tuple[int, int], list[str]] = defaultdict(list)
        for oid, number, role in self._attempt(_READERS, (list(schemas), list(schemas)), "privileges"):
            readers[oid, number].append(role)
        if not readers:
            return relations
        of_columns = {oid for oid, number in readers if number}
        found = {}
        for oid, relation in relations.items():
            new_relation = relation
            if oid in of_columns:
                columns = (replace(c, readers=tuple(readers.get((oid, c.number), ()))) for c in new_relation.columns)
                new_relation = replace(new_relation, columns=tuple(columns))
            found[oid] = replace(new_relation, readers=tuple(readers.get((oid, 0), ())))
        return found

    def _names_by_relation(self, query: str, what: str) -> dict[int, tuple[str, ...]]:
        names: dict[int, list[str]] = defaultdict(list)
        for oid, name in self._attempt(query, (), what):
            names[oid].append(name)
        return {oid: tuple(listed) for oid, listed in names.items()}

    def _servers(self) -> dict[int, ForeignServer]:
        import json  # noqa: PLC0415  few databases have foreign tables

        rows = self._attempt(_FOREIGN, (), "foreign servers")
        return {oid: ForeignServer(name, wrapper, json.loads(options)) for oid, name, wrapper, options in rows}

    def _functions(
        self, schemas: tuple[str, ...], path: tuple[str, ...]
    ) -> tuple[tuple[LiveFunction, ...], tuple[tuple[str, int], ...], bool]:
        before = len(self._problems)
        rows = list(self._attempt(_FUNCTIONS, (list(schemas),), "functions"))
        if len(self._problems) > before:
            return (), (), False
        functions = (
            LiveFunction(f"{format_name([schema, name])}({arguments})", language, text, _path_of(settings, path), oid)
            for schema, name, arguments, language, text, settings, oid in rows
        )
        languages = self._attempt(_OTHER_LANGUAGES, (list(schemas),), "functions in other languages")
        return tuple(functions), tuple((str(name), int(count)) for name, count in languages), True

    def _attempt(self, query: str, parameters: tuple[Any, ...], what: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query that an ingest can do without."""
        try:
            yield from self._session.rows(query, parameters)
        except PostgresRejectionError as error:
            self._problems.append(f"{what} could not be read: {error}")


def _path_of(settings: list[str] | None, default: tuple[str, ...]) -> tuple[str, ...]:
    """Return the search path of a function: its own setting, else that of the session.

    >>> _path_of(["search_path=mart, \\"My Schema\\", pg_temp"], ("public",)), _path_of(None, ("public",))
    (('mart', 'My Schema'), ('public',))
    """
    for setting in settings or ():
        name, _, value = setting.partition("=")
        if name == "search_path":
            entries = (entry.strip() for entry in value.split(","))
            names = (e[1:-1].replace('""', '"') if e.startswith('"') else e for e in entries)
            return tuple(name for name in names if name and not name.startswith(("pg_", "$")))
    return default
