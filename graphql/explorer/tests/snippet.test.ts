import { expect, test } from "vitest";
import { snippetOf } from "../src/snippet";

const marked = (sql: string, ...spans: [number, number][]) =>
  snippetOf(sql, spans.map(([start, end]) => ({ start, end }))).flatMap((line) => line.pieces.filter((piece) => piece.marked).map((piece) => `${line.number}:${piece.text}`));

test("the span is marked, with a line around it", () => {
  const sql = "select\n  a,\n  b,\n  c,\n  d\nfrom t";
  const at = sql.indexOf("c,");
  expect(marked(sql, [at, at + 1])).toEqual(["4:c"]);
  expect(snippetOf(sql, [{ start: at, end: at + 1 }]).map((line) => line.number)).toEqual([3, 4, 5]);
});

test("offsets are code points, as the service counts", () => {
  const sql = "select '😀😀' as x, amount from t";
  const at = [...sql].join("").length - "amount from t".length - 2;
  expect(marked(sql, [at, at + 6])).toEqual(["1:amount"]);
});

test("a span over lines, several spans, and what was left out", () => {
  const sql = Array.from({ length: 20 }, (_, at) => `line${at}`).join("\n");
  expect(marked(sql, [0, 9])).toEqual(["1:line0", "2:lin"]);
  const lines = snippetOf(sql, [{ start: 0, end: 5 }, { start: sql.indexOf("line15"), end: sql.indexOf("line15") + 6 }]);
  expect(lines.filter((line) => line.gap).map((line) => line.number)).toEqual([15]);
  expect(marked("", [0, 0])).toEqual([]);
});

test("of a long line, what is around the span", () => {
  const sql = `${"x, ".repeat(3000)}target${", y".repeat(3000)}`;
  const [line] = snippetOf(sql, [{ start: 9000, end: 9006 }]);
  expect(line!.pieces.map((piece) => piece.text).join("").length).toBeLessThan(500);
  expect(line!.pieces.find((piece) => piece.marked)!.text).toBe("target");
});
