/** The documents that the page sends. */

import type { Direction } from "./model";

const FRAGMENTS = {
  node: "fragment node on TableOrColumn { __typename ... on Column { ...column table { ...table } } ... on Table { ...table } }",
  table: `fragment table on Table {
    key id name namespace kind schemaKnown firstSeen droppedAt description tags facts { tags owner }
  }`,
  column: "fragment column on Column { key path dataType tags facts { tags } inferred droppedAt }",
  edge: "fragment edge on LineageEdge { sourceKey targetKey kind subtypes masking jobKey }",
  step: `fragment step on LineageEdge {
    sourceKey targetKey kind subtypes masking
    job { key kind sql source path sourceLine completeness }
    evidence { start end }
  }`,
};

/** A document with the fragments that it uses. */
const document = (text: string): string =>
  Object.entries(FRAGMENTS).reduce((whole, [name, fragment]) => (whole.includes(`...${name}`) ? `${whole}\n${fragment}` : whole), text);

/** A question that may be asked together with others: its variables and root fields, and about how much it may return. */
export interface Question {
  variables: Record<string, string>;
  fields: Record<string, string>;
  weight(variables: Record<string, unknown>): number;
}

interface Asked {
  question: Question;
  variables: Record<string, unknown>;
}

/** One document for some questions, and the names that it gives to the fields of each. Equal variables are sent once. */
export function documentOf(some: readonly Asked[]): { query: string; variables: Record<string, unknown>; names: Record<string, string>[] } {
  const sent = new Map<string, { name: string; type: string; value: unknown }>();
  const fields: string[] = [];
  const names = some.map(({ question, variables }, index) => {
    const given = new Map<string, string>();
    for (const [name, type] of Object.entries(question.variables)) {
      const id = JSON.stringify([name, type, variables[name] ?? null]);
      const known = sent.get(id) ?? { name: `${name}${sent.size}`, type, value: variables[name] ?? null };
      sent.set(id, known);
      given.set(name, known.name);
    }
    return Object.fromEntries(
      Object.entries(question.fields).map(([field, text]) => {
        fields.push(`q${index}_${field}: ${text.replace(/\$(\w+)/g, (_, name: string) => `$${given.get(name)}`)}`);
        return [field, `q${index}_${field}`];
      }),
    );
  });
  const types = [...sent.values()].map(({ name, type }) => `$${name}: ${type}`).join(", ");
  const query = document(`query${types && ` (${types})`} {\n  ${fields.join("\n  ")}\n}`);
  return { query, variables: Object.fromEntries([...sent.values()].map(({ name, value }) => [name, value])), names };
}

const numberOf = (value: unknown): number => (typeof value === "number" ? value : Array.isArray(value) ? value.length : 0);

export const SERVICE: Question = { variables: {}, fields: { service: "service { version readOnly roles dialects }" }, weight: () => 5 };

export const ESTATE = `{
  estate {
    tables flowsCounted
    groups { namespace schema tables exposures }
    flows { sourceNamespace sourceSchema targetNamespace targetSchema flows }
  }
}`;

export const NOTABLE = document(`{
  topTables(first: 10) { nodes { reads lastRead table { ...table } } }
  tables(first: 10, orderBy: { field: LAST_SEEN, direction: DESC }) { nodes { ...table lastSeen } }
}`);

export const TABLES = document(`query ($namespace: String!, $schema: String, $after: String) {
  tables(namespace: $namespace, schema: $schema, first: 100, after: $after) {
    totalCount pageInfo { hasNextPage endCursor } nodes { ...table }
  }
}`);

export const OWNERS = `{ owners { totalCount unownedTables nodes { name tableCount } } }`;

export const OWNED = document(`query ($owner: String!, $exact: Boolean!, $first: Int!, $after: String) {
  ownedTables(owner: $owner, exact: $exact, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor } nodes { ...table }
  }
}`);

export const DOMAINS = `{ domains { totalCount tablesWithout nodes { name tableCount } } }`;

export const OF_DOMAIN = document(`query ($domain: String!, $first: Int!, $after: String) {
  domainTables(domain: $domain, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor } nodes { ...table }
  }
}`);

export const SEARCH = `query ($text: String!, $tags: [String!], $types: [NodeType!], $first: Int!) {
  search(text: $text, tags: $tags, types: $types, first: $first) {
    totalCount
    nodes {
      key
      node { __typename ... on Column { path table { name namespace } } ... on Table { name namespace kind } }
    }
  }
}`;

const HOP = { of: "[String!]!", direction: "Direction!", kinds: "[EdgeKind!]", asOf: "DateTime", maxEdges: "Int!", within: "[String!]" };

export const ADJACENT: Question = {
  variables: HOP,
  fields: {
    adjacent: `adjacent(of: $of, direction: $direction, kinds: $kinds, asOf: $asOf, maxEdges: $maxEdges, within: $within) {
      totalEdges totalTables counts { key nodes } jobs { key kind completeness operation } edges { ...edge } nodes { ...node }
    }`,
  },
  weight: ({ maxEdges }) => 6 * numberOf(maxEdges) + 10,
};

/** What is around a picture: its lines, and how many there are beyond. What these lead to is not shown, and not asked. */
export const AROUND: Question = {
  variables: HOP,
  fields: {
    adjacent: `adjacent(of: $of, direction: $direction, kinds: $kinds, asOf: $asOf, maxEdges: $maxEdges, within: $within) {
      totalEdges totalTables counts { key nodes } jobs { key kind completeness operation } edges { ...edge }
    }`,
  },
  weight: ({ maxEdges }) => numberOf(maxEdges) + 10,
};

export const CLOSURE = document(`query ($columns: [String!], $tables: [String!], $direction: [Direction!], $kinds: [EdgeKind!], $asOf: DateTime) {
  subgraph(
    columns: $columns, tables: $tables, directions: $direction, kinds: $kinds, asOf: $asOf,
    maxHops: 20, maxNodes: 1000, maxEdges: 2000
  ) { truncated edges { ...edge } nodes { ...node } }
}`);

const asking = (direction: Direction) => (direction === "DOWNSTREAM" ? "impact" : "rootCause");

export const reach = (direction: Direction) => `query (
  $columns: [String!], $tables: [String!], $kinds: [EdgeKind!], $asOf: DateTime
) {
  reached: ${asking(direction)}(columns: $columns, tables: $tables, kinds: $kinds, asOf: $asOf, first: 1) {
    totalCount tableCount totalCountIsLowerBound
  }
}`;

export const reached = (direction: Direction) => document(`query ($columns: [String!], $tables: [String!], $kinds: [EdgeKind!], $asOf: DateTime, $after: String) {
  reached: ${asking(direction)}(columns: $columns, tables: $tables, kinds: $kinds, asOf: $asOf, first: 500, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    nodes { hops influence how masked column { ...column table { ...table } } }
  }
}`);

export const COLUMNS = document(`query ($key: ID!, $after: String) {
  table(key: $key) {
    ...table
    columns(first: 200, after: $after) { totalCount pageInfo { hasNextPage endCursor } nodes { ...column } }
  }
}`);

export const EXTRAS: Question = {
  variables: { ids: "[ID!]!" },
  fields: { nodes: "nodes(ids: $ids) { ... on Table { key columns(first: 1) { totalCount } usage { lastRead } } }" },
  weight: ({ ids }) => 4 * numberOf(ids),
};

export const MARKS = `query ($columns: [String!]!, $asOf: DateTime) {
  personalDataIn(columns: $columns, asOf: $asOf) { columns { key classes { name exposure sourceKey } } cuts }
}`;

const JOBS = `jobs(first: 12) {
  totalCount
  nodes {
    key kind operation source path completeness lastSeen observations writes { key name }
    diagnostics { code severity message hint }
  }
}`;

const FACTS = `description tags facts { source description tags owner tests { kind status } }
usage { reads distinctUsers lastRead days { day reads } topUsers { user queries } }`;

export const COLUMN_DETAILS: Question = {
  variables: { key: "ID!", name: "String" },
  fields: {
    column: `column(key: $key) { ...column ${FACTS} table { ...table ${JOBS} } }`,
    columnTags: "columnTags(column: $name) { name denied source statedBy why }",
  },
  weight: () => 300,
};

export const TABLE_DETAILS: Question = { variables: { key: "ID!" }, fields: { table: `table(key: $key) { ...table ${FACTS} ${JOBS} }` }, weight: () => 300 };

export const CHANGES = document(`query ($asOfA: DateTime!, $asOfB: DateTime!, $scope: String!) {
  lineageDiff(asOfA: $asOfA, asOfB: $asOfB, scope: $scope, first: 200) {
    totalCount truncated nodes { before { ...edge } after { ...edge validFrom } }
  }
}`);

export const PATHS = document(`query ($from: String!, $to: String!, $kinds: [EdgeKind!], $asOf: DateTime) {
  paths(from: $from, to: $to, kinds: $kinds, asOf: $asOf, limit: 3) { steps { ...step } }
}`);

export const EVIDENCE = document(`query ($of: [String!]!, $direction: Direction!, $kinds: [EdgeKind!], $asOf: DateTime) {
  adjacent(of: $of, direction: $direction, kinds: $kinds, asOf: $asOf, maxEdges: 5000) { edges { ...step } }
}`);

export const EXTRACT = `query ($sql: String!, $dialect: String!, $schema: String) {
  extract(sql: $sql, dialect: $dialect, defaultSchema: $schema) {
    operation target targetKey sources outputColumns completeness
    impact(first: 1) { totalCount tableCount }
    stated { source { table column } target { table column } kind subtype masking span { start end } }
    steps { source { table cte column } target { table cte column } kind unchanged masking }
    diagnostics { code severity message hint span { line column } }
  }
}`;

export const PERSONAL_DATA = `{
  piiReport { classes totalCount blindSpots sources(first: 500) { key name totalCount tags { name denied source why } } }
}`;

export const EXPOSURES = `query ($column: String!) {
  exposures(column: $column) {
    name totalCount stopped possiblyInTables influenced(first: 500) { name }
    columns(first: 500) { key name table exposure hops reads lastRead users }
  }
}`;

export const ACCESS = `query ($classes: [String!]) {
  piiReport { classes }
  accessAudit(classes: $classes) {
    totalCount logFirstDay logLastDay blindSpots newReaders { name users }
    accesses(first: 500) { user classes column columnKey sources exposure warehouse queries firstDay lastDay isNew }
  }
}`;

export const UNUSED = `query ($days: Int!) {
  unused(days: $days) {
    since until logFirstDay logLastDay totalCount notJudged tables(first: 500) { key name lastRead sure but feeds }
  }
}`;

export const DESCRIBE = `mutation ($of: String!, $description: String, $tags: [String!]) {
  describe(of: $of, description: $description, tags: $tags) { __typename }
}`;

export const ASSERT = `mutation ($source: String!, $target: String!, $subtype: Subtype!, $masking: Boolean!) {
  assertEdge(source: $source, target: $target, subtype: $subtype, masking: $masking) { sourceKey }
}`;

export const RETIRE = `mutation ($source: String!, $target: String!, $kind: EdgeKind!, $job: ID) {
  retireEdge(source: $source, target: $target, kind: $kind, job: $job) { ended }
}`;
