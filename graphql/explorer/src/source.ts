/** What answers the page's questions: the service, or the data of an offline file. */

import type { Marks } from "./marks";
import type { Change, ColumnInfo, Direction, EdgeInfo, EdgeKind, Hop, Part, TableInfo } from "./model";

export interface Hit {
  key: string;
  name: string;
  /** The column's table, or the table's namespace. */
  context: string;
  kind: string;
}

export interface UsedTable {
  table: TableInfo;
  reads: number | null;
  at: string | null;
}

export interface Estate {
  tables: number;
  groups: { namespace: string; schema: string; tables: number; exposures: number }[];
  flows: { source: string; target: string; flows: number }[];
  flowsCounted: boolean;
}

/** Tables to begin with. */
export interface Notable {
  used: UsedTable[];
  recent: UsedTable[];
}

export interface Service {
  version: string;
  /** Whether the caller may change descriptions, tags and edges. */
  isSteward: boolean;
  dialects: string[];
  /** Whether there is a query editor, which not every service has. */
  hasEditor: boolean;
  /** Whether pasted SQL can be read and reports are made: not in a file. */
  readsSql: boolean;
  /** When the data was written, for an offline file. */
  writtenAt: string | null;
  /** Columns or tables to open at first. */
  focus: string[];
}

export interface HopQuestion {
  of: string[];
  direction: Direction;
  kinds: EdgeKind[];
  asOf: string;
  maxEdges: number;
  /** Without the tables and columns at the ends of edges. */
  edgesOnly?: boolean;
  /** Only edges between these; counts are of all. */
  within?: string[] | null;
}

export interface ReachQuestion {
  key: string;
  direction: Direction;
  kinds: EdgeKind[];
  asOf: string;
}

export interface Reach {
  columns: number;
  tables: number;
  isLowerBound: boolean;
}

export interface ReachedRow {
  column: ColumnInfo;
  table: TableInfo;
  hops: number;
  influence: EdgeKind[];
  how: string[];
  masked: boolean;
}

export interface Extra {
  columns: number;
  lastRead: string | null;
}

export interface SpanOfSql {
  start: number;
  end: number;
}

export interface EvidenceStep {
  source: string;
  target: string;
  kind: EdgeKind;
  subtypes: string[];
  masking: boolean;
  job: { key: string; kind: string; sql: string | null; file: string | null; line: number | null; completeness: string } | null;
  chains: SpanOfSql[][];
}

export interface Finding {
  code: string;
  severity: string;
  message: string;
  hint: string | null;
}

/** What leads into a table, at two times. */
export interface Changes {
  edges: (EdgeInfo & { change: Change; at: string | null })[];
  /** Whether there are more. */
  isLowerBound: boolean;
}

export interface JobDetails {
  key: string;
  kind: string;
  operation: string | null;
  file: string | null;
  completeness: string;
  lastSeen: string;
  observations: number;
  writes: boolean;
  /** Other tables that it writes. */
  feeds: string[];
  diagnostics: Finding[];
}

export interface Details {
  key: string;
  table: TableInfo;
  column: ColumnInfo | null;
  description: string | null;
  tags: string[];
  /** Classes of personal data, with who says so, and why. */
  classes: { name: string; reason: string }[];
  stated: { source: string; description: string | null; tags: string[]; owner: string | null; tests: string[] }[];
  usage: { reads: number; users: number; lastRead: string | null; days: { day: string; reads: number }[]; topUsers: { user: string; queries: number }[] };
  jobs: JobDetails[];
  moreJobs: number;
}

/** A column of a table, of a CTE, or (with neither) of the output; without a column all rows. */
export interface StatementColumn {
  table: string | null;
  cte: string | null;
  column: string | null;
}

export interface StatementLineage {
  operation: string;
  target: string | null;
  targetKey: string | null;
  impact: { columns: number; tables: number } | null;
  sources: string[];
  outputColumns: string[];
  completeness: string;
  edges: {
    source: { table: string | null; column: string | null };
    target: { table: string | null; column: string | null };
    kind: EdgeKind;
    subtype: string;
    masking: boolean;
    span: { start: number; end: number } | null;
  }[];
  /** The same by way of the CTEs; null if there are none. */
  steps: { source: StatementColumn; target: StatementColumn; kind: EdgeKind; unchanged: boolean; masking: boolean }[] | null;
  diagnostics: (Finding & { line: number | null; column: number | null })[];
}

export interface PersonalSource {
  key: string;
  name: string;
  classes: string[];
  /** What says so, and why. */
  reasons: string[];
  holders: number;
}

export interface ExposedColumn {
  key: string;
  name: string;
  table: string;
  exposure: string;
  hops: number;
  reads: number;
  lastRead: string | null;
  /** Null for who is no steward. */
  users: string[] | null;
}

export interface Exposures {
  name: string;
  total: number;
  stopped: string[];
  possibly: string[];
  columns: ExposedColumn[];
  influenced: string[];
}

/** The reads of one column by one user. */
export interface Access {
  /** Null: the log names nobody. Who is no steward sees `user 1` and so on. */
  user: string | null;
  classes: string[];
  column: string;
  columnKey: string;
  sources: string[];
  exposure: string;
  warehouse: string[];
  queries: number;
  firstDay: string;
  lastDay: string;
  isNew: boolean;
}

export interface AccessReport {
  classes: string[];
  accesses: Access[];
  total: number;
  logFirstDay: string;
  logLastDay: string;
  blindSpots: string[];
  /** By class; null: the logs are too short to tell. */
  newReaders: { name: string; users: string[] }[] | null;
}

export interface UnusedReport {
  since: string;
  until: string;
  logFirstDay: string;
  logLastDay: string;
  total: number;
  notJudged: number;
  /** The tables; `feeds` are those that are made from one, and dropped before it. */
  tables: { key: string; name: string; lastRead: string | null; sure: string; but: string[]; feeds: string[] }[];
}

/** The owners or domains of most tables, and how many tables have none. */
export interface Named {
  names: { name: string; tables: number }[];
  total: number;
  without: number;
}

export interface Source {
  service(): Promise<Service>;
  estate(): Promise<Estate>;
  notable(): Promise<Notable>;
  tablesOf(namespace: string, schema: string, after: string): Promise<{ tables: TableInfo[]; total: number; after: string | null }>;
  named(by: "owner" | "domain"): Promise<Named>;
  tablesOfNamed(by: "owner" | "domain", name: string, after: string): Promise<{ tables: TableInfo[]; total: number; after: string | null }>;
  search(text: string, signal?: AbortSignal): Promise<{ hits: Hit[]; total: number }>;
  hop(question: HopQuestion): Promise<Hop>;
  closure(question: ReachQuestion): Promise<Part & { truncated: string | null }>;
  reach(question: ReachQuestion): Promise<Reach>;
  reached(question: ReachQuestion, after: string): Promise<{ rows: ReachedRow[]; total: number; after: string | null }>;
  columns(table: string, after: string): Promise<{ table: TableInfo; columns: ColumnInfo[]; total: number; after: string | null }>;
  extras(tables: TableInfo[]): Promise<Map<string, Extra>>;
  /** Personal data in columns; `cut` says why there may be more. */
  marks(columns: readonly string[], asOf: string): Promise<{ marks: Marks; cut: string }>;
  details(key: string): Promise<Details>;
  changes(table: string, since: string, asOf: string): Promise<Changes>;
  paths(from: string, to: string, kinds: EdgeKind[], asOf: string): Promise<EvidenceStep[][]>;
  evidence(source: string, target: string, kind: EdgeKind, asOf: string): Promise<EvidenceStep[]>;
  extract(sql: string, dialect: string, schema: string, signal: AbortSignal): Promise<StatementLineage[]>;
  personalData(): Promise<{ classes: string[]; sources: PersonalSource[]; total: number; blindSpots: string[] }>;
  exposures(column: string): Promise<Exposures>;
  access(name: string): Promise<AccessReport>;
  unused(days: number): Promise<UnusedReport>;
  describe(key: string, change: { description?: string; tags?: string[] }): Promise<void>;
  assertEdge(source: string, target: string, subtype: string, masking: boolean): Promise<void>;
  retireEdge(source: string, target: string, kind: EdgeKind, job: string | null): Promise<number>;
}

/** The owner that a search names, as in `owner: finance`. */
export const ownerIn = (text: string): string | undefined => /^owner:\s*(\S.*)$/i.exec(text)?.[1];

/** Whether all words are in the full name of a hit. */
export function hasWords(hit: Hit, words: readonly string[]): boolean {
  const name = (hit.kind === "column" ? `${hit.context}.${hit.name}` : hit.name).toLowerCase();
  return words.every((word) => name.includes(word.toLowerCase()));
}

export const tableHit = (table: TableInfo): Hit => ({ key: table.key, name: table.name, context: table.owners.join(", ") || table.namespace, kind: table.kind });

/** What the page shows of a failure, and what helps. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly code: string,
    readonly hint: string | null = null,
  ) {
    super(message);
  }
}
