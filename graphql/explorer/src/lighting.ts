/** The light that hovering sets: a store beside React's state, so that only rows whose light changes are rendered. */

import { useSyncExternalStore } from "react";
import { BOTH, CONTRIBUTION, type Light, type Lit, REFERENCE } from "./light";
import type { Direction } from "./model";
import type { Picture } from "./picture";

export type Shine = "none" | "start" | "contribution" | "reference" | "both" | "faded";

interface Lamp {
  light: Light;
  /** The light by row or card. */
  anchors: Map<string, Lit>;
  start: string;
}

let lamp: Lamp | null = null;
const listeners = new Set<() => void>();

export const currentLamp = (): Lamp | null => lamp;

export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function lightUp(picture: Picture, key: string, direction: Direction): void {
  const light = picture.paths.light(key, direction);
  const anchors = new Map<string, Lit>();
  for (const [node, lit] of light.nodes) {
    const anchor = picture.anchorOf(node);
    if (anchor) anchors.set(anchor, ((anchors.get(anchor) ?? 0) | lit) as Lit);
  }
  lamp = { light, anchors, start: picture.anchorOf(key) ?? key };
  listeners.forEach((listener) => listener());
}

export function putOut(): void {
  if (!lamp) return;
  lamp = null;
  listeners.forEach((listener) => listener());
}

function shineOf(anchor: string): Shine {
  if (!lamp) return "none";
  if (lamp.start === anchor) return "start";
  const lit = lamp.anchors.get(anchor);
  if (lit === BOTH) return "both";
  if (lit === CONTRIBUTION) return "contribution";
  return lit === REFERENCE ? "reference" : "faded";
}

export const useShine = (anchor: string): Shine => useSyncExternalStore(subscribe, () => shineOf(anchor));

/** Whether a whole card is out of the light. */
export const useIsFaded = (anchors: readonly string[]): boolean =>
  useSyncExternalStore(subscribe, () => lamp !== null && anchors.every((anchor) => shineOf(anchor) === "faded"));
