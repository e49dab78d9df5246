/** The view as the URL has it, and going to another one. */

import { createContext, useCallback, useContext, useEffect, useMemo, useState } from "react";
import type { Service, Source } from "./source";
import { type View, fromFragment, startingAt, toFragment } from "./view";

export interface Page {
  source: Source;
  service: Service;
  view: View;
  /** Go to a view; `replace` leaves no entry in the history. */
  go(view: View, options?: { replace?: boolean }): void;
  open(key: string): void;
  /** Read the graph again, after a change. */
  refresh(): void;
}

const PageContext = createContext<Page | null>(null);
export const PageProvider = PageContext.Provider;

export function usePage(): Page {
  const page = useContext(PageContext);
  if (!page) throw new Error("not within a page");
  return page;
}

export function useView(): Pick<Page, "view" | "go" | "open"> {
  const [fragment, setFragment] = useState(location.hash);
  useEffect(() => {
    const follow = () => setFragment(location.hash);
    addEventListener("hashchange", follow);
    addEventListener("popstate", follow);
    return () => {
      removeEventListener("hashchange", follow);
      removeEventListener("popstate", follow);
    };
  }, []);
  const view = useMemo(() => fromFragment(fragment), [fragment]);
  const go = useCallback((to: View, { replace = false } = {}) => {
    const next = `#${toFragment(to)}`;
    if (next === location.hash) return;
    try {
      history[replace ? "replaceState" : "pushState"](null, "", next);
    } catch {
      // A frame in a notebook has no address of its own.
    }
    setFragment(next);
  }, []);
  const open = useCallback(
    (key: string) => {
      remember(key);
      go(startingAt([key], view));
    },
    [go, view],
  );
  return { view, go, open };
}

const OPENED = "lineage-opened";

/** What was opened last in this browser, latest first. */
export function opened(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(OPENED) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

function remember(key: string): void {
  try {
    localStorage.setItem(OPENED, JSON.stringify([key, ...opened().filter((one) => one !== key)].slice(0, 8)));
  } catch {
    // Storage may be forbidden; nothing else depends on it.
  }
}
