/** The lineage of a pasted statement as a part of a graph: its sources, its CTEs and its output are cards. */

import { type EdgeInfo, emptyPart, type Part, type TableInfo } from "./model";
import type { StatementColumn, StatementLineage } from "./source";

const OUTPUT = "output";

export function partOfStatement(statement: StatementLineage, withCtes = false): { part: Part; target: string } {
  const part = emptyPart();
  const table = (name: string | null): string => {
    const key = name ?? OUTPUT;
    if (!part.tables.has(key)) part.tables.set(key, tableNamed(key, key === OUTPUT ? statement.operation.toLowerCase() : "statement"));
    return key;
  };
  const node = ({ table: name, column }: { table: string | null; column: string | null }): string => {
    const key = table(name);
    if (column === null) return key;
    const full = `${key}#${column}`;
    if (!part.columns.has(full)) {
      part.columns.set(full, { key: full, path: column, table: key, dataType: null, tags: [], inferred: false, droppedAt: null });
    }
    return full;
  };
  const ofStep = ({ table: name, cte, column }: StatementColumn): string => {
    if (cte === null) return node({ table: name ?? statement.target, column });
    const key = `cte ${cte}`;
    if (!part.tables.has(key)) part.tables.set(key, { ...tableNamed(cte, "CTE"), key, kind: "temporary" });
    return node({ table: key, column });
  };
  statement.sources.forEach(table);
  const target = table(statement.target);
  statement.outputColumns.forEach((column) => node({ table: statement.target, column }));
  if (withCtes && statement.steps) {
    part.edges = statement.steps.map(({ source, target: to, kind, unchanged, masking }): EdgeInfo => {
      const how = kind === "REFERENCES" ? "CONDITIONAL" : unchanged ? "IDENTITY" : "TRANSFORMATION";
      return { source: ofStep(source), target: ofStep(to), kind, subtypes: [how], masking, job: how };
    });
    return { part, target };
  }
  part.edges = statement.edges.map(
    (edge): EdgeInfo => ({
      source: node(edge.source),
      target: node(edge.target),
      kind: edge.kind,
      subtypes: [edge.subtype],
      masking: edge.masking,
      job: edge.subtype,
    }),
  );
  return { part, target };
}

const tableNamed = (name: string, namespace: string): TableInfo => ({
  key: name,
  id: "",
  name,
  namespace,
  kind: "table",
  schemaKnown: false,
  firstSeen: null,
  droppedAt: null,
  description: null,
  tags: [],
  owners: [],
});
