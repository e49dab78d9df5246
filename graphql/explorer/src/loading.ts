/** Loading of what a view asks for, step by step: its hops, then what is around them. */

import { useEffect, useMemo, useState } from "react";
import { groupBy, type ColumnInfo, type Hop, type Part, type TableInfo, tableOf } from "./model";
import { usePage } from "./navigation";
import { type Answers, type Ask, asksOf, compare, join, kindsOf, countsEdges } from "./picture";
import type { Extra, HopQuestion, Source } from "./source";
import type { View } from "./view";

const EDGES = 1_500;
const TABLES_AT_ONCE = 25;
const NODES_AT_ONCE = 500;
/** Beyond it the page does not look around: the list is shown. */
export const MOST_CARDS = 300;

/** The part of an answer that was not sent. */
export interface Cut {
  ask: Ask;
  text: string;
}

export interface Loaded {
  answers: Answers;
  cuts: Cut[];
  /** What is still awaited. */
  busy: boolean;
  error: Error | null;
  retry(): void;
}

const NOTHING: Answers = { asks: new Map(), around: { UPSTREAM: [], DOWNSTREAM: [] }, extras: new Map(), allColumns: new Map() };

/** The time that a date stands for: its end, so that what happened on the day counts. */
export const timeOf = (date: string): string => (/^\d{4}-\d\d-\d\d$/.test(date) ? `${date}T23:59:59Z` : date);

export function useLoaded(view: View): Loaded {
  const { source } = usePage();
  const [attempt, setAttempt] = useState(0);
  const [state, setState] = useState<{ question: string; start: string; loaded: Omit<Loaded, "retry"> } | null>(null);
  const question = JSON.stringify([asksOf(view), kindsOf(view.filters.clauses), countsEdges(view.filters), view.asOf, view.since, view.wide, attempt]);
  const start = JSON.stringify([view.of, view.asOf, view.since]);
  useEffect(() => {
    let current = true;
    const publish = (loaded: Omit<Loaded, "retry">) => {
      if (current) setState({ question, start, loaded });
    };
    load(source, view, publish).catch((error: Error) => publish({ answers: NOTHING, cuts: [], busy: false, error }));
    return () => {
      current = false;
    };
    // The question holds all of the view that loading depends on.
  }, [source, question]);
  return useMemo(() => {
    const retry = () => setAttempt((count) => count + 1);
    // What is shown stays while more of the same picture is loaded.
    if (state?.question === question) return { ...state.loaded, retry };
    if (state?.start === start && !state.loaded.error) return { ...state.loaded, busy: true, retry };
    return { answers: NOTHING, cuts: [], busy: true, error: null, retry };
  }, [state, question, start]);
}

async function load(source: Source, view: View, publish: (loaded: Omit<Loaded, "retry">) => void): Promise<void> {
  const cuts: Cut[] = [];
  const kinds = kindsOf(view.filters.clauses);
  const asks = new Map<string, Part>();
  const answersOf = asksOf(view).map(async (ask): Promise<[Ask, Part]> => {
    if (!ask.all) return [ask, await hopAt(source, view, { of: [ask.key], direction: ask.direction, kinds, maxEdges: EDGES })];
    const at = (asOf: string) => source.closure({ key: ask.key, direction: ask.direction, kinds, asOf: timeOf(asOf) });
    const [now, before] = await Promise.all([at(view.asOf), view.since ? at(view.since) : null]);
    if (now.truncated) cuts.push({ ask, text: `Not everything is shown: ${now.truncated}.` });
    const whole = before && !before.truncated && !now.truncated;
    if (before && !whole) cuts.push({ ask, text: "There are too many edges to compare." });
    return [ask, whole ? compare(before, now) : now];
  });
  const [answered, starts] = await Promise.all([Promise.all(answersOf), startsOf(source, view)]);
  for (const [ask, part] of answered) {
    asks.set(ask.id, part);
    const hop = part as Partial<Hop>;
    if (hop.totalEdges !== undefined && hop.totalEdges > part.edges.length) {
      cuts.push({ ask, text: `${part.edges.length.toLocaleString("en")} of ${hop.totalEdges.toLocaleString("en")} edges are shown${view.since ? ", and not compared" : ""}.` });
    }
  }
  asks.set("starts", starts);
  const allColumns = new Map<string, ColumnInfo[]>();
  const shown = join(asks.values());
  let answers: Answers = { ...NOTHING, asks, allColumns };
  for (const key of view.wide) if (shown.tables.has(key)) allColumns.set(key, await everyColumn(source, key));
  // Lines between what is shown decide where cards are placed: the picture waits for them.
  if (shown.tables.size <= MOST_CARDS) {
    const batches = batchesOf([starts, ...answered.map(([, part]) => part)]);
    const [extras, UPSTREAM, DOWNSTREAM] = await Promise.all([
      Promise.all(batches.map((batch) => source.extras(batch.tables))),
      around(source, view, batches, "UPSTREAM"),
      around(source, view, batches, "DOWNSTREAM"),
    ]);
    answers = { asks, allColumns, extras: new Map(extras.flatMap((some) => [...some])), around: { UPSTREAM, DOWNSTREAM } };
  }
  publish({ answers, cuts, busy: false, error: null });
}

/** The starts themselves: a column without lineage is shown, too. */
async function startsOf(source: Source, view: View): Promise<Part> {
  const part = join([]);
  for (const key of view.of) {
    const details = await source.details(key);
    part.tables.set(details.table.key, details.table);
    if (details.column) part.columns.set(details.column.key, details.column);
  }
  return part;
}

interface Batch {
  tables: TableInfo[];
  of: string[];
  /** All that is known up to it: lines to what comes later are found from there. */
  within: string[];
}

/** What each answer adds to those before it, by some tables at once: a further step asks for what it adds only. */
export function batchesOf(parts: readonly Part[]): Batch[] {
  const known = new Set<string>();
  const batches: Batch[] = [];
  for (const part of parts) {
    const tables = [...part.tables.values()].filter((table) => !known.has(table.key));
    const fresh = [...part.columns.keys()].filter((key) => !known.has(key));
    const columns = groupBy(fresh, tableOf);
    for (const key of [...part.tables.keys(), ...fresh]) known.add(key);
    const within = [...known];
    const whole = new Set(tables.map((table) => table.key));
    const rest = fresh.filter((key) => !whole.has(tableOf(key)));
    for (let at = 0; at < tables.length; at += TABLES_AT_ONCE) {
      const some = tables.slice(at, at + TABLES_AT_ONCE);
      batches.push({ tables: some, of: some.flatMap((table) => [table.key, ...(columns.get(table.key) ?? [])]).slice(0, NODES_AT_ONCE), within });
    }
    for (let at = 0; at < rest.length; at += NODES_AT_ONCE) batches.push({ tables: [], of: rest.slice(at, at + NODES_AT_ONCE), within });
  }
  return batches;
}

async function around(source: Source, view: View, batches: readonly Batch[], direction: "UPSTREAM" | "DOWNSTREAM"): Promise<Hop[]> {
  const kinds = kindsOf(view.filters.clauses);
  const all = countsEdges(view.filters);
  return Promise.all(batches.map(({ of, within }) => hopAt(source, view, { of, direction, kinds, maxEdges: EDGES, edgesOnly: true, within: all ? null : within })));
}

const isCut = (hop: Hop): boolean => hop.edges.length < hop.totalEdges;

async function hopAt(source: Source, view: View, question: Omit<HopQuestion, "asOf">): Promise<Hop> {
  const at = (asOf: string) => source.hop({ ...question, asOf: timeOf(asOf) });
  if (!view.since) return at(view.asOf);
  const [before, now] = await Promise.all([at(view.since), at(view.asOf)]);
  // What was not sent of one time would look added or gone.
  return isCut(before) || isCut(now) ? now : compare(before, now);
}

async function everyColumn(source: Source, table: string): Promise<ColumnInfo[]> {
  const columns: ColumnInfo[] = [];
  for (let after: string | null = ""; after !== null; ) {
    const page = await source.columns(table, after);
    columns.push(...page.columns);
    after = columns.length < 2_000 ? page.after : null;
  }
  return columns;
}

/** What is known of tables beyond the picture, such as when they were last read. */
export function useExtras(tables: readonly TableInfo[]): Map<string, Extra> {
  const { source } = usePage();
  const [extras, setExtras] = useState(new Map<string, Extra>());
  const keys = tables.map((table) => table.key).join("\n");
  useEffect(() => {
    let current = true;
    source.extras([...tables]).then((found) => current && setExtras(found), () => undefined);
    return () => {
      current = false;
    };
  }, [source, keys]);
  return extras;
}

/** The answer to a question of a component; asked again when `question` changes. An empty one waits. */
export function useAnswer<T>(question: string, ask: () => Promise<T>): { answer: T | null; error: Error | null; busy: boolean } {
  const [state, setState] = useState<{ question: string; answer: T | null; error: Error | null }>({ question: "", answer: null, error: null });
  useEffect(() => {
    if (!question) return;
    let current = true;
    ask().then(
      (answer) => current && setState({ question, answer, error: null }),
      (error: Error) => current && setState({ question, answer: null, error }),
    );
    return () => {
      current = false;
    };
  }, [question]);
  const mine = question !== "" && state.question === question;
  return { answer: mine ? state.answer : null, error: mine ? state.error : null, busy: !mine };
}
