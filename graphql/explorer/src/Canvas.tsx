/** All lines of a picture, on one canvas below the cards. */

import { useStore, useViewport } from "@xyflow/react";
import { useEffect, useLayoutEffect, useRef, useSyncExternalStore } from "react";
import { BOTH, CONTRIBUTION, type Lit } from "./light";
import { currentLamp, subscribe } from "./lighting";
import { CARD_WIDTH, LAYER_PITCH, type Place } from "./layout";
import { type Card, HEAD_AT, type Line, rowAt } from "./picture";

interface Props {
  lines: readonly Line[];
  cards: readonly Card[];
  places: ReadonlyMap<string, Place>;
}

interface Ends {
  x: number;
  y: number;
}

export function Canvas({ lines, cards, places }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { x, y, zoom } = useViewport();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const lamp = useSyncExternalStore(subscribe, currentLamp);
  const dark = useSyncExternalStore(subscribeToScheme, () => matchMedia("(prefers-color-scheme: dark)").matches);
  const anchors = useRef(new Map<string, Ends>());
  useLayoutEffect(() => {
    anchors.current = anchorsOf(cards, places);
  }, [cards, places]);
  useEffect(() => {
    const target = canvas.current;
    const context = target?.getContext("2d");
    if (!target || !context || !width || !height) return;
    const scale = devicePixelRatio;
    if (target.width !== width * scale || target.height !== height * scale) {
      target.width = width * scale;
      target.height = height * scale;
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, target.width, target.height);
    context.setTransform(zoom * scale, 0, 0, zoom * scale, x * scale, y * scale);
    const draw = { context, zoom, colours: coloursOf(target), view: { left: -x / zoom, right: (width - x) / zoom, top: -y / zoom, bottom: (height - y) / zoom } };
    const dim: Line[] = [];
    const bright: [Line, Lit][] = [];
    for (const line of lines) {
      const lit = lamp ? line.edges.reduce((sum, edge) => sum | (lamp.light.edges.get(edge) ?? 0), 0) : 0;
      if (lit) bright.push([line, lit as Lit]);
      else dim.push(line);
    }
    context.globalAlpha = lamp ? 0.14 : 1;
    for (const line of dim) stroke(draw, anchors.current, line, null);
    context.globalAlpha = 1;
    for (const [line, lit] of bright) stroke(draw, anchors.current, line, lit);
  }, [lines, cards, places, x, y, zoom, width, height, lamp, dark]);
  return <canvas ref={canvas} className="lines" style={{ width, height }} aria-hidden="true" data-lines={lines.length} data-cards={cards.length} />;
}

function anchorsOf(cards: readonly Card[], places: ReadonlyMap<string, Place>): Map<string, Ends> {
  const found = new Map<string, Ends>();
  for (const card of cards) {
    const at = places.get(card.id);
    if (!at) continue;
    const x = at.layer * LAYER_PITCH;
    found.set(card.id, { x, y: at.y + HEAD_AT });
    card.rows.forEach((row, index) => found.set(row.key, { x, y: at.y + rowAt(index) }));
  }
  return found;
}

interface Draw {
  context: CanvasRenderingContext2D;
  zoom: number;
  colours: Record<"line" | "contribution" | "reference" | "both" | "added" | "gone" | "changed", string>;
  view: { left: number; right: number; top: number; bottom: number };
}

function stroke({ context, zoom, colours, view }: Draw, anchors: ReadonlyMap<string, Ends>, line: Line, lit: Lit | null): void {
  const from = anchors.get(line.source);
  const to = anchors.get(line.target);
  if (!from || !to) return;
  const start = from.x + CARD_WIDTH;
  const end = to.x;
  if (Math.max(start, end) < view.left - 200 || Math.min(start, end) > view.right + 200) return;
  if (Math.max(from.y, to.y) < view.top - 50 || Math.min(from.y, to.y) > view.bottom + 50) return;
  const reach = end > start ? (end - start) / 2 : Math.max(120, (start - end) / 2);
  const colour = lit
    ? colours[lit === BOTH ? "both" : lit === CONTRIBUTION ? "contribution" : "reference"]
    : line.change
      ? colours[line.change]
      : colours.line;
  context.strokeStyle = colour;
  context.fillStyle = colour;
  context.lineWidth = (lit || line.change ? 2.2 : 1.2) * Math.max(1, 0.6 / zoom);
  // References are dashed, what is gone is dotted, what changed is both: colour is never the only sign.
  context.setLineDash(line.change === "gone" ? [2, 4] : line.change === "changed" ? [10, 3, 2, 3] : line.kind === "REFERENCES" ? [6, 4] : []);
  context.beginPath();
  context.moveTo(start, from.y);
  context.bezierCurveTo(start + reach, from.y, end - reach, to.y, end - 6, to.y);
  context.stroke();
  if (zoom < 0.35) return;
  context.setLineDash([]);
  context.beginPath();
  context.moveTo(end, to.y);
  context.lineTo(end - 7, to.y - 3.5);
  context.lineTo(end - 7, to.y + 3.5);
  context.fill();
}

function coloursOf(target: Element): Draw["colours"] {
  const style = getComputedStyle(target);
  const of = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return { line: of("line"), contribution: of("contribution"), reference: of("reference"), both: of("both"), added: of("added"), gone: of("gone"), changed: of("changed") };
}

function subscribeToScheme(listener: () => void): () => void {
  const query = matchMedia("(prefers-color-scheme: dark)");
  query.addEventListener("change", listener);
  return () => query.removeEventListener("change", listener);
}
