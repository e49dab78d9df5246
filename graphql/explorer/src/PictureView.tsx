/** The picture: cards by React Flow, lines on a canvas, places of our own. */

import { Controls, type Node, type NodeProps, ReactFlow, ReactFlowProvider, useReactFlow, useStore } from "@xyflow/react";
import { createContext, useContext, useEffect, useMemo, useRef } from "react";
import { Canvas } from "./Canvas";
import { type CardActions, CardView, isUpwards, setUpwards } from "./Card";
import { CARD_WIDTH, LAYER_PITCH, type Place, place } from "./layout";
import { currentLamp, lightUp, putOut } from "./lighting";
import { tableOf } from "./model";
import type { Card, Picture } from "./picture";

const DETAIL = 0.35;
const READABLE = 0.6;
const HIGH = 3_000;
/** Pixels at the lower edge that the legend takes. */
const LEGEND = 40;
const ActionsContext = createContext<CardActions | null>(null);
type CardNode = Node<{ card: Card }, "card">;

function FlowCard({ data }: NodeProps<CardNode>) {
  const detail = useStore((state) => state.transform[2] >= DETAIL);
  return <CardView card={data.card} actions={useContext(ActionsContext)!} detail={detail} />;
}
const NODE_TYPES = { card: FlowCard };

export function PictureView({ picture, actions, origin }: { picture: Picture; actions: CardActions; origin: string }) {
  return (
    <ReactFlowProvider>
      <ActionsContext.Provider value={actions}>
        <Flow picture={picture} origin={origin} />
      </ActionsContext.Provider>
    </ReactFlowProvider>
  );
}

function Flow({ picture, origin }: { picture: Picture; origin: string }) {
  const places = usePlaces(picture, origin);
  const nodes = useMemo(
    () =>
      picture.cards.map((card): CardNode => {
        const at = places.get(card.id)!;
        return {
          id: card.id,
          type: "card",
          position: { x: at.layer * LAYER_PITCH, y: at.y },
          data: { card },
          width: CARD_WIDTH,
          height: card.height,
        };
      }),
    [picture, places],
  );
  useReturningLight(picture);
  return (
    <ReactFlow
      nodes={nodes}
      nodeTypes={NODE_TYPES}
      nodesDraggable={false}
      nodesConnectable={false}
      nodesFocusable={false}
      elementsSelectable={false}
      deleteKeyCode={null}
      onlyRenderVisibleElements={nodes.length > 60}
      minZoom={0.05}
      maxZoom={1.6}
      // Of cards that no window holds, the camera shows the top.
      fitView={!picture.cards.some((card) => card.height > HIGH)}
      fitViewOptions={{ maxZoom: 1, padding: 0.12 }}
      proOptions={{ hideAttribution: true }}
      aria-label="Picture of the lineage, from sources on the left to consumers on the right"
    >
      <Canvas lines={picture.lines} cards={picture.cards} places={places} />
      <Controls showInteractive={false} />
      <Camera cards={picture.cards} places={places} origin={origin} />
    </ReactFlow>
  );
}

/** Places of all cards. What was placed stays, through filters and focus as well; another origin starts anew. */
function usePlaces(picture: Picture, origin: string): ReadonlyMap<string, Place> {
  const kept = useRef<{ origin: string; places: ReadonlyMap<string, Place> }>({ origin: "", places: new Map() });
  return useMemo(() => {
    let places: ReadonlyMap<string, Place> = kept.current.origin === origin ? kept.current.places : new Map();
    const links = picture.lines.map((line) => ({ source: cardOf(line.source), target: cardOf(line.target) }));
    const boxes = picture.cards.map((card) => ({ id: card.id, height: card.height, lane: laneOf(card) }));
    const orders = [...new Set(picture.cards.map((card) => card.order))].sort((a, b) => a - b);
    for (const order of orders) {
      const upTo = boxes.filter((_, index) => picture.cards[index]!.order <= order);
      places = place(upTo, links, places);
    }
    kept.current = { origin, places };
    return places;
  }, [picture, origin]);
}

const cardOf = (anchor: string): string => (anchor.startsWith("stack:") ? anchor : tableOf(anchor));
const laneOf = (card: Card): string => (card.table ? card.table.name.slice(0, card.table.name.lastIndexOf(".")) : (card.stack?.schema ?? ""));

/** Bring cards that are new or have grown into the window, if they are not. */
function Camera({ cards, places, origin }: { cards: readonly Card[]; places: ReadonlyMap<string, Place>; origin: string }) {
  const flow = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const seen = useRef<{ origin: string; heights: Map<string, number> }>({ origin: "", heights: new Map() });
  useEffect(() => {
    if (!width || !height || !cards.length) return;
    const isNew = seen.current.origin !== origin;
    const known = isNew ? new Map<string, number>() : seen.current.heights;
    const fresh = cards.filter((card) => card.height > (known.get(card.id) ?? 0));
    seen.current = { origin, heights: new Map([...known, ...cards.map((card) => [card.id, card.height] as const)]) };
    if (!fresh.length) return;
    const { x, y, zoom } = flow.getViewport();
    const outside = fresh.some((card) => {
      const at = places.get(card.id)!;
      const left = at.layer * LAYER_PITCH * zoom + x;
      const top = at.y * zoom + y;
      return left < 0 || left + CARD_WIDTH * zoom > width || top < 0 || top + card.height * zoom > height - LEGEND;
    });
    if (!isNew && !outside) return;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const bounds = boundsOf(cards, places);
    // A strip too small to read is no picture: then the new cards alone.
    const isReadable = (box: typeof bounds) => Math.min(width / box.width, height / box.height) > DETAIL;
    const chosen = isReadable(bounds) ? bounds : boundsOf(fresh, places);
    // Of a card that is higher than any window, its top.
    const shown = isReadable(chosen) ? chosen : { ...chosen, width: Math.min(chosen.width, width / READABLE), height: Math.min(chosen.height, height / READABLE) };
    void flow.fitBounds(shown, { padding: 0.12, duration: still || isNew ? 0 : 300 }).then(() => {
      if (flow.getZoom() > 1) void flow.zoomTo(1, { duration: 0 });
    });
  }, [cards, places, origin, width, height]);
  return null;
}

function boundsOf(cards: readonly Card[], places: ReadonlyMap<string, Place>) {
  const boxes = cards.map((card) => ({ x: places.get(card.id)!.layer * LAYER_PITCH, y: places.get(card.id)!.y, height: card.height }));
  const x = Math.min(...boxes.map((box) => box.x));
  const y = Math.min(...boxes.map((box) => box.y));
  return { x, y, width: Math.max(...boxes.map((box) => box.x)) + CARD_WIDTH - x, height: Math.max(...boxes.map((box) => box.y + box.height)) - y };
}

/** Shift turns the light of what is hovered; a picture that changes under the pointer keeps it. */
function useReturningLight(picture: Picture): void {
  useEffect(() => {
    const lamp = currentLamp();
    if (lamp) lightUp(picture, lamp.light.start, isUpwards() ? "UPSTREAM" : "DOWNSTREAM");
    const turn = (event: KeyboardEvent) => {
      const lit = currentLamp();
      if (event.key !== "Shift" || !lit || event.repeat) return;
      setUpwards(event.type === "keydown");
      lightUp(picture, lit.light.start, event.type === "keydown" ? "UPSTREAM" : "DOWNSTREAM");
    };
    addEventListener("keydown", turn);
    addEventListener("keyup", turn);
    return () => {
      removeEventListener("keydown", turn);
      removeEventListener("keyup", turn);
    };
  }, [picture]);
  useEffect(() => putOut, []);
}
