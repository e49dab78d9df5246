/** The picture of a view: which cards, rows and lines it has, and why others are missing. */

import { Paths } from "./light";
import {
  CLAUSES,
  type Change,
  type Clause,
  type ColumnInfo,
  type Direction,
  type EdgeInfo,
  type EdgeKind,
  type Hop,
  type Part,
  type TableInfo,
  edgeId,
  emptyPart,
  flowId,
  groupBy,
  isColumn,
  schemaOf,
  tableOf,
} from "./model";
import type { Extra } from "./source";
import { NO_FILTERS, type Filters, type View } from "./view";

export const ROWS_AT_MOST = 14;
const SIBLINGS = 6;
const HEADER = 52;
const ROW = 26;
const FOOT = 30;

/** A question that a picture asks: one hop from a node, or everything in a direction. */
export interface Ask {
  id: string;
  key: string;
  direction: Direction;
  all: boolean;
}

export interface Stack {
  id: string;
  schema: string;
  tables: TableInfo[];
  shown: number;
}

export interface Card {
  id: string;
  /** The number of the ask that brought it: cards of later asks are placed later. */
  order: number;
  table: TableInfo | null;
  stack: Stack | null;
  rows: ColumnInfo[];
  /** Columns that are in play, rows or not. */
  inPlay: number;
  wide: boolean;
  height: number;
}

/** A line between two anchors: a row, or the head of a card. */
export interface Line {
  source: string;
  target: string;
  kind: EdgeKind;
  edges: EdgeInfo[];
  change: Change | null;
}

export interface Missing {
  text: string;
  action: string;
  isFocus: boolean;
  /** The view without the cause. */
  lift: View;
}

export interface Picture {
  /** What is shown, in stacks and below the foot of cards as well. */
  part: Part;
  nodes: ReadonlySet<string>;
  cards: Card[];
  lines: Line[];
  paths: Paths;
  hops: Map<string, number>;
  missing: Missing[];
  /** Edges whose job was not fully resolved: there may be more than is shown. */
  partial: EdgeInfo[];
  /** The row or card that stands for a node. */
  anchorOf(key: string): string | null;
  /** How many columns and tables the next hop would add; at least so many if not all are known. */
  more(key: string, direction: Direction): { count: number; isLowerBound: boolean };
}

export interface Answers {
  /** Answers by the id of their ask. */
  asks: Map<string, Part>;
  /** One hop around everything shown, in both directions. */
  around: { UPSTREAM: Hop[]; DOWNSTREAM: Hop[] };
  extras: Map<string, Extra>;
  allColumns: Map<string, ColumnInfo[]>;
}

export const kindsOf = (clauses: readonly Clause[]): EdgeKind[] => (clauses.length ? ["CONTRIBUTES", "REFERENCES"] : ["CONTRIBUTES"]);

/** Whether what lies beyond is counted by its edges, one by one: the service knows how many there are, not of which clause. */
export const countsEdges = ({ clauses, masking, jobKind }: Filters): boolean =>
  masking !== "" || jobKind !== "" || (clauses.length > 0 && clauses.length < CLAUSES.length);

/** The questions of a view, in order. */
export function asksOf(view: View): Ask[] {
  const asks: Ask[] = [];
  const add = (key: string, direction: Direction, all: boolean) => {
    const id = `${direction === "UPSTREAM" ? "u" : "d"}${all ? "*" : ""}:${key}`;
    if (!asks.some((ask) => ask.id === id)) asks.push({ id, key, direction, all });
  };
  for (const key of view.of) {
    add(key, "UPSTREAM", false);
    add(key, "DOWNSTREAM", false);
  }
  for (const step of view.steps) add(step.key, step.direction, step.all);
  return asks;
}

export function join(parts: Iterable<Part>): Part {
  const joined = emptyPart();
  const edges = new Map<string, EdgeInfo>();
  for (const part of parts) {
    part.tables.forEach((table, key) => joined.tables.set(key, table));
    part.columns.forEach((column, key) => joined.columns.set(key, column));
    part.jobs.forEach((job, key) => joined.jobs.set(key, job));
    part.edges.forEach((edge) => edges.set(edgeId(edge), edge));
  }
  joined.edges = [...edges.values()];
  return joined;
}

/** The graph at two times as one, each edge with how it changed. A job that states what another stated is no change. */
export function compare<P extends Part>(before: P, after: P): P {
  const joined = join([before, after]);
  const [was, is] = [howOf(before), howOf(after)];
  const gone = before.edges.filter((edge) => !is.has(flowId(edge))).map((edge): EdgeInfo => ({ ...edge, change: "gone" }));
  const edges = after.edges.map((edge): EdgeInfo => {
    const id = flowId(edge);
    return was.get(id) === is.get(id) ? edge : { ...edge, change: was.has(id) ? "changed" : "added" };
  });
  return { ...after, ...joined, edges: [...edges, ...gone] };
}

/** How each value flows, by its two ends. */
function howOf(part: Part): Map<string, string> {
  const how = (edges: EdgeInfo[]) => [...new Set(edges.flatMap((edge) => edge.subtypes)), edges.some((edge) => !edge.masking)].sort().join();
  return new Map([...groupBy(part.edges, flowId)].map(([id, edges]) => [id, how(edges)]));
}

export function pictureOf(view: View, answers: Answers, now: Date): Picture {
  const asks = asksOf(view).filter((ask) => answers.asks.has(ask.id));
  const all = join([...answers.asks.values(), ...answers.around.UPSTREAM, ...answers.around.DOWNSTREAM]);
  const order = orderOf(view, asks, answers);
  const shown = filtered(all, order, view, answers, now);
  const part: Part = { ...all, edges: shown.edges };
  const { cards, anchors } = cardsOf(view, part, shown.nodes, order, answers);
  const anchorOf = (key: string) => anchors.get(key) ?? anchors.get(tableOf(key)) ?? null;
  const paths = new Paths(shown.edges, shown.nodes);
  return {
    part,
    nodes: shown.nodes,
    cards,
    lines: linesOf(shown.edges, anchorOf),
    paths,
    hops: paths.hops(view.of),
    missing: missingOf(view, all, order, shown, answers, now),
    partial: shown.edges.filter((edge) => (part.jobs.get(edge.job)?.completeness ?? "FULL") !== "FULL"),
    anchorOf,
    more: moreOf(view, order, answers),
  };
}

/** The nodes of a view by the number of the ask that brought them. Starts have number 0. */
function orderOf(view: View, asks: readonly Ask[], answers: Answers): Map<string, number> {
  const order = new Map<string, number>(view.of.map((key) => [key, 0]));
  asks.forEach((ask, index) => {
    for (const edge of answers.asks.get(ask.id)!.edges) {
      for (const end of [edge.source, edge.target]) if (!order.has(end)) order.set(end, Math.max(0, index + 1 - 2 * view.of.length));
    }
  });
  return order;
}

interface Shown {
  nodes: Set<string>;
  edges: EdgeInfo[];
}

function filtered(all: Part, order: ReadonlyMap<string, number>, view: View, answers: Answers, now: Date): Shown {
  const { filters } = view;
  const starts = new Set(view.of);
  const startTables = new Set(view.of.map(tableOf));
  const admits = (key: string) => startTables.has(tableOf(key)) || admitsTable(all, tableOf(key), key, filters, answers, now);
  let edges = all.edges.filter(
    (edge) => order.has(edge.source) && order.has(edge.target) && admitsEdge(edge, all, filters) && admits(edge.source) && admits(edge.target),
  );
  if (filters.hops !== null) {
    const hops = new Paths(edges, order.keys()).hops(view.of);
    const near = (key: string) => Math.abs(hops.get(key) ?? Infinity) <= filters.hops!;
    edges = edges.filter((edge) => near(edge.source) && near(edge.target));
  }
  if (view.focus) {
    const paths = new Paths(edges, order.keys());
    const lit = new Set([...paths.light(view.focus, "DOWNSTREAM").edges.keys(), ...paths.light(view.focus, "UPSTREAM").edges.keys()]);
    edges = edges.filter((edge) => lit.has(edge));
    if (order.has(view.focus)) starts.add(view.focus);
  }
  const nodes = new Set<string>(starts);
  for (const edge of edges) nodes.add(edge.source).add(edge.target);
  return { nodes, edges };
}

function admitsEdge(edge: EdgeInfo, part: Part, filters: Filters): boolean {
  if (edge.kind === "REFERENCES" && !edge.subtypes.some((one) => filters.clauses.includes(one as Clause))) return false;
  if (filters.masking && edge.kind === "CONTRIBUTES" && edge.masking !== (filters.masking === "masked")) return false;
  return !filters.jobKind || part.jobs.get(edge.job)?.kind === filters.jobKind;
}

function admitsTable(part: Part, key: string, node: string, filters: Filters, answers: Answers, now: Date): boolean {
  const table = part.tables.get(key);
  if (!table) return true;
  const text = filters.text.toLowerCase();
  if (filters.namespace && table.namespace !== filters.namespace) return false;
  if (filters.schema && schemaOf(table.name) !== filters.schema) return false;
  if (filters.tag && ![...table.tags, ...(part.columns.get(node)?.tags ?? [])].includes(filters.tag)) return false;
  if (filters.owner && !table.owners.includes(filters.owner)) return false;
  if (text && !`${table.name}.${part.columns.get(node)?.path ?? ""}`.toLowerCase().includes(text)) return false;
  if (filters.unread === null) return true;
  const extra = answers.extras.get(key);
  if (!extra) return true;
  return extra.lastRead !== null && now.getTime() - Date.parse(extra.lastRead) <= filters.unread * 86_400_000;
}

function cardsOf(view: View, part: Part, nodes: ReadonlySet<string>, order: ReadonlyMap<string, number>, answers: Answers) {
  const columns = new Map<string, ColumnInfo[]>();
  const firstOrder = new Map<string, number>();
  for (const key of nodes) {
    firstOrder.set(tableOf(key), Math.min(order.get(key) ?? 0, firstOrder.get(tableOf(key)) ?? Infinity));
    const list = columns.get(tableOf(key)) ?? [];
    columns.set(tableOf(key), list);
    const column = part.columns.get(key);
    if (column) list.push(column);
  }
  const starts = new Set(view.of.map(tableOf));
  const stacks = new Map<string, { order: number; schema: string; keys: string[] }>();
  for (const key of columns.keys()) {
    const table = part.tables.get(key);
    if (!table || starts.has(key) || view.focus) continue;
    const schema = schemaOf(table.name) || table.namespace;
    const at = firstOrder.get(key) ?? 0;
    const side = part.edges.some((edge) => tableOf(edge.target) === key) ? "d" : "u";
    const id = `${at}${side}:${table.namespace}/${schema}`;
    const stack = stacks.get(id) ?? { order: at, schema, keys: [] };
    stacks.set(id, stack);
    stack.keys.push(key);
  }
  const anchors = new Map<string, string>();
  const cards: Card[] = [];
  const stacked = new Set<string>();
  for (const [id, { order: at, schema, keys }] of stacks) {
    const shown = view.open[id] ?? 0;
    if (keys.length <= SIBLINGS || keys.length - shown < 2) continue;
    const hidden = keys.sort((a, b) => (a < b ? -1 : 1)).slice(shown);
    const tables = hidden.map((key) => part.tables.get(key)!);
    hidden.forEach((key) => {
      stacked.add(key);
      anchors.set(key, `stack:${id}`);
    });
    const stack = { id, schema, tables, shown };
    cards.push({ id: `stack:${id}`, order: at, table: null, stack, rows: [], inPlay: 0, wide: false, height: HEADER + FOOT });
  }
  for (const [key, inPlay] of columns) {
    if (stacked.has(key)) continue;
    const table = part.tables.get(key) ?? unknownTable(key);
    const wide = view.wide.includes(key);
    const rows = wide ? (answers.allColumns.get(key) ?? inPlay) : inPlay.sort(byPath(answers.allColumns.get(key))).slice(0, ROWS_AT_MOST);
    anchors.set(key, key);
    rows.forEach((column) => anchors.set(column.key, column.key));
    const height = HEADER + rows.length * ROW + FOOT;
    cards.push({ id: key, order: firstOrder.get(key) ?? 0, table, stack: null, rows, inPlay: inPlay.length, wide, height });
  }
  cards.sort((a, b) => a.order - b.order || (a.id < b.id ? -1 : 1));
  return { cards, anchors };
}

/** The height of a row's middle below the top of its card. */
export const rowAt = (index: number): number => HEADER + index * ROW + ROW / 2;
export const HEAD_AT = HEADER / 2;

const unknownTable = (key: string): TableInfo => ({
  key,
  id: "",
  name: key.slice(key.lastIndexOf("/") + 1),
  namespace: key.slice(0, key.lastIndexOf("/")),
  kind: "table",
  schemaKnown: false,
  firstSeen: null,
  droppedAt: null,
  description: null,
  tags: [],
  owners: [],
});

function byPath(ordered: readonly ColumnInfo[] | undefined): (a: ColumnInfo, b: ColumnInfo) => number {
  const at = new Map((ordered ?? []).map((column, index) => [column.key, index]));
  return (a, b) => (at.get(a.key) ?? 0) - (at.get(b.key) ?? 0) || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
}

function linesOf(edges: readonly EdgeInfo[], anchorOf: (key: string) => string | null): Line[] {
  const lines = new Map<string, Line>();
  for (const edge of edges) {
    const source = anchorOf(edge.source);
    const target = anchorOf(edge.target);
    if (source === null || target === null || source === target) continue;
    const id = `${source}\n${target}\n${edge.kind}`;
    const line = lines.get(id);
    const change = edge.change ?? null;
    if (line) {
      line.edges.push(edge);
      if (line.change !== change) line.change = "changed";
    } else lines.set(id, { source, target, kind: edge.kind, edges: [edge], change });
  }
  return [...lines.values()];
}

type More = Picture["more"];

/** What the next hop would add to a node, from an index that is made once for each direction. */
function moreOf(view: View, order: ReadonlyMap<string, number>, answers: Answers): More {
  const indexes = new Map<Direction, { ends: Map<string, Set<string>>; totals: Map<string, number>; beyond: Map<string, number> }>();
  const indexOf = (direction: Direction) => {
    const ends = new Map<string, Set<string>>();
    const totals = new Map<string, number>();
    const beyond = new Map<string, number>();
    const here = shownEnds(answers, order, direction);
    for (const hop of answers.around[direction]) {
      if (hop.isWithin) {
        hop.counts.forEach((count, key) => beyond.set(key, Math.max(0, count - (here.get(key)?.size ?? 0))));
        continue;
      }
      // Exact counts are needed only where not all edges were sent.
      if (hop.edges.length < hop.totalEdges) hop.counts.forEach((count, key) => totals.set(key, count));
      for (const edge of hop.edges) {
        const [near, far] = direction === "DOWNSTREAM" ? [edge.source, edge.target] : [edge.target, edge.source];
        if (order.has(far) || !admitsEdge(edge, hop, view.filters)) continue;
        for (const key of isColumn(near) ? [...familyOf(near), tableOf(near)] : [near]) {
          const known = ends.get(key);
          if (known) known.add(far);
          else ends.set(key, new Set([far]));
        }
      }
    }
    return { ends, totals, beyond };
  };
  return (key, direction) => {
    const index = indexes.get(direction) ?? indexOf(direction);
    indexes.set(direction, index);
    const count = index.beyond.get(key) ?? index.ends.get(key)?.size ?? 0;
    const total = index.totals.get(key);
    if (total === undefined) return { count, isLowerBound: false };
    return { count: Math.max(count, total - order.size), isLowerBound: true };
  };
}

/** What is shown one hop from each node; what is gone at the later date is not counted there. */
function shownEnds(answers: Answers, order: ReadonlyMap<string, number>, direction: Direction): Map<string, Set<string>> {
  const ends = new Map<string, Set<string>>();
  for (const part of [...answers.asks.values(), ...answers.around.UPSTREAM, ...answers.around.DOWNSTREAM]) {
    for (const edge of part.edges) {
      const [near, far] = direction === "DOWNSTREAM" ? [edge.source, edge.target] : [edge.target, edge.source];
      if (edge.change === "gone" || !order.has(far)) continue;
      // What leads to itself leads to nothing more.
      for (const key of isColumn(near) && near !== far ? [...familyOf(near), tableOf(near)] : [near]) {
        if (key === far) continue;
        const known = ends.get(key);
        if (known) known.add(far);
        else ends.set(key, new Set([far]));
      }
    }
  }
  return ends;
}

/** A column and the columns that it is a field of. */
function familyOf(key: string): string[] {
  const start = key.indexOf("#");
  const found = [key];
  for (let at = key.indexOf(".", start); at > 0; at = key.indexOf(".", at + 1)) found.push(key.slice(0, at));
  return found;
}

/** Which filters hide something, each with what it hides alone. */
function missingOf(view: View, all: Part, order: ReadonlyMap<string, number>, shown: Shown, answers: Answers, now: Date): Missing[] {
  const found: Missing[] = [];
  const tables = (some: Shown) => new Set([...some.nodes].map(tableOf));
  const visible = tables(shown);
  const attempt = (name: string, action: string, lift: View) => {
    const isFocus = lift.focus !== view.focus;
    const other = filtered(all, order, lift, answers, now);
    const count = [...tables(other)].filter((key) => !visible.has(key)).length;
    const lines = other.edges.length - shown.edges.length;
    if (count > 0) found.push({ text: `${count === 1 ? "1 table is" : `${count} tables are`} hidden by ${name}.`, action, isFocus, lift });
    else if (lines > 0) found.push({ text: `${lines === 1 ? "1 line is" : `${lines} lines are`} hidden by ${name}.`, action, isFocus, lift });
  };
  const without = (change: Partial<Filters>): View => ({ ...view, filters: { ...view.filters, ...change } });
  const { filters } = view;
  if (view.focus) attempt("the focus on one column", "Leave the focus", { ...view, focus: "" });
  if (filters.hops !== null) attempt(`the limit of ${filters.hops} hops`, "Show all hops", without({ hops: null }));
  if (filters.masking) attempt(`the filter “${filters.masking} only”`, "Show all", without({ masking: "" }));
  if (filters.unread !== null) attempt(`“read in the last ${filters.unread} days”`, "Show unread tables", without({ unread: null }));
  for (const [name, label] of [
    ["namespace", "system"],
    ["schema", "schema"],
    ["tag", "tag"],
    ["owner", "owner"],
    ["jobKind", "kind of job"],
    ["text", "name"],
  ] as const) {
    if (filters[name]) attempt(`the filter by ${label}`, "Remove it", without({ [name]: "" }));
  }
  const several = JSON.stringify({ ...filters, clauses: [] }) !== JSON.stringify(NO_FILTERS) || view.focus !== "";
  if (several && !found.length) {
    attempt("the filters together", "Remove all filters", { ...view, focus: "", filters: { ...NO_FILTERS, clauses: filters.clauses } });
  }
  return found;
}
