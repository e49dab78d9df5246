/** The list twin of a picture: its columns as rows, sorted, filtered, and as CSV. */

import { BOTH, CONTRIBUTION, type Lit } from "./light";
import { type Marks, textOf } from "./marks";
import { CLAUSES, groupBy, isColumn, pathOf, schemaOf, tableOf } from "./model";
import type { Picture } from "./picture";
import type { Extra, ReachedRow } from "./source";
import type { Filters, View } from "./view";

export interface ListRow {
  key: string;
  table: string;
  column: string;
  dataType: string;
  /** Hops from the start; negative upstream. */
  hops: number | null;
  /** How it is related to the start. */
  relation: string;
  subtypes: string;
  masking: string;
  /** How it differs from the earlier date. */
  change: string;
  /** Classes of personal data, with how much is shown. */
  personal: string;
  tags: string;
  owner: string;
  lastRead: string;
}

export const HEADINGS: [keyof ListRow, string][] = [
  ["table", "Table"],
  ["column", "Column"],
  ["dataType", "Type"],
  ["hops", "Hops"],
  ["relation", "Relation"],
  ["subtypes", "How"],
  ["masking", "Masking"],
  ["change", "Change"],
  ["personal", "Personal data"],
  ["tags", "Tags"],
  ["owner", "Owner"],
  ["lastRead", "Last read"],
];

const RELATIONS = { 1: "contribution", 2: "reference", 3: "both" } as const;

export function rowsOf(picture: Picture, starts: readonly string[], extras: ReadonlyMap<string, Extra>): ListRow[] {
  const related = new Map<string, Lit>();
  for (const start of starts) {
    for (const direction of ["DOWNSTREAM", "UPSTREAM"] as const) {
      for (const [node, lit] of picture.paths.light(start, direction).nodes) related.set(node, ((related.get(node) ?? 0) | lit) as Lit);
    }
  }
  const into = groupBy(picture.part.edges, (edge) => edge.target);
  const from = groupBy(picture.part.edges, (edge) => edge.source);
  const rows = [...picture.nodes].filter((key) => isColumn(key) || into.has(key)).map((key): ListRow => {
    const table = picture.part.tables.get(tableOf(key));
    const column = picture.part.columns.get(key);
    // What is above the start is described by the way that leads to it.
    const edges = ((picture.hops.get(key) ?? 0) < 0 ? from : into).get(key) ?? [];
    const flows = edges.filter((edge) => edge.kind === "CONTRIBUTES");
    const lit = related.get(key);
    return {
      key,
      table: table?.name ?? tableOf(key),
      column: isColumn(key) ? (column?.path ?? pathOf(key)) : "(rows)",
      dataType: column?.dataType ?? "",
      hops: picture.hops.get(key) ?? null,
      relation: starts.includes(key) ? "start" : lit ? RELATIONS[lit] : "",
      subtypes: [...new Set(edges.flatMap((edge) => edge.subtypes))].sort().join(", ").toLowerCase().replaceAll("_", " "),
      masking: flows.length && flows.every((edge) => edge.masking) ? "masked" : flows.some((edge) => edge.masking) ? "partly" : "",
      change: [...new Set(edges.flatMap((edge) => edge.change ?? []))].sort().join(", "),
      personal: "",
      tags: [...new Set([...(table?.tags ?? []), ...(column?.tags ?? [])])].join(", "),
      owner: table?.owners.join(", ") ?? "",
      lastRead: extras.get(tableOf(key))?.lastRead?.slice(0, 10) ?? "",
    };
  });
  return sorted(rows, "hops", false);
}

/** The rows with what personal data their columns hold. */
export const withMarks = (rows: readonly ListRow[], marks: Marks): ListRow[] => rows.map((row) => (marks.has(row.key) ? { ...row, personal: textOf(marks.get(row.key)) } : row));

export function rowOfReached(row: ReachedRow, sign: 1 | -1): ListRow {
  const flows = row.influence.includes("CONTRIBUTES");
  const lit = ((flows ? CONTRIBUTION : 0) | (row.influence.includes("REFERENCES") ? 2 : 0)) as 0 | Lit;
  return {
    key: row.column.key,
    table: row.table.name,
    column: row.column.path,
    dataType: row.column.dataType ?? "",
    hops: sign * row.hops,
    relation: lit === 0 ? "" : lit === BOTH ? "both" : RELATIONS[lit],
    subtypes: row.how.join(", ").toLowerCase().replaceAll("_", " "),
    masking: row.masked ? "masked" : "",
    change: "",
    personal: "",
    tags: [...new Set([...row.table.tags, ...row.column.tags])].join(", "),
    owner: row.table.owners.join(", "),
    lastRead: "",
  };
}

/** Whether a row of the longer list passes the filters that it can be held against. */
export function admitsReached({ table, column, hops, masked, influence }: ReachedRow, filters: Filters): boolean {
  if (filters.hops !== null && hops > filters.hops) return false;
  if (filters.masking && (!influence.includes("CONTRIBUTES") || masked !== (filters.masking === "masked"))) return false;
  if (filters.namespace && table.namespace !== filters.namespace) return false;
  if (filters.schema && schemaOf(table.name) !== filters.schema) return false;
  if (filters.tag && ![...table.tags, ...column.tags].includes(filters.tag)) return false;
  if (filters.owner && !table.owners.includes(filters.owner)) return false;
  return `${table.name}.${column.path}`.toLowerCase().includes(filters.text.toLowerCase());
}

/** What of a view the longer list does not heed. */
export function unheeded(view: View): string[] {
  const { filters } = view;
  const some = filters.clauses.length > 0 && filters.clauses.length < CLAUSES.length;
  return [
    ...(some ? ["clauses"] : []),
    ...(filters.jobKind ? ["kind of job"] : []),
    ...(filters.unread !== null ? ["last read"] : []),
    ...(view.focus ? ["focus"] : []),
    ...(view.since ? ["comparison"] : []),
  ];
}

export function sorted(rows: readonly ListRow[], by: keyof ListRow, descending: boolean): ListRow[] {
  const sign = descending ? -1 : 1;
  return [...rows].sort((a, b) => sign * compare(a[by], b[by]) || compare(a.table, b.table) || compare(a.column, b.column));
}

export function matching(rows: readonly ListRow[], text: string): ListRow[] {
  const wanted = text.trim().toLowerCase();
  return wanted ? rows.filter((row) => HEADINGS.some(([name]) => String(row[name] ?? "").toLowerCase().includes(wanted))) : [...rows];
}

/** CSV by RFC 4180. A cell that a spreadsheet would calculate is preceded by an apostrophe. */
export function csvOf(rows: readonly ListRow[]): string {
  const cell = (value: string | number | null) => {
    const text = String(value ?? "");
    const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const lines = [HEADINGS.map(([, heading]) => heading), ...rows.map((row) => HEADINGS.map(([name]) => row[name]))];
  return lines.map((line) => line.map(cell).join(",")).join("\r\n") + "\r\n";
}

function compare(a: string | number | null, b: string | number | null): number {
  if (typeof a === "number" && typeof b === "number") return Math.abs(a) - Math.abs(b) || a - b;
  if (typeof a === "number" || typeof b === "number") return typeof a === "number" ? -1 : 1;
  return (a ?? "") < (b ?? "") ? -1 : (a ?? "") > (b ?? "") ? 1 : 0;
}
