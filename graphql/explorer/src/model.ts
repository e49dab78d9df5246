/** What the page knows of the graph. Keys are those of the store: `NAMESPACE/DATASET#COLUMN`. */

export type Direction = "UPSTREAM" | "DOWNSTREAM";
export type EdgeKind = "CONTRIBUTES" | "REFERENCES";

/** How an edge differs between the two dates of a comparison; a changed one has another transformation or masking. */
export type Change = "added" | "gone" | "changed";

/** Clauses by which one column references another, or the rows of a table. */
export const CLAUSES = [
  "FILTER",
  "JOIN",
  "GROUP_BY",
  "SORT",
  "DISTINCT",
  "SET_OPERATION",
  "MERGE_MATCH",
  "CONDITIONAL",
  "WINDOW",
  "ROWS",
] as const;
export type Clause = (typeof CLAUSES)[number];

export interface TableInfo {
  key: string;
  id: string;
  name: string;
  namespace: string;
  kind: string;
  schemaKnown: boolean;
  firstSeen: string | null;
  droppedAt: string | null;
  description: string | null;
  tags: string[];
  owners: string[];
}

export interface ColumnInfo {
  key: string;
  path: string;
  table: string;
  dataType: string | null;
  tags: string[];
  inferred: boolean;
  droppedAt: string | null;
}

export interface EdgeInfo {
  source: string;
  target: string;
  kind: EdgeKind;
  subtypes: string[];
  masking: boolean;
  job: string;
  change?: Change;
}

export interface JobInfo {
  key: string;
  kind: string;
  completeness: string;
  operation: string | null;
}

/** Part of the graph: the answer to a question, or several answers joined. */
export interface Part {
  tables: Map<string, TableInfo>;
  columns: Map<string, ColumnInfo>;
  jobs: Map<string, JobInfo>;
  edges: EdgeInfo[];
}

/** One hop around some nodes, with exact counts even where not all edges were sent. */
export interface Hop extends Part {
  /** Whether it has only the edges between what is shown. */
  isWithin?: boolean;
  totalEdges: number;
  totalTables: number;
  counts: Map<string, number>;
}

export const emptyPart = (): Part => ({ tables: new Map(), columns: new Map(), jobs: new Map(), edges: [] });

export const isColumn = (key: string): boolean => key.includes("#");

export const tableOf = (key: string): string => {
  const at = key.indexOf("#");
  return at < 0 ? key : key.slice(0, at);
};

export const pathOf = (key: string): string => key.slice(key.indexOf("#") + 1);

/** The parts of a dotted name, of which quoted ones may contain dots. */
export const partsOf = (name: string): string[] => name.match(/(?:"[^"]*"|[^."])+/g) ?? [name];

export const shortName = (name: string): string => partsOf(name).at(-1) ?? name;

export const schemaOf = (name: string): string => partsOf(name).slice(0, -1).join(".");

export const nameOf = (key: string, part: Part): string => {
  const table = tableOf(key);
  const name = part.tables.get(table)?.name ?? table.slice(table.lastIndexOf("/") + 1);
  return isColumn(key) ? `${name}.${part.columns.get(key)?.path ?? pathOf(key)}` : name;
};

/** What an edge says, whichever job says it. */
export const flowId = (edge: Pick<EdgeInfo, "source" | "target" | "kind">): string => [edge.source, edge.target, edge.kind].join("\n");

export const edgeId = (edge: EdgeInfo): string => [edge.source, edge.target, edge.kind, edge.job].join("\n");

const countFormat = new Intl.NumberFormat("en");
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${countFormat.format(count)} ${count === 1 ? one : many}`;

export const words = (constant: string): string => constant.toLowerCase().replaceAll("_", " ");

/** Items by key, in order. */
export function groupBy<T, K>(items: Iterable<T>, by: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(by(item));
    if (group) group.push(item);
    else groups.set(by(item), [item]);
  }
  return groups;
}
