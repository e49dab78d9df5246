import { expect, test } from "vitest";
import { Joining, type Reply } from "../src/joining";
import { ADJACENT, AROUND, EXTRAS, SERVICE } from "../src/queries";
import type { Refusal } from "../src/source";

const hop = (of: string, maxEdges = 10) => ({ of: [of], direction: "UPSTREAM", kinds: ["CONTRIBUTES"], asOf: null, maxEdges, within: null });

interface Sent {
  query: string;
  variables: Record<string, unknown>;
}

/** A service that gives each field the text of its arguments, as far as `failing` lets it. */
function serving(failing: (sent: Sent) => Reply["errors"] = () => []) {
  const sent: Sent[] = [];
  const joining = new Joining(async (query, variables) => {
    const one = { query, variables: variables as Record<string, unknown> };
    sent.push(one);
    const errors = failing(one);
    const names = [...query.matchAll(/(q\d+_\w+): \w+(?:\((.*?)\))?/g)];
    const filled = (text: string) => text.replace(/\$(\w+)/g, (_, name: string) => JSON.stringify(one.variables[name]));
    return { data: errors.length ? null : Object.fromEntries(names.map(([, name, given = ""]) => [name, filled(given)])), errors };
  });
  return { joining, sent };
}

const aliasOf = (sent: Sent, text: string): string | undefined => [...sent.query.matchAll(/(q\d+_\w+): \w+\(of: \$(\w+)/g)].find(([, , name]) => JSON.stringify(sent.variables[name!]).includes(text))?.[1];

test("questions of one moment are one document, each with its own answer, and equal variables are sent once", async () => {
  const { joining, sent } = serving();
  const [up, around, extras, service] = await Promise.all([
    joining.ask(ADJACENT, hop("a")),
    joining.ask(AROUND, { ...hop("b"), within: ["a", "b"] }),
    joining.ask(EXTRAS, { ids: ["1"] }),
    joining.ask(SERVICE, {}),
  ]);
  expect(sent.length).toBe(1);
  expect(up.adjacent).toContain('of: ["a"]');
  expect(up.adjacent).toContain("within: null");
  expect(around.adjacent).toContain('of: ["b"]');
  expect(around.adjacent).toContain('within: ["a","b"]');
  expect(extras).toEqual({ nodes: 'ids: ["1"]' });
  expect(service).toEqual({ service: "" });
  expect(Object.values(sent[0]!.variables).filter((value) => value === "UPSTREAM").length).toBe(1);
  await joining.ask(SERVICE, {});
  expect(sent.length).toBe(2);
});

test("what fails does not hide the others, whose answers were lost with it", async () => {
  const { joining, sent } = serving((one) => {
    const alias = aliasOf(one, "bad");
    return alias ? [{ message: "no such table", path: [alias], extensions: { code: "NOT_FOUND" } }] : [];
  });
  const asked = ["a", "bad", "c"].map((of) => joining.ask(ADJACENT, hop(of)));
  const [first, second, third] = await Promise.allSettled(asked);
  expect(first!.status).toBe("fulfilled");
  expect((second as PromiseRejectedResult).reason.message).toBe("no such table");
  expect(((second as PromiseRejectedResult).reason as Refusal).code).toBe("NOT_FOUND");
  expect(third).toMatchObject({ status: "fulfilled", value: { adjacent: expect.stringContaining('"c"') } });
  expect(sent.length).toBe(3);
});

test("a document that is above a limit of the service is asked in parts", async () => {
  const { joining, sent } = serving(({ query }) => (query.includes("q1_") ? [{ message: "cost", extensions: { code: "LIMIT_EXCEEDED" } }] : []));
  const answers = await Promise.all(["a", "b"].map((of) => joining.ask(AROUND, hop(of))));
  expect(answers.map(({ adjacent }) => adjacent.includes('"a"'))).toEqual([true, false]);
  expect(sent.length).toBe(3);
});

test("a service that refuses everything is not asked again for each part", async () => {
  const { joining, sent } = serving(() => [{ message: "too many requests", extensions: { code: "OVERLOADED" } }]);
  const asked = await Promise.allSettled(["a", "b"].map((of) => joining.ask(AROUND, hop(of))));
  expect(asked.map((one) => one.status)).toEqual(["rejected", "rejected"]);
  expect(sent.length).toBe(1);
});

test("what a service would refuse as one is sent as several", async () => {
  const { joining, sent } = serving();
  await Promise.all(["a", "b", "c"].map((of) => joining.ask(ADJACENT, hop(of, 1_500))));
  expect(sent.length).toBe(2);
  const many = Array.from({ length: 3_000 }, (_, index) => `${index}`);
  await Promise.all(["a", "b"].map((of) => joining.ask(AROUND, { ...hop(of), within: [...many, of] })));
  expect(sent.length).toBe(4);
});
