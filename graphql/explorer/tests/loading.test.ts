import { expect, test } from "vitest";
import { batchesOf } from "../src/loading";
import { emptyPart, type Part } from "../src/model";
import { table } from "./parts";

function part(...keys: string[]): Part {
  const made = emptyPart();
  for (const key of keys) {
    const name = key.split("#")[0]!;
    made.tables.set(name, table(name, { key: name }));
    if (key.includes("#")) {
      made.columns.set(key, { key, path: key.split("#")[1]!, table: name, dataType: null, tags: [], inferred: false, droppedAt: null });
    }
  }
  return made;
}

test("a further answer asks only for what it adds, also of tables that are known", () => {
  const first = part("n/a#x", "n/b#y");
  const before = batchesOf([first]);
  const after = batchesOf([first, part("n/b#y", "n/b#z", "n/c#x")]);
  expect(after.slice(0, before.length)).toEqual(before);
  expect(after.slice(before.length).map((one) => one.of)).toEqual([["n/c", "n/c#x"], ["n/b#z"]]);
  expect(after.flatMap((one) => one.tables.map((found) => found.key))).toEqual(["n/a", "n/b", "n/c"]);
});

test("no question has more than the service takes, and none is lost", () => {
  const many = part(...Array.from({ length: 60 }, (_, index) => `n/t${index}#c`));
  const batches = batchesOf([many]);
  expect(batches.map((one) => one.tables.length)).toEqual([25, 25, 10]);
  expect(new Set(batches.flatMap((one) => one.of)).size).toBe(120);
});
