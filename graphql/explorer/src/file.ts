/** Questions answered from the data of an offline file, in memory. */

import { Paths } from "./light";
import type { HeldClass } from "./marks";
import { type ColumnInfo, type Direction, type EdgeInfo, type EdgeKind, type Hop, type JobInfo, type Part, type TableInfo, emptyPart, isColumn, schemaOf, tableOf } from "./model";
import { type Changes, type Details, type EvidenceStep, type Extra, type HopQuestion, type ReachQuestion, Refusal, type Source, type StatementLineage, ownerIn, tableHit } from "./source";

interface FileEdge extends EdgeInfo {
  /** Chains of spans: start, end. */
  chains: [number, number][][];
}

interface FileJob extends JobInfo {
  sql: string | null;
  file: string | null;
  line: number | null;
  reads: string[];
  writes: string[];
  lastSeen: string;
  observations: number;
  diagnostics: Details["jobs"][number]["diagnostics"];
}

export interface FileData {
  version: string;
  writtenAt: string;
  focus: string[];
  tables: (TableInfo & { domains: string[]; lastRead: string | null; lastSeen: string; reads: number })[];
  columns: (ColumnInfo & { description: string | null; classes?: HeldClass[] })[];
  edges: FileEdge[];
  jobs: FileJob[];
}

const namesOf = (table: FileData["tables"][number], by: "owner" | "domain"): string[] => (by === "owner" ? table.owners : table.domains);

const HITS = 12;
const PAGE = 500;

export class FileSource implements Source {
  private readonly tables = new Map<string, FileData["tables"][number]>();
  private readonly byColumn = new Map<string, FileData["columns"][number]>();
  private readonly columnsOf = new Map<string, ColumnInfo[]>();
  private readonly jobs = new Map<string, FileJob>();
  private readonly kept = new Map<string, Paths>();

  constructor(private readonly data: FileData) {
    data.tables.forEach((table) => this.tables.set(table.key, table));
    data.jobs.forEach((job) => this.jobs.set(job.key, job));
    for (const column of data.columns) {
      this.byColumn.set(column.key, column);
      this.columnsOf.set(column.table, [...(this.columnsOf.get(column.table) ?? []), column]);
    }
  }

  async service() {
    const { version, writtenAt, focus } = this.data;
    return { version, isSteward: false, dialects: [], hasEditor: false, readsSql: false, writtenAt, focus };
  }

  async estate() {
    const groups = new Map<string, { namespace: string; schema: string; tables: number; exposures: number }>();
    const groupOf = (table: TableInfo) => `${table.namespace}/${schemaOf(table.name)}`;
    for (const table of this.data.tables) {
      const group = groups.get(groupOf(table)) ?? { namespace: table.namespace, schema: schemaOf(table.name), tables: 0, exposures: 0 };
      group.tables += 1;
      group.exposures += table.kind === "exposure" ? 1 : 0;
      groups.set(groupOf(table), group);
    }
    const pairs = new Map<string, Set<string>>();
    for (const edge of this.data.edges) {
      const [from, to] = [this.tables.get(tableOf(edge.source)), this.tables.get(tableOf(edge.target))];
      if (!from || !to || groupOf(from) === groupOf(to)) continue;
      const id = `${groupOf(from)}\n${groupOf(to)}`;
      pairs.set(id, (pairs.get(id) ?? new Set()).add(`${from.key}\n${to.key}`));
    }
    const flows = [...pairs].map(([id, of]) => ({ source: id.split("\n")[0]!, target: id.split("\n")[1]!, flows: of.size }));
    return { tables: this.tables.size, groups: [...groups.values()], flows, flowsCounted: true };
  }

  async notable() {
    const list = (by: (table: FileData["tables"][number]) => number | string) =>
      [...this.data.tables].sort((a, b) => (by(a) < by(b) ? 1 : by(a) > by(b) ? -1 : 0)).slice(0, 10);
    return {
      used: list((table) => table.reads).filter((table) => table.reads).map((table) => ({ table, reads: table.reads, at: table.lastRead })),
      recent: list((table) => table.lastSeen).map((table) => ({ table, reads: null, at: table.lastSeen })),
    };
  }

  async tablesOf(namespace: string, schema: string) {
    const tables = this.data.tables.filter((table) => table.namespace === namespace && schemaOf(table.name) === schema);
    return { tables, total: tables.length, after: null };
  }

  async named(by: "owner" | "domain") {
    const counts = new Map<string, number>();
    for (const table of this.data.tables) for (const name of namesOf(table, by)) counts.set(name, (counts.get(name) ?? 0) + 1);
    const names = [...counts].map(([name, tables]) => ({ name, tables })).sort((a, b) => b.tables - a.tables || (a.name < b.name ? -1 : 1));
    return { names, total: names.length, without: this.data.tables.filter((table) => !namesOf(table, by).length).length };
  }

  async tablesOfNamed(by: "owner" | "domain", name: string) {
    const tables = this.data.tables.filter((table) => namesOf(table, by).includes(name));
    return { tables, total: tables.length, after: null };
  }

  async search(text: string) {
    const part = ownerIn(text)?.toLowerCase();
    if (part) {
      const owned = this.data.tables.filter((table) => table.owners.some((owner) => owner.toLowerCase().includes(part)));
      return { hits: owned.slice(0, HITS).map(tableHit), total: owned.length };
    }
    const tag = /^(?:tag:|#)\s*(\S.*)$/.exec(text)?.[1];
    const wanted = text.toLowerCase();
    const words = wanted.split(/\s+/);
    const is = (name: string, tags: string[]) => (tag ? tags.includes(tag) : words.every((word) => name.toLowerCase().includes(word)));
    const tables = this.data.tables.filter((one) => is(one.name, one.tags)).map((one) => ({ key: one.key, name: one.name, context: one.namespace, kind: one.kind }));
    const columns = this.data.columns
      .filter((one) => is(`${this.tables.get(one.table)?.name}.${one.path}`, one.tags) && (tag || wanted.includes(".") || one.path.toLowerCase().includes(words.at(-1)!)))
      .map((one) => ({ key: one.key, name: one.path, context: this.tables.get(one.table)?.name ?? one.table, kind: "column" }));
    const rank = (name: string) => (name.toLowerCase() === wanted ? 0 : name.toLowerCase().startsWith(wanted) ? 1 : 2);
    const hits = [...tables, ...columns].sort((a, b) => rank(a.name) - rank(b.name) || a.name.length - b.name.length || (a.key < b.key ? -1 : 1));
    return { hits: hits.slice(0, HITS), total: hits.length };
  }

  async hop({ of, direction, kinds, maxEdges }: HopQuestion): Promise<Hop> {
    const paths = this.pathsOf(kinds);
    const edges = new Set<EdgeInfo>();
    const counts = new Map<string, number>();
    const ends = new Set<string>();
    for (const key of of) {
      const near = isColumn(key) ? [key] : [key, ...(this.columnsOf.get(key) ?? []).map((column) => column.key)];
      const mine = new Set<string>();
      for (const node of near) {
        for (const edge of paths.from(node, direction)) {
          const end = direction === "DOWNSTREAM" ? edge.target : edge.source;
          // What decides the rows of a table is one hop from the table, not from each of its columns.
          if (direction === "UPSTREAM" && isColumn(node) && !isColumn(edge.target)) continue;
          edges.add(edge);
          mine.add(end);
          ends.add(end);
        }
      }
      counts.set(key, mine.size);
    }
    const all = [...edges];
    return { ...this.partOf(all.slice(0, maxEdges)), totalEdges: all.length, totalTables: new Set([...ends].map(tableOf)).size, counts };
  }

  async closure({ key, direction, kinds }: ReachQuestion) {
    const light = this.pathsOf(kinds).light(key, direction);
    return { ...this.partOf([...light.edges.keys()]), truncated: null };
  }

  async reach({ key, direction, kinds }: ReachQuestion) {
    const columns = [...this.pathsOf(kinds).light(key, direction).nodes.keys()].filter(isColumn);
    return { columns: columns.length, tables: new Set(columns.map(tableOf)).size, isLowerBound: false };
  }

  async reached({ key, direction, kinds }: ReachQuestion, after: string) {
    const paths = this.pathsOf(kinds);
    const light = paths.light(key, direction);
    const hops = paths.hops([key]);
    const nodes = [...light.nodes].filter(([node]) => this.byColumn.has(node));
    const from = Number(after || 0);
    const rows = nodes.slice(from, from + PAGE).map(([node, lit]) => ({
      column: this.byColumn.get(node)!,
      table: this.tables.get(tableOf(node))!,
      hops: Math.abs(hops.get(node) ?? 0),
      influence: [...(lit & 1 ? ["CONTRIBUTES" as const] : []), ...(lit & 2 ? ["REFERENCES" as const] : [])],
      how: [],
      masked: false,
    }));
    return { rows, total: nodes.length, after: from + PAGE < nodes.length ? String(from + PAGE) : null };
  }

  async columns(key: string) {
    const columns = this.columnsOf.get(key) ?? [];
    return { table: this.table(key), columns, total: columns.length, after: null };
  }

  async extras(tables: TableInfo[]) {
    const extra = (table: TableInfo): [string, Extra] => [table.key, { columns: this.columnsOf.get(table.key)?.length ?? 0, lastRead: this.tables.get(table.key)?.lastRead ?? null }];
    return new Map(tables.map(extra));
  }

  async marks(columns: readonly string[]) {
    const held = (key: string): [string, HeldClass[]][] => (this.byColumn.get(key)?.classes ?? []).length ? [[key, this.byColumn.get(key)!.classes!]] : [];
    return { marks: new Map(columns.flatMap(held)), cut: "" };
  }

  async details(key: string): Promise<Details> {
    const table = this.table(tableOf(key));
    const column = isColumn(key) ? this.byColumn.get(key) : null;
    if (column === undefined) throw new Refusal("This file does not hold that column.", "NOT_FOUND");
    const jobs = this.data.jobs.filter((job) => job.reads.includes(table.key) || job.writes.includes(table.key));
    return {
      key,
      table,
      column,
      description: (column ?? table).description,
      tags: (column ?? table).tags,
      classes: [],
      stated: [],
      usage: { reads: 0, users: 0, lastRead: table.lastRead, days: [], topUsers: [] },
      jobs: jobs.slice(0, 12).map((job) => ({
        ...job,
        writes: job.writes.includes(table.key),
        feeds: job.writes.filter((one) => one !== table.key).map((one) => this.tables.get(one)?.name ?? one),
      })),
      moreJobs: Math.max(0, jobs.length - 12),
    };
  }

  async changes(): Promise<Changes> {
    return { edges: [], isLowerBound: false };
  }

  async paths(from: string, to: string, kinds: EdgeKind[]): Promise<EvidenceStep[][]> {
    return this.shortest(from, to, kinds);
  }

  async evidence(source: string, target: string, kind: EdgeKind): Promise<EvidenceStep[]> {
    return this.data.edges.filter((edge) => edge.source === source && edge.target === target && edge.kind === kind).map((edge) => this.stepOf(edge));
  }

  async extract(): Promise<StatementLineage[]> {
    throw new Refusal("An offline file cannot read SQL.", "OFFLINE");
  }

  async personalData(): Promise<never> {
    throw new Refusal("An offline file has no reports.", "OFFLINE");
  }

  async exposures(): Promise<never> {
    throw new Refusal("An offline file has no reports.", "OFFLINE");
  }

  async access(): Promise<never> {
    throw new Refusal("An offline file has no reports.", "OFFLINE");
  }

  async unused(): Promise<never> {
    throw new Refusal("An offline file has no reports.", "OFFLINE");
  }

  async describe(): Promise<void> {
    throw new Refusal("An offline file cannot be changed.", "OFFLINE");
  }

  async assertEdge(): Promise<void> {
    throw new Refusal("An offline file cannot be changed.", "OFFLINE");
  }

  async retireEdge(): Promise<number> {
    throw new Refusal("An offline file cannot be changed.", "OFFLINE");
  }

  private table(key: string): FileData["tables"][number] {
    const table = this.tables.get(key);
    if (!table) throw new Refusal("This file does not hold that table.", "NOT_FOUND");
    return table;
  }

  private pathsOf(kinds: readonly EdgeKind[]): Paths {
    const id = [...kinds].sort().join();
    const known = this.kept.get(id);
    if (known) return known;
    const paths = new Paths(
      this.data.edges.filter((edge) => kinds.includes(edge.kind)),
      this.byColumn.keys(),
    );
    this.kept.set(id, paths);
    return paths;
  }

  private partOf(edges: EdgeInfo[]): Part {
    const part = emptyPart();
    part.edges = edges;
    for (const edge of edges) {
      for (const end of [edge.source, edge.target]) {
        const table = this.tables.get(tableOf(end));
        const column = this.byColumn.get(end);
        if (table) part.tables.set(table.key, table);
        if (column) part.columns.set(end, column);
      }
      const job = this.jobs.get(edge.job);
      if (job) part.jobs.set(job.key, job);
    }
    return part;
  }

  private stepOf(edge: FileEdge): EvidenceStep {
    const job = this.jobs.get(edge.job) ?? null;
    const chains = edge.chains.map((chain) => chain.map(([start, end]) => ({ start, end })));
    return { source: edge.source, target: edge.target, kind: edge.kind, subtypes: edge.subtypes, masking: edge.masking, job, chains };
  }

  private shortest(from: string, to: string, kinds: EdgeKind[]): EvidenceStep[][] {
    const paths = this.pathsOf(kinds);
    const by = new Map<string, EdgeInfo>();
    let edge: string[] = [from];
    const direction: Direction = "DOWNSTREAM";
    while (edge.length && !by.has(to)) {
      const following: string[] = [];
      for (const key of edge) {
        for (const one of paths.from(key, direction)) {
          for (const end of isColumn(one.target) ? [one.target] : [one.target, ...paths.columnsOf(one.target)]) {
            if (end === from || by.has(end)) continue;
            by.set(end, one);
            following.push(end);
          }
        }
      }
      edge = following;
    }
    const steps: EvidenceStep[] = [];
    for (let at = to; at !== from; ) {
      const one = by.get(at);
      if (!one) return [];
      steps.unshift(this.stepOf(one as FileEdge));
      at = one.source;
    }
    return [steps];
  }
}
