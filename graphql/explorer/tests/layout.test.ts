import Elk from "elkjs/lib/elk.bundled.js";
import { describe, expect, test } from "vitest";
import { type Box, CARD_WIDTH, LAYER_PITCH, type Link, place, type Place } from "../src/layout";

interface Graph {
  boxes: Box[];
  links: Link[];
}

/** A graph like those of estates: layers, most links to the next one, some over several. */
function estate(seed: number, layers: number, width: number): Graph {
  let state = seed * 7919 + 1;
  const random = () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
  const boxes: Box[] = [];
  const links: Link[] = [];
  for (let layer = 0; layer < layers; layer += 1) {
    for (let at = 0; at < width; at += 1) {
      boxes.push({ id: `${layer}:${at}`, height: 80 + Math.floor(random() * 200), lane: `s${at % 3}` });
      const sources = layer ? 1 + Math.floor(random() * 2) : 0;
      for (let count = 0; count < sources; count += 1) {
        const from = random() < 0.85 ? layer - 1 : Math.floor(random() * layer);
        links.push({ source: `${from}:${Math.floor(random() * width)}`, target: `${layer}:${at}` });
      }
    }
  }
  return { boxes, links };
}

const overlaps = (boxes: Box[], places: Map<string, Place>) =>
  boxes.flatMap((one, index) =>
    boxes.slice(index + 1).filter((other) => {
      const [a, b] = [places.get(one.id)!, places.get(other.id)!];
      return a.layer === b.layer && a.y < b.y + other.height && b.y < a.y + one.height;
    }),
  ).length;

describe("places", () => {
  test("go from source to consumer, without overlaps", () => {
    const { boxes, links } = estate(3, 6, 8);
    const places = place(boxes, links, new Map());
    for (const link of links) expect(places.get(link.target)!.layer).toBeGreaterThan(places.get(link.source)!.layer);
    expect(overlaps(boxes, places)).toBe(0);
  });

  test("stay when more cards come, and when some go", () => {
    const { boxes, links } = estate(4, 5, 6);
    const first = boxes.filter((box) => box.id < "3");
    const before = place(first, links, new Map());
    const after = place(boxes, links, before);
    for (const box of first) expect(after.get(box.id)).toEqual(before.get(box.id));
    expect(overlaps(boxes, after)).toBe(0);
    const fewer = place(first.slice(2), links, after);
    for (const box of first.slice(2)) expect(fewer.get(box.id)).toEqual(after.get(box.id));
  });

  test("a new card is before what it leads to and after what leads to it", () => {
    const box = (id: string): Box => ({ id, height: 100, lane: "" });
    const before = place([box("a"), box("b")], [{ source: "a", target: "b" }], new Map());
    const after = place([box("a"), box("b"), box("up"), box("down")], [{ source: "a", target: "b" }, { source: "up", target: "a" }, { source: "b", target: "down" }], before);
    expect(["up", "a", "b", "down"].map((id) => after.get(id)!.layer)).toEqual([-1, 0, 1, 2]);
  });

  test("a card that grows pushes what is below it, and nothing else", () => {
    const box = (id: string, height = 100): Box => ({ id, height, lane: "" });
    const links = ["b", "c", "d"].map((target) => ({ source: "a", target }));
    const before = place([box("a"), box("b"), box("c"), box("d")], links, new Map());
    const after = place([box("a"), box("b"), box("c", 400), box("d")], links, before);
    expect(after.get("b")).toEqual(before.get("b"));
    expect(after.get("c")).toEqual(before.get("c"));
    expect(overlaps([box("a"), box("b"), box("c", 400), box("d")], after)).toBe(0);
  });

  test("cycles and loops are laid out", () => {
    const boxes = ["a", "b", "c"].map((id): Box => ({ id, height: 100, lane: "" }));
    const links = [..."abca"].slice(1).map((target, at): Link => ({ source: "abc"[at]!, target })).concat({ source: "a", target: "a" });
    const places = place(boxes, links, new Map());
    expect(new Set([...places.values()].map((one) => one.layer)).size).toBe(3);
  });

  test("of 300 cards are found within half a second", () => {
    const { boxes, links } = estate(5, 15, 20);
    const began = performance.now();
    place(boxes, links, new Map());
    expect(performance.now() - began).toBeLessThan(500);
  });
});

interface Point {
  x: number;
  y: number;
}

const cross = (a: Point, b: Point, c: Point) => (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);

/** Crossings of straight lines from the right edge of a source to the left edge of its target. */
function crossings({ boxes, links }: Graph, at: (id: string) => Point): number {
  const height = new Map(boxes.map((box) => [box.id, box.height]));
  const lines = links.map(({ source, target }) => ({
    from: { x: at(source).x + CARD_WIDTH, y: at(source).y + height.get(source)! / 2 },
    to: { x: at(target).x, y: at(target).y + height.get(target)! / 2 },
    source,
    target,
  }));
  let count = 0;
  lines.forEach((one, index) => {
    for (const other of lines.slice(index + 1)) {
      if (one.source === other.source || one.target === other.target) continue;
      const apart = cross(one.from, one.to, other.from) * cross(one.from, one.to, other.to) < 0;
      if (apart && cross(other.from, other.to, one.from) * cross(other.from, other.to, one.to) < 0) count += 1;
    }
  });
  return count;
}

test("have at most 1.2 times the crossings of ELK's", async () => {
  let ours = 0;
  let theirs = 0;
  for (let seed = 1; seed <= 5; seed += 1) {
    const graph = estate(seed, 5, 7);
    const places = place(graph.boxes, graph.links, new Map());
    ours += crossings(graph, (id) => ({ x: places.get(id)!.layer * LAYER_PITCH, y: places.get(id)!.y }));
    const laid = await new Elk().layout({
      id: "root",
      layoutOptions: { "elk.algorithm": "layered", "elk.direction": "RIGHT" },
      children: graph.boxes.map((box) => ({ id: box.id, width: CARD_WIDTH, height: box.height })),
      edges: graph.links.map((link, at) => ({ id: String(at), sources: [link.source], targets: [link.target] })),
    });
    const elk = new Map(laid.children!.map((child) => [child.id, { x: child.x!, y: child.y! }]));
    theirs += crossings(graph, (id) => elk.get(id)!);
  }
  expect(ours / theirs).toBeLessThan(1.2);
}, 60_000);
