/** Marks of personal data: which columns of a picture or list hold a class of it, and how much they show. */

import { useEffect, useRef, useState } from "react";
import { isColumn } from "./model";
import { usePage } from "./navigation";
import type { Picture } from "./picture";

/** A class that a column holds; `source` is the key of the tagged column, maybe itself. */
export interface HeldClass {
  name: string;
  exposure: string;
  source: string;
}

/** By the key of the column. */
export type Marks = ReadonlyMap<string, readonly HeldClass[]>;

export interface Marking {
  marks: Marks;
  busy: boolean;
  /** Why marks may be missing. */
  failure: string;
}

export const READABLE = "⚑";
export const MASKED = "⚐";
const AT_ONCE = 500;

export const signOf = (classes: readonly HeldClass[]): string => (classes.some((one) => one.exposure !== "masked") ? READABLE : MASKED);

/** As in `email (masked), phone (unmasked)`. */
export const textOf = (classes: readonly HeldClass[] = []): string => classes.map((one) => `${one.name} (${one.exposure})`).join(", ");

/** The columns whose marks a picture needs: those in play, and all of cards that show all. */
export function markable(picture: Picture): string[] {
  const rows = picture.cards.flatMap((card) => card.rows.map((row) => row.key));
  return [...new Set([...picture.nodes, ...rows])].filter(isColumn);
}

/** By card: the marked columns in play that have no row, in a stack or below the last row; how many, and how many of them are masked. */
export function hiddenMarks(picture: Picture, marks: Marks): Map<string, { count: number; masked: number }> {
  const found = new Map<string, { count: number; masked: number }>();
  for (const key of picture.nodes) {
    const classes = marks.get(key);
    const anchor = classes ? picture.anchorOf(key) : null;
    if (!classes || anchor === null || anchor === key) continue;
    const { count, masked } = found.get(anchor) ?? { count: 0, masked: 0 };
    found.set(anchor, { count: count + 1, masked: masked + (signOf(classes) === MASKED ? 1 : 0) });
  }
  return found;
}

const NOTHING = { question: "", marks: new Map() as Marks, busy: false, failure: "" };

/** The marks of columns at a time. They come after what they mark, which does not wait for them. */
export function useMarks(keys: readonly string[], asOf: string, waits = false): Marking {
  const { source } = usePage();
  const [state, setState] = useState(NOTHING);
  const wanted = keys.join("\n");
  const question = `${asOf}\n${wanted}`;
  const shown = useRef({ asOf, marks: NOTHING.marks });
  useEffect(() => {
    if (waits) return;
    let current = true;
    // Marks of what is shown already stay while those of more columns are looked for.
    const marks = new Map(shown.current.asOf === asOf ? shown.current.marks : []);
    const read = async () => {
      let failure = "";
      for (let at = 0; at < keys.length && current; at += AT_ONCE) {
        const some = keys.slice(at, at + AT_ONCE);
        try {
          const found = await source.marks(some, asOf);
          for (const key of some) marks.delete(key);
          found.marks.forEach((classes, key) => marks.set(key, classes));
          failure ||= found.cut;
        } catch (error) {
          failure = error instanceof Error ? error.message : String(error);
        }
        if (!current) return;
        shown.current = { asOf, marks: new Map(marks) };
        setState({ question, marks: shown.current.marks, busy: at + AT_ONCE < keys.length, failure });
      }
    };
    void read();
    return () => {
      current = false;
    };
  }, [source, question, waits]);
  if (!keys.length) return NOTHING;
  return state.question === question ? state : { ...state, marks: shown.current.asOf === asOf ? state.marks : NOTHING.marks, busy: true };
}
