import { describe, expect, test } from "vitest";
import { CLAUSES } from "../src/model";
import { fromFragment, NO_FILTERS, START, startingAt, toFragment, type View } from "../src/view";

const FULL: View = {
  page: "lineage",
  of: ["postgres://h:5432/a.b#c&d=e", 'n/s."T <b>"#x'],
  steps: [
    { direction: "UPSTREAM", key: "n/a#b:c", all: false },
    { direction: "DOWNSTREAM", key: "n/a", all: true },
  ],
  filters: { clauses: ["FILTER", "JOIN"], hops: 3, masking: "masked", namespace: "n", schema: "s", tag: "pii", owner: "o'x", jobKind: "DBT", text: "ä?", unread: 90 },
  asOf: "2026-01-31",
  since: "2026-01-01",
  focus: "n/a#b",
  selected: "n/a#b",
  list: true,
  wide: ["n/a", "n/b"],
  open: { "0d:n/a?b": 10 },
};

/** Each property of a view, changed alone: whatever the URL loses, back and forward would lose. */
const CHANGES: [string, Partial<View>][] = [
  ["of", { of: ["n/other"] }],
  ["steps", { steps: [] }],
  ...Object.keys(NO_FILTERS).map((name): [string, Partial<View>] => [name, { filters: { ...FULL.filters, [name]: NO_FILTERS[name as keyof typeof NO_FILTERS] } }]),
  ["asOf", { asOf: "" }],
  ["since", { since: "" }],
  ["focus", { focus: "" }],
  ["selected", { selected: "" }],
  ["list", { list: false }],
  ["wide", { wide: [] }],
  ["open", { open: {} }],
];

describe("a view and its URL", () => {
  test("are the same, whatever is in names", () => {
    const reports: View[] = [
      { ...START, page: "personal-data", filters: { ...NO_FILTERS, tag: "e&mail" }, selected: "n/a#b" },
      { ...START, page: "access", filters: { ...NO_FILTERS, tag: "e&mail", masking: "unmasked" } },
      { ...START, page: "unused", filters: { ...NO_FILTERS, unread: 30 } },
    ];
    for (const view of [START, { ...START, page: "sql" } as View, ...reports, FULL, startingAt(["n/a"])]) expect(fromFragment(`#${toFragment(view)}`)).toEqual(view);
  });

  test.each(CHANGES)("%s is in the URL", (_, change) => {
    const changed = { ...FULL, ...change };
    expect(toFragment(changed)).not.toBe(toFragment(FULL));
    expect(fromFragment(toFragment(changed))).toEqual(changed);
  });

  test("nonsense is left out", () => {
    const view = fromFragment("#/lineage?of=n/a&step=x:y&hops=-3&masking=what&asOf=tomorrow&references=filter,drop&open=a:b&unread=1e9");
    expect(view).toEqual({ ...startingAt(["n/a"]), selected: "", filters: { ...NO_FILTERS, clauses: ["FILTER"] } });
    for (const text of ["", "#", "#/", "#/lineage", "#/nowhere?of=x", "#%"]) expect(fromFragment(text)).toEqual(START);
  });

  test("all clauses are one word", () => {
    expect(toFragment({ ...START, page: "lineage", of: ["a"], filters: { ...NO_FILTERS, clauses: [...CLAUSES] } })).toBe("/lineage?of=a&references=all");
  });
});
