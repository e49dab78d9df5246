import { expect, test, vi } from "vitest";
import { FileSource } from "../src/file";
import { hiddenMarks, type HeldClass, markable, type Marks, MASKED, READABLE, signOf, textOf } from "../src/marks";
import { pictureOf } from "../src/picture";
import { csvOf, HEADINGS, matching, rowsOf, withMarks } from "../src/rows";
import { ServiceSource } from "../src/service";
import { startingAt } from "../src/view";
import { hop, keyOf } from "./parts";

const CENTRE = keyOf("shop.users.email");
const held = (name: string, exposure: string): HeldClass => ({ name, exposure, source: CENTRE });
const EMAIL = held("email", "unmasked");
const HASH = held("email", "masked");

function pictured(down: string, open = {}) {
  const asks = new Map([[`d:${CENTRE}`, hop(down)]]);
  return pictureOf({ ...startingAt([CENTRE]), open }, { asks, around: { UPSTREAM: [], DOWNSTREAM: [] }, extras: new Map(), allColumns: new Map() }, new Date());
}

test.each<[HeldClass[], string, string]>([
  [[EMAIL], READABLE, "email (unmasked)"],
  [[HASH], MASKED, "email (masked)"],
  [[HASH, held("phone", "partial")], READABLE, "email (masked), phone (partial)"],
])("a mark has a shape and words: %j", (classes, sign, text) => {
  expect(signOf(classes)).toBe(sign);
  expect(textOf(classes)).toBe(text);
});

test("the list says of each column what the picture marks, whether it has a row or is in a stack", () => {
  const lines = Array.from({ length: 9 }, (_, at) => `shop.users.email -> mart.t${at}.x`).join("\n");
  const marks: Marks = new Map([[CENTRE, [EMAIL]], [keyOf("mart.t3.x"), [HASH]], [keyOf("mart.t5.x"), [HASH]]]);
  for (const open of [{}, { "0d:n/mart": 4 }]) {
    const picture = pictured(lines, open);
    expect(new Set(markable(picture))).toEqual(new Set([...picture.nodes].filter((key) => key.includes("#"))));
    const rows = withMarks(rowsOf(picture, [CENTRE], new Map()), marks);
    expect(new Map(rows.filter((row) => row.personal).map((row) => [row.key, row.personal]))).toEqual(new Map([...marks].map(([key, classes]) => [key, textOf(classes)])));
    const onRows = picture.cards.flatMap((card) => card.rows).filter((row) => marks.has(row.key)).length;
    const hidden = [...hiddenMarks(picture, marks).values()].reduce((sum, { count }) => sum + count, 0);
    expect(onRows + hidden).toBe(marks.size);
    expect(hidden).toBe("0d:n/mart" in open ? 1 : 2);
    for (const { count, masked } of hiddenMarks(picture, marks).values()) expect(masked).toBe(count);
    expect(matching(rows, "(masked)")).toHaveLength(2);
    const at = HEADINGS.findIndex(([name]) => name === "personal");
    expect(csvOf(rows).split("\r\n")[1]!.split(",")[at]).toBe("email (unmasked)");
  }
});

test("a column is asked about once, and again after a change or at another time", async () => {
  const asked: string[][] = [];
  vi.stubGlobal("sessionStorage", { getItem: () => null });
  vi.stubGlobal("fetch", async (_: string, { body }: { body: string }) => {
    const { columns } = JSON.parse(body).variables;
    asked.push(columns);
    const found = columns.filter((key: string) => key !== "n/a#plain").map((key: string) => ({ key, classes: [{ name: "email", exposure: "MASKED", sourceKey: CENTRE }] }));
    return { json: async () => ({ data: { personalDataIn: { columns: found, cuts: [] } } }) };
  });
  const source = new ServiceSource("graphql");
  expect((await source.marks(["n/a#x", "n/a#plain"], "")).marks).toEqual(new Map([["n/a#x", [HASH]]]));
  expect((await source.marks(["n/a#plain", "n/b#y"], "")).marks).toEqual(new Map([["n/b#y", [HASH]]]));
  await source.marks(["n/a#x"], "2026-01-01");
  source.forget();
  await source.marks(["n/a#x"], "");
  expect(asked).toEqual([["n/a#x", "n/a#plain"], ["n/b#y"], ["n/a#x"], ["n/a#x"]]);
  vi.unstubAllGlobals();
});

test("a file has the marks of when it was written", async () => {
  const column = { key: CENTRE, path: "email", table: "n/shop.users", dataType: null, tags: [], inferred: false, droppedAt: null, description: null };
  const data = { version: "", writtenAt: "", focus: [], tables: [], columns: [{ ...column, classes: [EMAIL] }, { ...column, key: "n/a#b" }], edges: [], jobs: [] };
  expect((await new FileSource(data).marks([CENTRE, "n/a#b", "n/c#d"])).marks).toEqual(new Map([[CENTRE, [EMAIL]]]));
});
