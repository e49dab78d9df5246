/** Where cards are: layers by longest path, order by barycentres. What has a place keeps it. */

import { groupBy } from "./model";

export const CARD_WIDTH = 264;
export const LAYER_PITCH = 392;
const GAP = 26;

export interface Box {
  id: string;
  height: number;
  /** Boxes of one lane (a schema) stay together where nothing else decides. */
  lane: string;
}

export interface Link {
  source: string;
  target: string;
}

export interface Place {
  layer: number;
  y: number;
}

export type Places = ReadonlyMap<string, Place>;

/** The places of boxes: those before, and new ones for what had none. */
export function place(boxes: readonly Box[], links: readonly Link[], before: Places): Map<string, Place> {
  const known = new Set(boxes.map((box) => box.id));
  const inside = links.filter((link) => link.source !== link.target && known.has(link.source) && known.has(link.target));
  const fresh = boxes.filter((box) => !before.has(box.id));
  const places = new Map(before);
  if (fresh.length === boxes.length) placeAll(boxes, inside, places);
  else if (fresh.length) placeMore(boxes, fresh, inside, places);
  separate(boxes, places);
  return places;
}

/** The links without those that close a cycle. */
export function withoutCycles(ids: readonly string[], links: readonly Link[]): Link[] {
  const out = groupBy(links, (link) => link.source);
  const state = new Map<string, "open" | "done">();
  const back = new Set<Link>();
  for (const root of ids) {
    if (state.has(root)) continue;
    const stack: { id: string; next: number }[] = [{ id: root, next: 0 }];
    state.set(root, "open");
    while (stack.length) {
      const top = stack.at(-1)!;
      const link = out.get(top.id)?.[top.next];
      if (!link) {
        state.set(top.id, "done");
        stack.pop();
        continue;
      }
      top.next += 1;
      if (state.get(link.target) === "open") back.add(link);
      else if (!state.has(link.target)) {
        state.set(link.target, "open");
        stack.push({ id: link.target, next: 0 });
      }
    }
  }
  return links.filter((link) => !back.has(link));
}

function placeAll(boxes: readonly Box[], links: readonly Link[], places: Map<string, Place>): void {
  const ids = boxes.map((box) => box.id);
  const forward = withoutCycles(ids, links);
  const layers = layersOf(ids, forward);
  const rows: Box[][] = [];
  for (const box of [...boxes].sort((a, b) => compare(a.lane, b.lane) || compare(a.id, b.id))) {
    (rows[layers.get(box.id)!] ??= []).push(box);
  }
  const sources = ends(links, "target", "source");
  const targets = ends(links, "source", "target");
  const y = new Map<string, number>();
  rows.forEach((row) => stackUp(row, y));
  const heights = new Map(boxes.map((box) => [box.id, box.height]));
  for (let sweep = 0; sweep < 12; sweep += 1) {
    const down = sweep % 2 === 0;
    for (const row of down ? rows : [...rows].reverse()) {
      if (row) align(row, y, (id) => [...((down ? sources : targets).get(id) ?? [])], heights);
    }
  }
  for (const row of rows) if (row) align(row, y, (id) => [...(sources.get(id) ?? []), ...(targets.get(id) ?? [])], heights);
  boxes.forEach((box) => places.set(box.id, { layer: layers.get(box.id)!, y: y.get(box.id)! }));
}

/** The longest path from a source; sources stand directly before what they lead to. */
function layersOf(ids: readonly string[], links: readonly Link[]): Map<string, number> {
  const layers = new Map(ids.map((id) => [id, 0]));
  const into = ends(links, "target", "source");
  const out = ends(links, "source", "target");
  const left = new Map(ids.map((id) => [id, into.get(id)?.length ?? 0]));
  const ready = ids.filter((id) => left.get(id) === 0);
  const order: string[] = [];
  for (let id = ready.pop(); id !== undefined; id = ready.pop()) {
    order.push(id);
    for (const next of out.get(id) ?? []) {
      layers.set(next, Math.max(layers.get(next)!, layers.get(id)! + 1));
      left.set(next, left.get(next)! - 1);
      if (left.get(next) === 0) ready.push(next);
    }
  }
  for (const id of order.reverse()) {
    const following = out.get(id) ?? [];
    if (following.length && !into.get(id)?.length) layers.set(id, Math.min(...following.map((next) => layers.get(next)!)) - 1);
  }
  return layers;
}

function stackUp(row: readonly Box[], y: Map<string, number>): void {
  let top = -total(row) / 2;
  for (const box of row) {
    y.set(box.id, top);
    top += box.height + GAP;
  }
}

/** Order a layer by where its neighbours are, and bring each box as near to them as the others allow. */
function align(row: Box[], y: Map<string, number>, near: (id: string) => string[], heights: Map<string, number>): void {
  const middle = (id: string) => y.get(id)! + heights.get(id)! / 2;
  const wanted = new Map(
    row.map((box) => {
      const at = near(box.id).map(middle);
      return [box.id, at.length ? at.reduce((sum, one) => sum + one, 0) / at.length : middle(box.id)];
    }),
  );
  row.sort((a, b) => wanted.get(a.id)! - wanted.get(b.id)! || compare(a.lane, b.lane) || compare(a.id, b.id));
  // Blocks of touching boxes: each stands where its boxes want to be on average.
  const blocks: { boxes: Box[]; top: number; height: number; sum: number }[] = [];
  for (const box of row) {
    let block = { boxes: [box], top: wanted.get(box.id)! - box.height / 2, height: box.height, sum: wanted.get(box.id)! - box.height / 2 };
    for (let above = blocks.at(-1); above && above.top + above.height + GAP > block.top; above = blocks.at(-1)) {
      blocks.pop();
      const shift = above.height + GAP;
      const sum = above.sum + block.sum - shift * block.boxes.length;
      const boxes = [...above.boxes, ...block.boxes];
      block = { boxes, top: sum / boxes.length, height: shift + block.height, sum };
    }
    blocks.push(block);
  }
  for (const block of blocks) {
    let top = block.top;
    for (const box of block.boxes) {
      y.set(box.id, top);
      top += box.height + GAP;
    }
  }
}

/** Places for new boxes among placed ones: a layer after their sources or before their targets, the nearest free gap. */
function placeMore(boxes: readonly Box[], fresh: readonly Box[], links: readonly Link[], places: Map<string, Place>): void {
  const heights = new Map(boxes.map((box) => [box.id, box.height]));
  const sources = ends(links, "target", "source");
  const targets = ends(links, "source", "target");
  let waiting = [...fresh].sort((a, b) => compare(a.lane, b.lane) || compare(a.id, b.id));
  while (waiting.length) {
    const ready = waiting.filter((box) => [...(sources.get(box.id) ?? []), ...(targets.get(box.id) ?? [])].some((id) => places.has(id)));
    const batch = ready.length ? ready : waiting.slice(0, 1);
    const chosen = batch.map((box) => {
      const before = (sources.get(box.id) ?? []).filter((id) => places.has(id));
      const after = (targets.get(box.id) ?? []).filter((id) => places.has(id));
      const around = [...before, ...after].map((id) => places.get(id)!.y + heights.get(id)! / 2);
      const middle = around.length ? around.reduce((sum, one) => sum + one, 0) / around.length : 0;
      return { box, layer: layerBetween(before, after, places), middle };
    });
    chosen.sort((a, b) => a.middle - b.middle);
    const byLayer = groupBy(chosen, (one) => one.layer);
    for (const column of byLayer.values()) {
      // As a block around where its boxes want to be, so that they keep their order.
      let top = column.reduce((sum, one) => sum + one.middle, 0) / column.length - total(column.map((one) => one.box)) / 2;
      for (const { box, layer } of column) {
        const y = freeNear(top, box.height, layer, boxes, places);
        places.set(box.id, { layer, y });
        top = Math.max(top, y) + box.height + GAP;
      }
    }
    waiting = waiting.filter((box) => !places.has(box.id));
  }
}

function layerBetween(before: string[], after: string[], places: Places): number {
  const first = before.length ? Math.max(...before.map((id) => places.get(id)!.layer)) + 1 : null;
  const last = after.length ? Math.min(...after.map((id) => places.get(id)!.layer)) - 1 : null;
  if (first === null) return last ?? 0;
  return first;
}

function freeNear(wanted: number, height: number, layer: number, boxes: readonly Box[], places: Places): number {
  const taken = boxes
    .filter((box) => places.get(box.id)?.layer === layer)
    .map((box) => ({ top: places.get(box.id)!.y - GAP, end: places.get(box.id)!.y + box.height + GAP }));
  const fits = (y: number) => taken.every((one) => y + height <= one.top || y >= one.end);
  const choices = [wanted, ...taken.flatMap((one) => [one.end, one.top - height])].filter(fits);
  return choices.reduce((best, y) => (Math.abs(y - wanted) < Math.abs(best - wanted) ? y : best), choices[0] ?? wanted);
}

/** Push down what a box that grew would cover; everything else stays. */
function separate(boxes: readonly Box[], places: Map<string, Place>): void {
  for (const column of groupBy(boxes, (box) => places.get(box.id)?.layer).values()) {
    column.sort((a, b) => places.get(a.id)!.y - places.get(b.id)!.y);
    let end = -Infinity;
    for (const box of column) {
      const at = places.get(box.id)!;
      if (at.y < end) places.set(box.id, { ...at, y: end });
      end = places.get(box.id)!.y + box.height + GAP / 2;
    }
  }
}

const total = (row: readonly Box[]): number => row.reduce((sum, box) => sum + box.height + GAP, -GAP);
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The boxes at the other ends of links, by the box at one end. */
const ends = (links: readonly Link[], by: keyof Link, other: keyof Link): Map<string, string[]> =>
  new Map([...groupBy(links, (link) => link[by])].map(([id, of]) => [id, of.map((link) => link[other])]));
