import { describe, expect, test } from "vitest";
import { CLAUSES, tableOf } from "../src/model";
import { type Answers, asksOf, compare, pictureOf } from "../src/picture";
import { admitsReached, csvOf, rowsOf, unheeded } from "../src/rows";
import type { ReachedRow } from "../src/source";
import { NO_FILTERS, startingAt, type View } from "../src/view";
import { hop, keyOf, table } from "./parts";

const NOW = new Date("2026-06-01T00:00:00Z");
const CENTRE = keyOf("shop.orders.amount");
const view = (filters: Partial<View["filters"]> = {}, more: Partial<View> = {}): View => ({ ...startingAt([CENTRE]), filters: { ...NO_FILTERS, ...filters }, ...more });

function answers(up: string, down: string, around: Partial<Answers> = {}): Answers {
  const asks = new Map([
    [`u:${CENTRE}`, hop(up)],
    [`d:${CENTRE}`, hop(down)],
  ]);
  return { asks, around: { UPSTREAM: [], DOWNSTREAM: [] }, extras: new Map(), allColumns: new Map(), ...around };
}

const SMALL = answers("raw.lines.price -> shop.orders.amount", "shop.orders.amount -> mart.revenue.total\nshop.orders.amount -> mart.hidden.hash masked\nshop.orders.amount ~FILTER> mart.big");
const shown = (of: View, from = SMALL) => pictureOf(of, from, NOW).cards.map((card) => card.id.replace("n/", "")).sort();

describe("a picture", () => {
  test("has contributions, and references by clause", () => {
    expect(shown(view())).toEqual(["mart.hidden", "mart.revenue", "raw.lines", "shop.orders"]);
    expect(shown(view({ clauses: [...CLAUSES] }))).toContain("mart.big");
    expect(shown(view({ clauses: ["JOIN"] }))).not.toContain("mart.big");
  });

  test.each<[Partial<View["filters"]>, string[]]>([
    [{ masking: "unmasked" }, ["mart.revenue", "raw.lines", "shop.orders"]],
    [{ masking: "masked" }, ["mart.hidden", "shop.orders"]],
    [{ schema: "mart" }, ["mart.hidden", "mart.revenue", "shop.orders"]],
    [{ text: "REVENUE" }, ["mart.revenue", "shop.orders"]],
    [{ tag: "pii" }, ["shop.orders"]],
    [{ hops: 0 }, ["shop.orders"]],
  ])("%j shows %j, and says what it hides, with what lifts it", (filters, expected) => {
    const picture = pictureOf(view(filters), SMALL, NOW);
    expect(shown(view(filters))).toEqual(expected);
    expect(picture.missing).toHaveLength(1);
    expect(picture.missing[0]!.text).toContain(`${4 - expected.length} table`);
    expect(shown(picture.missing[0]!.lift)).toHaveLength(4);
  });

  test("two filters that hide together what neither hides alone have one remedy", () => {
    const both = view({ schema: "raw", masking: "masked" });
    expect(shown(both)).toEqual(["shop.orders"]);
    const { missing } = pictureOf(both, SMALL, NOW);
    expect(missing.map((one) => shown(one.lift).length).every((count) => count > 1)).toBe(true);
  });

  test("hides what was not read", () => {
    const extras = new Map([
      [keyOf("mart.revenue"), { columns: 1, lastRead: "2026-05-20T00:00:00Z" }],
      [keyOf("mart.hidden"), { columns: 1, lastRead: "2026-01-01T00:00:00Z" }],
      [keyOf("raw.lines"), { columns: 1, lastRead: null }],
    ]);
    expect(shown(view({ unread: 90 }), { ...SMALL, extras })).toEqual(["mart.revenue", "shop.orders"]);
  });

  test("of a focus has its lineage alone", () => {
    expect(shown(view({}, { focus: keyOf("mart.revenue.total") }))).toEqual(["mart.revenue", "raw.lines", "shop.orders"]);
  });

  test("of a start without lineage is that start", () => {
    const alone = answers("", "");
    alone.asks.set("starts", { tables: new Map([[tableOf(CENTRE), table("shop.orders")]]), columns: new Map(), jobs: new Map(), edges: [] });
    expect(shown(view(), alone)).toEqual(["shop.orders"]);
  });

  test("stacks siblings, a stack stands for its columns, and opens by steps", () => {
    const many = answers("", Array.from({ length: 27 }, (_, at) => `shop.orders.amount -> mart.t${String(at).padStart(2, "0")}.x`).join("\n"));
    const picture = pictureOf(view(), many, NOW);
    const stack = picture.cards.find((card) => card.stack)!;
    expect(picture.cards).toHaveLength(2);
    expect(stack.stack!.tables).toHaveLength(27);
    expect(picture.anchorOf(keyOf("mart.t07.x"))).toBe(stack.id);
    expect(picture.lines).toHaveLength(1);
    const opened = pictureOf(view({}, { open: { [stack.stack!.id]: 10 } }), many, NOW);
    expect(opened.cards.filter((card) => card.table)).toHaveLength(11);
    expect(opened.cards.find((card) => card.stack)!.stack!.tables).toHaveLength(17);
    expect(rowsOf(opened, [CENTRE], new Map())).toEqual(rowsOf(picture, [CENTRE], new Map()));
  });

  test("knows what the next hop would add, and says when it knows a lower bound only", () => {
    const beyond = hop("mart.revenue.total -> report.a.x\nmart.revenue.total -> report.b.x\nmart.revenue.total -> mart.hidden.hash\nmart.revenue.other -> report.c.x\nmart.revenue.total ~JOIN> report.d");
    const around = { UPSTREAM: [], DOWNSTREAM: [beyond] };
    const more = (of: View, hops = around) => pictureOf(of, { ...SMALL, around: hops }, NOW).more;
    expect(more(view())(keyOf("mart.revenue.total"), "DOWNSTREAM")).toEqual({ count: 2, isLowerBound: false });
    expect(more(view())(keyOf("mart.revenue"), "DOWNSTREAM")).toEqual({ count: 3, isLowerBound: false });
    expect(more(view({ clauses: ["JOIN"] }))(keyOf("mart.revenue.total"), "DOWNSTREAM").count).toBe(3);
    const cut = { UPSTREAM: [], DOWNSTREAM: [{ ...beyond, totalEdges: 900, counts: new Map([[keyOf("mart.revenue.total"), 800]]) }] };
    const found = more(view(), cut)(keyOf("mart.revenue.total"), "DOWNSTREAM");
    expect(found.isLowerBound).toBe(true);
    expect(found.count).toBeGreaterThan(700);
  });

  test("knows it as well where only lines between what is shown were sent", () => {
    const between = hop("mart.revenue.total -> mart.hidden.hash");
    const counts = new Map([[keyOf("mart.revenue.total"), 3], [keyOf("mart.revenue"), 4]]);
    const around = { UPSTREAM: [], DOWNSTREAM: [{ ...between, isWithin: true, counts }] };
    const { more } = pictureOf(view(), { ...SMALL, around }, NOW);
    expect(more(keyOf("mart.revenue.total"), "DOWNSTREAM")).toEqual({ count: 2, isLowerBound: false });
    expect(more(keyOf("mart.revenue"), "DOWNSTREAM").count).toBe(3);
    expect(more(keyOf("raw.lines"), "DOWNSTREAM").count).toBe(0);
  });

  test("shows edges between what is shown, whoever brought them", () => {
    const between = hop("mart.revenue.total -> mart.hidden.hash");
    const picture = pictureOf(view(), { ...SMALL, around: { UPSTREAM: [], DOWNSTREAM: [between] } }, NOW);
    expect(picture.lines.map((line) => line.source)).toContain(keyOf("mart.revenue.total"));
  });
});

test("two dates are compared edge by edge", () => {
  const joined = compare(hop("a.t.x -> a.u.x\na.t.y -> a.u.y"), hop("a.t.x -> a.u.x\na.t.z -> a.u.z"));
  expect(Object.fromEntries(joined.edges.map((edge) => [edge.source.slice(-1), edge.change]))).toEqual({ x: undefined, y: "gone", z: "added" });
});

test("another transformation or masking is a change, another job is none", () => {
  const masked = compare(hop("a.t.x -> a.u.x"), hop("a.t.x -> a.u.x masked"));
  expect(masked.edges.map((edge) => edge.change)).toEqual(["changed"]);
  const after = hop("a.t.x -> a.u.x");
  const renamed = compare(hop("a.t.x -> a.u.x"), { ...after, edges: after.edges.map((edge) => ({ ...edge, job: "file:renamed" })) });
  expect(renamed.edges.map((edge) => [edge.job, edge.change])).toEqual([["file:renamed", undefined]]);
});

test("each question is asked once, in order", () => {
  const steps: View["steps"] = [{ direction: "DOWNSTREAM", key: "n/b", all: false }, { direction: "DOWNSTREAM", key: CENTRE, all: false }, { direction: "UPSTREAM", key: "n/b", all: true }];
  expect(asksOf(view({}, { steps })).map((ask) => ask.id)).toEqual([`u:${CENTRE}`, `d:${CENTRE}`, "d:n/b", "u*:n/b"]);
});

describe("the list", () => {
  test("has the columns of the picture, with how they are related", () => {
    const picture = pictureOf(view({ clauses: [...CLAUSES] }), SMALL, NOW);
    const rows = rowsOf(picture, [CENTRE], new Map());
    expect(rows.map((row) => [row.table, row.column, row.hops, row.relation, row.masking])).toEqual([
      ["shop.orders", "amount", 0, "start", ""],
      ["raw.lines", "price", -1, "contribution", ""],
      ["mart.big", "(rows)", 1, "reference", ""],
      ["mart.hidden", "hash", 1, "contribution", "masked"],
      ["mart.revenue", "total", 1, "contribution", ""],
    ]);
  });

  test("of more than a picture holds has the same filters, and names those that it cannot heed", () => {
    const [column] = SMALL.asks.get(`u:${CENTRE}`)!.columns.values();
    const row: ReachedRow = { column: { ...column!, tags: ["pii"] }, table: table("raw.lines"), hops: 3, influence: ["CONTRIBUTES"], how: [], masked: true };
    const passes = (filters: Partial<View["filters"]>) => admitsReached(row, { ...NO_FILTERS, ...filters });
    for (const filters of [{}, { hops: 3 }, { masking: "masked" }, { schema: "raw" }, { tag: "pii" }, { text: "LINES" }] as const) expect(passes(filters)).toBe(true);
    for (const filters of [{ hops: 2 }, { masking: "unmasked" }, { schema: "mart" }, { tag: "x" }, { text: "no" }, { namespace: "m" }, { owner: "o" }] as const) expect(passes(filters)).toBe(false);
    expect(unheeded(view({ unread: 90, jobKind: "DBT", clauses: ["JOIN"] }, { focus: CENTRE, since: "2026-01-01" }))).toHaveLength(5);
    expect(unheeded(view({ clauses: [...CLAUSES], schema: "raw" }))).toEqual([]);
  });

  test("is CSV that no spreadsheet calculates", () => {
    const [row] = rowsOf(pictureOf(view(), SMALL, NOW), [CENTRE], new Map());
    const [, line] = csvOf([{ ...row!, table: '=cmd|"/c"', column: "a,b\nc", hops: -1 }]).split("\r\n");
    expect(line).toBe(`"'=cmd|""/c""","a,b\nc",,-1,start,identity,,,,,,`);
  });
});
