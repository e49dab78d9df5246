/** The state of the page, and its form in the URL: the fragment, which no server sees. */

import { CLAUSES, type Clause, type Direction } from "./model";

/** A step of exploring: one hop from a node, or everything above or below it. */
export interface Step {
  direction: Direction;
  key: string;
  all: boolean;
}

export interface Filters {
  /** References shown beside contributions, by clause. */
  clauses: Clause[];
  /** The farthest column, in hops from the start. */
  hops: number | null;
  masking: "" | "masked" | "unmasked";
  namespace: string;
  schema: string;
  tag: string;
  owner: string;
  jobKind: string;
  text: string;
  /** Hide tables that nobody read for so many days. */
  unread: number | null;
}

export interface View {
  page: "start" | "lineage" | "sql" | "personal-data" | "access" | "unused";
  /** Where the picture starts: columns or tables. */
  of: string[];
  steps: Step[];
  filters: Filters;
  /** The date of the graph; now if empty. */
  asOf: string;
  /** The earlier date of a comparison. */
  since: string;
  /** The column whose lineage alone is shown. */
  focus: string;
  /** What the side panel is about. */
  selected: string;
  list: boolean;
  /** Tables that show all of their columns. */
  wide: string[];
  /** Stacks, and how many of their tables are out of them. */
  open: Record<string, number>;
}

export const NO_FILTERS: Filters = {
  clauses: [],
  hops: null,
  masking: "",
  namespace: "",
  schema: "",
  tag: "",
  owner: "",
  jobKind: "",
  text: "",
  unread: null,
};

export const START: View = {
  page: "start",
  of: [],
  steps: [],
  filters: NO_FILTERS,
  asOf: "",
  since: "",
  focus: "",
  selected: "",
  list: false,
  wide: [],
  open: {},
};

const TEXTS = ["namespace", "schema", "tag", "owner", "jobKind", "text"] as const;

/** The fragment of a view, without `#`. Equal views have equal fragments. */
export function toFragment(view: View): string {
  const out = new URLSearchParams();
  if (view.page === "personal-data") {
    if (view.filters.tag) out.set("class", view.filters.tag);
    if (view.selected) out.set("column", view.selected);
  } else if (view.page === "access") {
    if (view.filters.tag) out.set("class", view.filters.tag);
    if (view.filters.masking) out.set("shows", view.filters.masking);
  } else if (view.page === "unused" && view.filters.unread !== null) out.set("days", String(view.filters.unread));
  if (view.page !== "lineage") return `/${view.page === "start" ? "" : view.page}${out.size ? `?${out}` : ""}`;
  view.of.forEach((key) => out.append("of", key));
  view.steps.forEach(({ direction, key, all }) => out.append("step", `${direction === "UPSTREAM" ? "u" : "d"}${all ? "*" : ""}:${key}`));
  const { filters } = view;
  if (filters.clauses.length) {
    const all = filters.clauses.length === CLAUSES.length;
    out.set("references", all ? "all" : CLAUSES.filter((one) => filters.clauses.includes(one)).join(",").toLowerCase());
  }
  if (filters.hops !== null) out.set("hops", String(filters.hops));
  if (filters.masking) out.set("masking", filters.masking);
  for (const name of TEXTS) if (filters[name]) out.set(name, filters[name]);
  if (filters.unread !== null) out.set("unread", String(filters.unread));
  if (view.asOf) out.set("asOf", view.asOf);
  if (view.since) out.set("since", view.since);
  if (view.focus) out.set("focus", view.focus);
  if (view.selected) out.set("selected", view.selected);
  if (view.list) out.set("list", "1");
  view.wide.forEach((key) => out.append("wide", key));
  Object.entries(view.open).forEach(([stack, shown]) => out.append("open", `${shown}:${stack}`));
  return `/lineage?${out}`;
}

/** The view of a fragment; what it does not understand is left out. */
export function fromFragment(fragment: string): View {
  const [path = "", query = ""] = split(fragment.replace(/^#/, ""), "?");
  if (path === "/sql") return { ...START, page: "sql" };
  const given = new URLSearchParams(query);
  if (path === "/personal-data") {
    return { ...START, page: "personal-data", filters: { ...NO_FILTERS, tag: given.get("class") ?? "" }, selected: given.get("column") ?? "" };
  }
  if (path === "/access") {
    return { ...START, page: "access", filters: { ...NO_FILTERS, tag: given.get("class") ?? "", masking: maskingOf(given.get("shows")) } };
  }
  if (path === "/unused") {
    const days = number(given.get("days"));
    return { ...START, page: "unused", filters: { ...NO_FILTERS, unread: days !== null && days >= 1 && days <= 36_500 ? days : null } };
  }
  const of = given.getAll("of").filter(Boolean);
  if (path !== "/lineage" || !of.length) return START;
  const date = (name: string) => (Number.isNaN(Date.parse(given.get(name) ?? "")) ? "" : (given.get(name) ?? ""));
  return {
    page: "lineage",
    of,
    steps: given.getAll("step").flatMap(stepOf),
    filters: {
      clauses: clausesOf(given.get("references")),
      hops: number(given.get("hops")),
      masking: maskingOf(given.get("masking")),
      ...(Object.fromEntries(TEXTS.map((name) => [name, given.get(name) ?? ""])) as Record<(typeof TEXTS)[number], string>),
      unread: number(given.get("unread")),
    },
    asOf: date("asOf"),
    since: date("since"),
    focus: given.get("focus") ?? "",
    selected: given.get("selected") ?? "",
    list: given.has("list"),
    wide: given.getAll("wide"),
    open: Object.fromEntries(
      given.getAll("open").flatMap((text) => {
        const [shown = "", stack = ""] = split(text, ":");
        const count = number(shown);
        return stack && count !== null ? [[stack, count] as const] : [];
      }),
    ),
  };
}

/** The view of a new picture of some nodes; what one looks for and when stays. */
export const startingAt = (of: string[], before: View = START): View => ({
  ...START,
  page: "lineage",
  of,
  filters: { ...NO_FILTERS, clauses: before.filters.clauses },
  asOf: before.asOf,
  since: before.since,
  selected: of[0] ?? "",
});

function stepOf(text: string): Step[] {
  const match = /^([ud])(\*?):(.+)$/s.exec(text);
  return match ? [{ direction: match[1] === "u" ? "UPSTREAM" : "DOWNSTREAM", all: match[2] === "*", key: match[3]! }] : [];
}

function clausesOf(text: string | null): Clause[] {
  const named = new Set((text ?? "").toUpperCase().split(","));
  return CLAUSES.filter((one) => named.has("ALL") || named.has(one));
}

const maskingOf = (text: string | null): Filters["masking"] => (text === "masked" || text === "unmasked" ? text : "");

function number(text: string | null): number | null {
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : null;
}

function split(text: string, at: string): [string, string] {
  const index = text.indexOf(at);
  return index < 0 ? [text, ""] : [text.slice(0, index), text.slice(index + 1)];
}
