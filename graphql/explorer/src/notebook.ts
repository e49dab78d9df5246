/** A picture in a notebook: it tells the page around it what is chosen, and shows what that page chooses. */

import { useEffect } from "react";
import type { Page } from "./navigation";
import { startingAt, type View } from "./view";

/** The number of the cell; only pages that a live cell made have one. */
const cell = document.querySelector<HTMLMetaElement>('meta[name="lineage-cell"]')?.content;

export function useNotebook(view: View, go: Page["go"]): void {
  const chosen = view.selected || view.focus || (view.page === "lineage" ? view.of[0] : "") || "";
  useEffect(() => {
    if (cell && parent !== window) parent.postMessage({ lineage: cell, chosen }, "*");
  }, [chosen]);
  useEffect(() => {
    if (!cell) return;
    const hear = ({ source, data }: MessageEvent) => {
      if (source === parent && data?.lineage === cell && typeof data.choose === "string") go(startingAt([data.choose], view));
    };
    addEventListener("message", hear);
    return () => removeEventListener("message", hear);
  }, [view, go]);
}
