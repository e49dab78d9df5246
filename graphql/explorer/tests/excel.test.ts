import { strFromU8, unzipSync } from "fflate";
import { expect, test } from "vitest";
import { excelOf } from "../src/excel";
import type { ListRow } from "../src/rows";

const ROW: ListRow = { key: "k", table: "a", column: "b", dataType: "int", hops: -2, relation: "both", subtypes: "", masking: "", change: "", personal: "", tags: "", owner: "", lastRead: "" };

test("is a sheet of texts and numbers, in which nothing is calculated", async () => {
  const rows = [ROW, { ...ROW, table: '=cmd|"/c"', column: "<a&b>\u0007" }, { ...ROW, table: "x".repeat(40_000) }];
  const blob = await excelOf(rows);
  const files = unzipSync(new Uint8Array(await blob.arrayBuffer()));
  const sheet = strFromU8(files["xl/worksheets/sheet1.xml"]!);
  expect(sheet.match(/<row /g)).toHaveLength(4);
  expect(sheet).not.toContain("<f>");
  expect(sheet).toMatch(/<c r="D2"[^>]*><v>-2<\/v>/);
  const strings = strFromU8(files["xl/sharedStrings.xml"]!);
  expect(strings).toContain('=cmd|"/c"');
  expect(strings).toContain("&lt;a&amp;b&gt;");
  expect(strings).not.toContain("\u0007");
  expect(strings).not.toContain("x".repeat(32_768));
});
