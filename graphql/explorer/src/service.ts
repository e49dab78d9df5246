/** Questions to the GraphQL service that serves this page. */

import type { HeldClass } from "./marks";
import { type ColumnInfo, type EdgeInfo, type EdgeKind, type Hop, type JobInfo, type Part, type TableInfo, edgeId, emptyPart, partsOf, tableOf, words } from "./model";
import { Joining, refusalOf, type Reply } from "./joining";
import { compare } from "./picture";
import * as queries from "./queries";
import { Refusal, type Changes, type Details, type EvidenceStep, type Extra, type Hit, type HopQuestion, type ReachQuestion, type Source, type StatementLineage, hasWords, ownerIn, tableHit } from "./source";

// The shape of answers is the schema's; the browser tests hold the two together.
type Json = any;

const TOKEN = "lineage-token";
const KEPT = 400;

export class ServiceSource implements Source {
  private readonly answers = new Map<string, Promise<Json>>();
  /** Personal data by time and column: a step asks about what it adds only. */
  private readonly marked = new Map<string, Promise<Json>>();

  private readonly joining = new Joining((query, variables) => this.reply(query, variables));

  constructor(private readonly address: string) {}

  /** The token stays in this tab: other tabs and later sessions ask again. */
  static setToken(token: string): void {
    sessionStorage.setItem(TOKEN, token);
  }

  forget(): void {
    this.answers.clear();
    this.marked.clear();
  }

  async service() {
    const { service } = await this.askTogether(queries.SERVICE, {});
    const roles: string[] = service.roles;
    const isSteward = !service.readOnly && roles.includes("steward");
    return { version: service.version, isSteward, dialects: service.dialects, hasEditor: document.documentElement.dataset.editor !== undefined, readsSql: true, writtenAt: null, focus: [] };
  }

  async estate() {
    const { estate } = await this.ask(queries.ESTATE, {});
    const group = (namespace: string, schema: string) => `${namespace}/${schema}`;
    const flows = estate.flows.map((flow: Json) => ({
      source: group(flow.sourceNamespace, flow.sourceSchema),
      target: group(flow.targetNamespace, flow.targetSchema),
      flows: flow.flows,
    }));
    return { ...estate, flows };
  }

  async notable() {
    const found = await this.ask(queries.NOTABLE, {});
    return {
      used: found.topTables.nodes.map((one: Json) => ({ table: tableInfo(one.table), reads: one.reads, at: one.lastRead })),
      recent: found.tables.nodes.map((one: Json) => ({ table: tableInfo(one), reads: null, at: one.lastSeen })),
    };
  }

  async tablesOf(namespace: string, schema: string, after: string) {
    const { tables } = await this.ask(queries.TABLES, { namespace, schema: schema || null, after: after || null });
    return { tables: tables.nodes.map(tableInfo), total: tables.totalCount, after: next(tables) };
  }

  async named(by: "owner" | "domain") {
    const found = await this.ask(by === "owner" ? queries.OWNERS : queries.DOMAINS, {});
    const { nodes, totalCount, unownedTables, tablesWithout } = found.owners ?? found.domains;
    const names = nodes.map((one: Json) => ({ name: one.name, tables: one.tableCount }));
    return { names, total: totalCount, without: unownedTables ?? tablesWithout };
  }

  async tablesOfNamed(by: "owner" | "domain", name: string, after: string) {
    const page = { first: 100, after: after || null };
    const found = await (by === "owner" ? this.ask(queries.OWNED, { owner: name, exact: true, ...page }) : this.ask(queries.OF_DOMAIN, { domain: name, ...page }));
    const tables = found.ownedTables ?? found.domainTables;
    return { tables: tables.nodes.map(tableInfo), total: tables.totalCount, after: next(tables) };
  }

  async search(text: string, signal?: AbortSignal) {
    const owner = ownerIn(text);
    if (owner) {
      const { ownedTables } = await this.ask(queries.OWNED, { owner, exact: false, first: 12, after: null }, signal);
      return { hits: ownedTables.nodes.map((one: Json) => tableHit(tableInfo(one))), total: ownedTables.totalCount };
    }
    const tag = /^(?:tag:|#)\s*(\S.*)$/.exec(text)?.[1];
    if (tag) return this.searchFor({ text: "", tags: [tag], types: null, first: 12 }, signal);
    const found = await this.searchFor({ text, tags: null, types: null, first: 12 }, signal);
    const words = text.split(/\s+/);
    const last = words.length > 1 ? words.at(-1)! : partsOf(text).at(-1)!;
    if (last === text) return found;
    // The service finds columns by their own names: of `orders.amount` and `orders amount`, those of tables like `orders`.
    const more = await this.searchFor({ text: last, tags: null, types: words.length > 1 ? null : ["COLUMN"], first: 200 }, signal);
    const known = new Set(found.hits.map((hit) => hit.key));
    const hits = more.hits.filter((hit) => !known.has(hit.key) && hasWords(hit, words)).sort((a, b) => Number(a.kind === "column") - Number(b.kind === "column"));
    return { hits: [...found.hits, ...hits].slice(0, 12), total: found.total + hits.length };
  }

  private async searchFor(variables: { text: string; tags: string[] | null; types: string[] | null; first: number }, signal?: AbortSignal) {
    const { search } = await this.ask(queries.SEARCH, variables, signal);
    const hits = search.nodes.map((hit: Json): Hit => {
      const column = hit.node.__typename === "Column";
      const table = column ? hit.node.table : hit.node;
      return column
        ? { key: hit.key, name: hit.node.path, context: table.name, kind: "column" }
        : { key: hit.key, name: table.name, context: table.namespace, kind: table.kind.toLowerCase() };
    });
    return { hits: hits as Hit[], total: search.totalCount as number };
  }

  async hop({ edgesOnly, ...question }: HopQuestion): Promise<Hop> {
    const { adjacent } = await this.askTogether(edgesOnly ? queries.AROUND : queries.ADJACENT, { ...question, asOf: question.asOf || null });
    const counts = new Map<string, number>(adjacent.counts.map((one: Json) => [one.key, one.nodes]));
    return { ...partOf(adjacent), isWithin: Boolean(question.within), totalEdges: adjacent.totalEdges, totalTables: adjacent.totalTables, counts };
  }

  async closure(question: ReachQuestion) {
    const { subgraph } = await this.ask(queries.CLOSURE, starting(question));
    return { ...partOf(subgraph), truncated: subgraph.truncated as string | null };
  }

  async reach(question: ReachQuestion) {
    const { reached } = await this.ask(queries.reach(question.direction), starting(question));
    return { columns: reached.totalCount, tables: reached.tableCount, isLowerBound: reached.totalCountIsLowerBound };
  }

  async reached(question: ReachQuestion, after: string) {
    const { reached } = await this.ask(queries.reached(question.direction), { ...starting(question), after: after || null });
    const rows = reached.nodes.map((row: Json) => ({
      column: columnInfo(row.column),
      table: tableInfo(row.column.table),
      hops: row.hops,
      influence: row.influence,
      how: row.how,
      masked: row.masked,
    }));
    return { rows, total: reached.totalCount, after: next(reached) };
  }

  async columns(key: string, after: string) {
    const { table } = await this.ask(queries.COLUMNS, { key, after: after || null });
    if (!table) throw new Refusal("This table is not in the graph any more.", "NOT_FOUND");
    const columns = table.columns.nodes.map((one: Json) => columnInfo({ ...one, table: { key: table.key } }));
    return { table: tableInfo(table), columns, total: table.columns.totalCount, after: next(table.columns) };
  }

  async extras(tables: TableInfo[]) {
    const found = new Map<string, Extra>();
    for (let at = 0; at < tables.length; at += 200) {
      const { nodes } = await this.askTogether(queries.EXTRAS, { ids: tables.slice(at, at + 200).map((one) => one.id) });
      for (const one of nodes) if (one) found.set(one.key, { columns: one.columns.totalCount, lastRead: one.usage.lastRead });
    }
    return found;
  }

  async marks(columns: readonly string[], asOf: string) {
    const id = (key: string) => JSON.stringify([sessionStorage.getItem(TOKEN), asOf, key]);
    const fresh = columns.filter((key) => !this.marked.has(id(key)));
    if (fresh.length) {
      const asked = this.send(queries.MARKS, { columns: fresh, asOf: asOf || null });
      asked.catch(() => fresh.forEach((key) => this.marked.delete(id(key))));
      for (const key of fresh) this.marked.set(id(key), asked);
    }
    const answers = await Promise.all(new Set(columns.map((key) => this.marked.get(id(key))!)));
    const marks = new Map<string, HeldClass[]>();
    for (const { personalDataIn } of answers) {
      for (const { key, classes } of personalDataIn.columns) {
        marks.set(key, classes.map((one: Json) => ({ name: one.name, exposure: words(one.exposure), source: one.sourceKey })));
      }
    }
    const wanted = new Set(columns);
    for (const key of marks.keys()) if (!wanted.has(key)) marks.delete(key);
    return { marks, cut: answers.flatMap((one) => one.personalDataIn.cuts).join("; ") };
  }

  async details(key: string): Promise<Details> {
    const column = key.includes("#");
    const found = await (column ? this.askTogether(queries.COLUMN_DETAILS, { key, name: key }) : this.askTogether(queries.TABLE_DETAILS, { key }));
    const node = column ? found.column : found.table;
    if (!node) throw new Refusal("This is not in the graph any more.", "NOT_FOUND");
    const table = column ? node.table : node;
    return {
      key: node.key,
      table: tableInfo(table),
      column: column ? columnInfo(node) : null,
      description: node.description,
      tags: node.tags,
      classes: (found.columnTags ?? [])
        .filter((one: Json) => !one.denied)
        .map((one: Json) => ({ name: one.name, reason: [one.source, one.statedBy, one.why].filter(Boolean).join(", ") })),
      stated: node.facts.map((one: Json) => ({ ...one, tests: one.tests.map(test) })),
      usage: { ...node.usage, users: node.usage.distinctUsers },
      jobs: table.jobs.nodes.map((job: Json) => ({
        ...job,
        file: job.path ?? job.source,
        writes: job.writes.some((one: Json) => one.key === table.key),
        feeds: job.writes.filter((one: Json) => one.key !== table.key).map((one: Json) => one.name),
      })),
      moreJobs: table.jobs.totalCount - table.jobs.nodes.length,
    };
  }

  async changes(scope: string, since: string, asOf: string): Promise<Changes> {
    const { lineageDiff } = await this.ask(queries.CHANGES, { scope, asOfA: since, asOfB: asOf || new Date().toISOString() });
    const part = (side: "before" | "after") => ({ ...emptyPart(), edges: lineageDiff.nodes.flatMap((one: Json) => (one[side] ? [edgeInfo(one[side])] : [])) as EdgeInfo[] });
    const began = new Map<string, string>(lineageDiff.nodes.flatMap((one: Json) => (one.after ? [[edgeId(edgeInfo(one.after)), one.after.validFrom]] : [])));
    const edges = compare(part("before"), part("after")).edges.flatMap((edge) => (edge.change ? [{ ...edge, change: edge.change, at: began.get(edgeId(edge)) ?? null }] : []));
    // The scope is the beginning of a key: other tables may begin alike.
    return { edges: edges.filter((edge) => tableOf(edge.target) === scope), isLowerBound: lineageDiff.truncated || lineageDiff.nodes.length < lineageDiff.totalCount };
  }

  async paths(from: string, to: string, kinds: EdgeKind[], asOf: string): Promise<EvidenceStep[][]> {
    const { paths } = await this.ask(queries.PATHS, { from, to, kinds, asOf: asOf || null });
    return paths.map((path: Json) => path.steps.map(stepOf));
  }

  async evidence(source: string, target: string, kind: EdgeKind, asOf: string): Promise<EvidenceStep[]> {
    const variables = { of: [source], direction: "DOWNSTREAM", kinds: [kind], asOf: asOf || null };
    const { adjacent } = await this.ask(queries.EVIDENCE, variables);
    return adjacent.edges.filter((edge: Json) => edge.sourceKey === source && edge.targetKey === target).map(stepOf);
  }

  async extract(sql: string, dialect: string, schema: string, signal: AbortSignal): Promise<StatementLineage[]> {
    const { extract } = await this.ask(queries.EXTRACT, { sql, dialect, schema: schema || null }, signal);
    return extract.map((one: Json) => ({
      ...one,
      impact: one.impact && { columns: one.impact.totalCount, tables: one.impact.tableCount },
      edges: one.stated,
      diagnostics: one.diagnostics.map((found: Json) => ({ ...found, line: found.span?.line ?? null, column: found.span?.column ?? null })),
    }));
  }

  async personalData() {
    const { piiReport } = await this.ask(queries.PERSONAL_DATA, {});
    const sources = piiReport.sources.map((one: Json) => {
      const said = one.tags.filter((tag: Json) => !tag.denied);
      const reasons: string[] = said.map((tag: Json) => (tag.why ? `${tag.source}: ${tag.why}` : tag.source));
      return { key: one.key, name: one.name, classes: [...new Set(said.map((tag: Json) => tag.name))], reasons: [...new Set(reasons)], holders: one.totalCount };
    });
    return { classes: piiReport.classes, sources, total: piiReport.totalCount, blindSpots: piiReport.blindSpots };
  }

  async exposures(column: string) {
    const { exposures } = await this.ask(queries.EXPOSURES, { column });
    const influenced = exposures.influenced.map((one: Json) => one.name);
    return { ...exposures, total: exposures.totalCount, possibly: exposures.possiblyInTables, influenced };
  }

  async access(name: string) {
    const { piiReport, accessAudit } = await this.ask(queries.ACCESS, { classes: name ? [name] : null });
    return { ...accessAudit, classes: piiReport.classes, total: accessAudit.totalCount };
  }

  async unused(days: number) {
    const { unused } = await this.ask(queries.UNUSED, { days });
    return { ...unused, total: unused.totalCount };
  }

  async describe(of: string, change: { description?: string; tags?: string[] }) {
    await this.change(queries.DESCRIBE, { of, ...change });
  }

  async assertEdge(source: string, target: string, subtype: string, masking: boolean) {
    await this.change(queries.ASSERT, { source, target, subtype, masking });
  }

  async retireEdge(source: string, target: string, kind: EdgeKind, job: string | null) {
    return (await this.change(queries.RETIRE, { source, target, kind, job })).retireEdge.ended as number;
  }

  private async change(query: string, variables: object): Promise<Json> {
    const answer = await this.send(query, variables);
    this.forget();
    return answer;
  }

  private ask(query: string, variables: object, signal?: AbortSignal): Promise<Json> {
    return this.kept([query, variables], () => this.send(query, variables, signal));
  }

  /** Questions of one moment are sent as one document. */
  private askTogether(question: queries.Question, variables: Record<string, unknown>): Promise<Json> {
    return this.kept([question.fields, variables], () => this.joining.ask(question, variables));
  }

  /** An answer is kept under its whole question, and who asks it: roles see different things. One that failed or was given up is asked again. */
  private kept(asked: unknown[], ask: () => Promise<Json>): Promise<Json> {
    const question = JSON.stringify([...asked, sessionStorage.getItem(TOKEN)]);
    const kept = this.answers.get(question);
    if (kept) return kept;
    const answer = ask();
    this.answers.set(question, answer);
    if (this.answers.size > KEPT) this.answers.delete(this.answers.keys().next().value!);
    answer.catch(() => this.answers.delete(question));
    return answer;
  }

  private async send(query: string, variables: object, signal?: AbortSignal): Promise<Json> {
    const { data, errors } = await this.reply(query, variables, signal);
    if (errors[0]) throw refusalOf(errors[0]);
    return data;
  }

  private async reply(query: string, variables: object, signal?: AbortSignal): Promise<Reply> {
    const token = sessionStorage.getItem(TOKEN);
    const headers: Record<string, string> = { "Content-Type": "application/json" };
    if (token) headers.Authorization = `Bearer ${token}`;
    let reply: Response;
    try {
      reply = await fetch(this.address, { method: "POST", headers, body: JSON.stringify({ query, variables }), signal: signal ?? null });
    } catch (error) {
      if ((error as Error).name === "AbortError") throw error;
      throw new Refusal("The service does not answer.", "UNREACHABLE", "Is `lineage serve` still running?");
    }
    let body: Json;
    try {
      body = await reply.json();
    } catch {
      throw new Refusal(`The service answered with status ${reply.status}.`, "UNREACHABLE");
    }
    const errors = body.errors ?? [];
    if (!errors.length && !body.data) throw new Refusal(body.detail ?? body.title ?? `status ${reply.status}`, "REFUSED", body.hint ?? null);
    return { data: body.data, errors };
  }
}

function starting({ key, direction, kinds, asOf }: ReachQuestion) {
  const start = key.includes("#") ? { columns: [key], tables: null } : { columns: null, tables: [key] };
  return { ...start, direction: [direction], kinds, asOf: asOf || null };
}

const next = (page: Json): string | null => (page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null);

const test = (one: Json): string => `${one.kind}${one.status ? `: ${one.status}` : ""}`;

function tableInfo(found: Json): TableInfo {
  return {
    key: found.key,
    id: found.id,
    name: found.name,
    namespace: found.namespace,
    kind: found.kind.toLowerCase(),
    schemaKnown: found.schemaKnown,
    firstSeen: found.firstSeen,
    droppedAt: found.droppedAt,
    description: found.description,
    tags: [...new Set<string>([...found.tags, ...found.facts.flatMap((one: Json) => one.tags)])],
    owners: found.facts.flatMap((one: Json) => one.owner ?? []),
  };
}

function columnInfo(found: Json): ColumnInfo {
  const tags = new Set<string>([...found.tags, ...found.facts.flatMap((one: Json) => one.tags)]);
  return {
    key: found.key,
    path: found.path,
    table: found.table.key,
    dataType: found.dataType,
    tags: [...tags],
    inferred: found.inferred,
    droppedAt: found.droppedAt,
  };
}

function partOf(found: Json): Part {
  const part = emptyPart();
  for (const node of found.nodes ?? []) {
    const table = tableInfo(node.__typename === "Column" ? node.table : node);
    part.tables.set(table.key, table);
    if (node.__typename === "Column") part.columns.set(node.key, columnInfo(node));
  }
  for (const job of found.jobs ?? []) part.jobs.set(job.key, job as JobInfo);
  part.edges = found.edges.map(edgeInfo);
  return part;
}

const edgeInfo = (edge: Json): EdgeInfo => ({
  source: edge.sourceKey,
  target: edge.targetKey,
  kind: edge.kind,
  subtypes: edge.subtypes,
  masking: edge.masking,
  job: edge.jobKey,
});

function stepOf(step: Json): EvidenceStep {
  const job = step.job && { ...step.job, file: step.job.path ?? step.job.source, line: step.job.sourceLine };
  return { source: step.sourceKey, target: step.targetKey, kind: step.kind, subtypes: step.subtypes, masking: step.masking, job, chains: step.evidence };
}
