import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ServiceSource } from "../src/service";
import type { HopQuestion, ReachQuestion } from "../src/source";

const HOP: HopQuestion = { of: ["n/a"], direction: "UPSTREAM", kinds: ["CONTRIBUTES"], asOf: "", maxEdges: 10, edgesOnly: false, within: null };
const REACH: ReachQuestion = { key: "n/a#b", direction: "UPSTREAM", kinds: ["CONTRIBUTES"], asOf: "" };
const OTHER_HOPS: Required<HopQuestion> = { of: ["n/b"], direction: "DOWNSTREAM", kinds: ["CONTRIBUTES", "REFERENCES"], asOf: "2026-01-01T00:00:00Z", maxEdges: 11, edgesOnly: true, within: ["n/a"] };
const OTHER_REACH: ReachQuestion = { key: "n/a", direction: "DOWNSTREAM", kinds: ["CONTRIBUTES", "REFERENCES"], asOf: "2026-01-01T00:00:00Z" };

let sent: string[] = [];
let source: ServiceSource;
beforeEach(() => {
  sent = [];
  source = new ServiceSource("graphql");
  vi.stubGlobal("sessionStorage", { getItem: () => null });
  const adjacent = { nodes: [], edges: [], jobs: [], counts: [], totalEdges: 0, totalTables: 0 };
  const data = { adjacent, subgraph: { nodes: [], edges: [], truncated: null }, reached: { totalCount: 0, tableCount: 0, nodes: [], pageInfo: {} }, paths: [] };
  vi.stubGlobal("fetch", async (_: string, { body }: { body: string }) => {
    sent.push(body);
    return { json: async () => ({ data: { ...data, ...answersOf(body, data) } }) };
  });
});
afterEach(() => vi.unstubAllGlobals());

/** The answers of a joined document, under the names that it gives to its fields. */
function answersOf(body: string, data: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries([...JSON.parse(body).query.matchAll(/(q\d+_(\w+)):/g)].map(([, alias, field]) => [alias, data[field]]));
}

/** Every set of changes to a question, from none to all. */
function variants<Q extends object>(question: Q, other: Q): Q[] {
  const names = Object.keys(other) as (keyof Q)[];
  return Array.from({ length: 2 ** names.length }, (_, bits) => {
    const changed = names.filter((_, index) => bits & (1 << index));
    return { ...question, ...Object.fromEntries(changed.map((name) => [name, other[name]])) };
  });
}

const QUESTIONS: [string, object[], (question: never) => Promise<unknown>][] = [
  ["hop", variants(HOP, OTHER_HOPS), (question) => source.hop(question)],
  ["closure", variants(REACH, OTHER_REACH), (question) => source.closure(question)],
  ["reach", variants(REACH, OTHER_REACH), (question) => source.reach(question)],
  ["reached", variants({ ...REACH, after: "" }, { ...OTHER_REACH, after: "x" }), ((one: ReachQuestion & { after: string }) => source.reached(one, one.after)) as never],
  ["paths", variants({ from: "a", to: "b", kinds: HOP.kinds, asOf: "" }, { from: "c", to: "d", kinds: OTHER_HOPS.kinds, asOf: OTHER_HOPS.asOf }), ((one: { from: string; to: string } & ReachQuestion) => source.paths(one.from, one.to, one.kinds, one.asOf)) as never],
];

test.each(QUESTIONS)("an answer of %s is kept under its whole question", async (_, questions, ask) => {
  for (const question of questions) await ask(question as never);
  expect(new Set(sent).size).toBe(questions.length);
  for (const question of questions) await ask(question as never);
  expect(sent.length).toBe(questions.length);
});

test("after a change, and for another token, the service is asked again", async () => {
  await source.hop(HOP);
  source.forget();
  await source.hop(HOP);
  vi.stubGlobal("sessionStorage", { getItem: () => "another" });
  await source.hop(HOP);
  expect(sent.length).toBe(3);
});
