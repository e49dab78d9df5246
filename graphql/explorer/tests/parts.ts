/** Small graphs for tests: `a.x -> b.y`, `a.x ~FILTER> b`. Tables are named by their letters. */

import { type ColumnInfo, type EdgeInfo, type Hop, isColumn, type TableInfo } from "../src/model";

export const table = (name: string, more: Partial<TableInfo> = {}): TableInfo => ({
  key: `n/${name}`,
  id: `id:${name}`,
  name,
  namespace: "n",
  kind: "table",
  schemaKnown: true,
  firstSeen: null,
  droppedAt: null,
  description: null,
  tags: [],
  owners: [],
  ...more,
});

export const keyOf = (name: string): string => {
  const [schema, of, ...path] = name.split(".");
  return path.length ? `n/${schema}.${of}#${path.join(".")}` : `n/${schema}.${of}`;
};

export function hop(lines: string, more: Partial<Hop> = {}): Hop {
  const edges = lines.trim().split("\n").filter(Boolean).map((line): EdgeInfo => {
    const match = /^\s*(\S+) (?:->|~(\w+)>) (\S+?)( masked)?\s*$/.exec(line);
    if (!match) throw new Error(line);
    const [, source = "", clause, target = "", masked] = match;
    return {
      source: keyOf(source),
      target: keyOf(target),
      kind: clause ? "REFERENCES" : "CONTRIBUTES",
      subtypes: [clause ?? "IDENTITY"],
      masking: Boolean(masked),
      job: "job",
    };
  });
  const tables = new Map<string, TableInfo>();
  const columns = new Map<string, ColumnInfo>();
  for (const key of edges.flatMap((edge) => [edge.source, edge.target])) {
    const name = key.split("#")[0]!.slice(2);
    tables.set(`n/${name}`, table(name));
    if (isColumn(key)) columns.set(key, { key, path: key.split("#")[1]!, table: `n/${name}`, dataType: null, tags: [], inferred: false, droppedAt: null });
  }
  return { tables, columns, jobs: new Map(), edges, totalEdges: edges.length, totalTables: tables.size, counts: new Map(), ...more };
}
