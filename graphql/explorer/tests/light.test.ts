import { expect, test } from "vitest";
import { BOTH, CONTRIBUTION, Paths, REFERENCE } from "../src/light";
import { hop, keyOf } from "./parts";

// Example 1 of the LineageX paper, as far as web.page matters.
const PAPER = hop(`
  s.web.page -> s.webinfo.wpage
  s.web.date -> s.webinfo.wdate
  s.web.date ~FILTER> s.webinfo
  s.webinfo.wpage -> s.webact.wpage
  s.web.page -> s.webact.wpage
  s.webinfo.wdate -> s.webact.wdate
  s.webinfo.wpage ~SET_OPERATION> s.webact
  s.web.page ~SET_OPERATION> s.webact
  s.webact.wpage -> s.info.wpage
  s.webact.wdate -> s.info.wdate
  s.webact.wcid ~JOIN> s.info
  s.customers.name -> s.info.name
`);
const paths = new Paths(PAPER.edges, []);
const lit = (start: string, direction: "UPSTREAM" | "DOWNSTREAM") =>
  Object.fromEntries([...paths.light(keyOf(start), direction).nodes].map(([key, as]) => [key.slice(4).replace("#", "."), as]));

test("downstream of web.page: webinfo.wpage by value, all of webact and info by influence", () => {
  expect(lit("s.web.page", "DOWNSTREAM")).toEqual({
    "webinfo.wpage": CONTRIBUTION,
    webact: REFERENCE,
    "webact.wpage": BOTH,
    "webact.wdate": REFERENCE,
    "webact.wcid": REFERENCE,
    info: REFERENCE,
    "info.wpage": BOTH,
    "info.wdate": REFERENCE,
    "info.name": REFERENCE,
  });
});

test("upstream of info.wpage", () => {
  const found = lit("s.info.wpage", "UPSTREAM");
  expect(found["web.page"]).toBe(BOTH);
  expect(found["webact.wcid"]).toBe(REFERENCE);
  expect(found["web.date"]).toBe(REFERENCE);
  expect(found).not.toHaveProperty("customers.name");
});

test("a cycle ends, and a column lights what follows it once around", () => {
  const around = new Paths(hop("s.a.x -> s.b.x\ns.b.x -> s.a.x").edges, []);
  expect(around.light(keyOf("s.a.x"), "DOWNSTREAM").nodes).toEqual(new Map([[keyOf("s.b.x"), CONTRIBUTION], [keyOf("s.a.x"), CONTRIBUTION]]));
  expect(around.hops([keyOf("s.a.x")])).toEqual(new Map([[keyOf("s.a.x"), 0], [keyOf("s.b.x"), 1]]));
});

test("hops are negative upstream, and siblings have a distance, too", () => {
  const all = new Paths(hop("s.a.x -> s.b.x\ns.b.x -> s.c.x\ns.a.x -> s.d.x").edges, []);
  const hops = all.hops([keyOf("s.b.x")]);
  expect([..."abcd"].map((name) => hops.get(keyOf(`s.${name}.x`)))).toEqual([-1, 0, 1, 2]);
});

test("a field belongs to its column", () => {
  const nested = new Paths(hop("s.a.address.city -> s.b.city").edges, [keyOf("s.a.address")]);
  expect([...nested.light(keyOf("s.a.address"), "DOWNSTREAM").nodes.keys()]).toEqual([keyOf("s.b.city")]);
});
