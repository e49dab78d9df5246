/** What a column lights: its whole downstream (or upstream) among the edges of the picture. */

import { type Direction, type EdgeInfo, isColumn, tableOf } from "./model";

export const CONTRIBUTION = 1;
export const REFERENCE = 2;
export const BOTH = 3;
/** How a node is reached: by its value, by influence, or by both. */
export type Lit = 1 | 2 | 3;

export interface Light {
  start: string;
  nodes: Map<string, Lit>;
  edges: Map<EdgeInfo, Lit>;
}

/** Edges by the node that they leave, in one direction, and the columns of each table. */
export class Paths {
  private readonly out = new Map<string, EdgeInfo[]>();
  private readonly into = new Map<string, EdgeInfo[]>();
  private readonly columns = new Map<string, string[]>();

  constructor(
    readonly edges: readonly EdgeInfo[],
    nodes: Iterable<string>,
  ) {
    const known = new Set(nodes);
    for (const edge of edges) {
      push(this.out, edge.source, edge);
      push(this.into, edge.target, edge);
      known.add(edge.source).add(edge.target);
    }
    for (const key of known) if (isColumn(key)) push(this.columns, tableOf(key), key);
  }

  columnsOf(table: string): readonly string[] {
    return this.columns.get(table) ?? [];
  }

  /** The edges that lead on from a node. Upstream, what decides the rows of a table influences its columns. */
  from(key: string, direction: Direction): EdgeInfo[] {
    const by = direction === "DOWNSTREAM" ? this.out : this.into;
    const found = [...(by.get(key) ?? [])];
    if (isColumn(key)) {
      for (const near of this.columnsOf(tableOf(key))) if (isFamily(key, near)) found.push(...(by.get(near) ?? []));
      if (direction === "UPSTREAM") found.push(...(by.get(tableOf(key)) ?? []));
    } else if (direction === "DOWNSTREAM") {
      return found;
    }
    return found;
  }

  light(start: string, direction: Direction): Light {
    const nodes = new Map<string, Lit>();
    const edges = new Map<EdgeInfo, Lit>();
    const waiting: [string, Lit][] = [];
    const reach = (key: string, as: Lit) => {
      const before = nodes.get(key) ?? 0;
      if ((before | as) === before) return;
      nodes.set(key, (before | as) as Lit);
      waiting.push([key, as]);
      // Downstream, whoever influences the rows of a table influences each of its columns.
      if (!isColumn(key) && direction === "DOWNSTREAM") this.columnsOf(key).forEach((column) => reach(column, as));
    };
    const follow = (key: string, as: Lit) => {
      for (const edge of this.from(key, direction)) {
        const next: Lit = as === CONTRIBUTION && edge.kind === "CONTRIBUTES" ? CONTRIBUTION : REFERENCE;
        edges.set(edge, ((edges.get(edge) ?? 0) | next) as Lit);
        reach(direction === "DOWNSTREAM" ? edge.target : edge.source, next);
      }
    };
    const starts = isColumn(start) ? [start] : [start, ...this.columnsOf(start)];
    starts.forEach((key) => follow(key, CONTRIBUTION));
    for (let next = waiting.pop(); next; next = waiting.pop()) follow(...next);
    return { start, nodes, edges };
  }

  /** The distance of each node from the starts: down the edges, up, else (a negative sign is up) whichever way. */
  hops(starts: readonly string[]): Map<string, number> {
    const found = new Map<string, number>();
    const first = starts.flatMap((key) => (isColumn(key) ? [key] : [key, ...this.columnsOf(key)]));
    first.forEach((key) => found.set(key, 0));
    for (const direction of ["DOWNSTREAM", "UPSTREAM"] as const) {
      const sign = direction === "DOWNSTREAM" ? 1 : -1;
      this.spread(first, found, sign, (key) =>
        this.from(key, direction).map((edge) => (direction === "DOWNSTREAM" ? edge.target : edge.source)),
      );
    }
    this.spread([...found.keys()], found, 1, (key) => [
      ...this.from(key, "DOWNSTREAM").map((edge) => edge.target),
      ...this.from(key, "UPSTREAM").map((edge) => edge.source),
    ]);
    return found;
  }

  private spread(first: string[], found: Map<string, number>, sign: number, next: (key: string) => string[]): void {
    let edge = first;
    while (edge.length) {
      const following: string[] = [];
      for (const key of edge) {
        const hops = Math.abs(found.get(key) ?? 0) + 1;
        for (const near of next(key)) {
          const family = isColumn(near) || sign < 0 ? [near] : [near, ...this.columnsOf(near)];
          for (const one of family) {
            if (found.has(one)) continue;
            found.set(one, sign * hops);
            following.push(one);
          }
        }
      }
      edge = following;
    }
  }
}

/** Whether one is a field of the other. */
function isFamily(key: string, other: string): boolean {
  return key !== other && (key.startsWith(`${other}.`) || other.startsWith(`${key}.`));
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
