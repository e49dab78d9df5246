/** Search with suggestions, by keyboard: `/` goes there, arrows choose, Enter opens. */

import { useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { Kind } from "./Card";
import { usePage } from "./navigation";
import type { Hit } from "./source";

export function Search({ large = false, onPick, label = "Search tables and columns", slash = true }: { large?: boolean; onPick?: (hit: Hit) => void; label?: string; slash?: boolean }) {
  const { source, open } = usePage();
  const [text, setText] = useState("");
  const [found, setFound] = useState<{ text: string; hits: Hit[]; total: number; error: string } | null>(null);
  const [active, setActive] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  /** Enter was pressed before the answer came: it opens the first hit. */
  const entered = useRef(false);
  const id = useId();
  // Before the field is painted: who sees it may press the key.
  useLayoutEffect(() => {
    if (!slash) return;
    const go = (event: KeyboardEvent) => {
      const at = event.target as HTMLElement;
      if (event.key !== "/" || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName)) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener("keydown", go);
    return () => removeEventListener("keydown", go);
  }, [slash]);
  const pick = (hit: Hit | undefined) => {
    if (!hit) return;
    setText("");
    setOpen(false);
    input.current?.blur();
    if (onPick) onPick(hit);
    else open(hit.key);
  };
  useEffect(() => {
    const wanted = text.trim();
    if (!wanted) {
      setFound(null);
      return;
    }
    const stop = new AbortController();
    const timer = setTimeout(() => {
      source.search(wanted, stop.signal).then(
        ({ hits, total }) => {
          setFound({ text: wanted, hits, total, error: "" });
          setActive(0);
          if (entered.current) pick(hits[0]);
          entered.current = false;
        },
        (error: Error) => error.name !== "AbortError" && setFound({ text: wanted, hits: [], total: 0, error: error.message }),
      );
    }, 120);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, source]);
  const hits = found?.hits ?? [];
  const onKey = (event: React.KeyboardEvent) => {
    if (event.key === "ArrowDown") setActive((at) => Math.min(at + 1, hits.length - 1));
    else if (event.key === "ArrowUp") setActive((at) => Math.max(at - 1, 0));
    else if (event.key === "Enter") {
      if (found?.text === text.trim()) pick(hits[active]);
      else entered.current = true;
    }
    else if (event.key === "Escape") {
      setOpen(false);
      input.current?.blur();
    } else return;
    event.preventDefault();
  };
  const showing = isOpen && found !== null;
  return (
    <div className={`search${large ? " large" : ""}`} role="search">
      <input
        ref={input}
        type="search"
        role="combobox"
        aria-label={label}
        aria-expanded={showing}
        aria-controls={`${id}-hits`}
        aria-activedescendant={showing && hits.length ? `${id}-${active}` : undefined}
        aria-autocomplete="list"
        placeholder={large ? "orders.amount, or tag: pii, or owner: finance" : `${label}…`}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          entered.current = false;
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setTimeout(() => setOpen(false), 150)}
        onKeyDown={onKey}
      />
      {slash && <kbd title="Press / to search">/</kbd>}
      {showing && (
        <ul className="hits" role="listbox" id={`${id}-hits`} aria-label="Found">
          {hits.map((hit, index) => (
            <li key={hit.key} id={`${id}-${index}`} role="option" aria-selected={index === active} onMouseDown={(event) => event.preventDefault()} onClick={() => pick(hit)} onMouseMove={() => setActive(index)}>
              {hit.kind === "column" ? <span className="kind">▪</span> : <Kind kind={hit.kind} />}
              <span className="hit-name">{hit.name}</span>
              <span className="hit-context">{hit.context}</span>
            </li>
          ))}
          {found.error && <li className="note">{found.error}</li>}
          {!found.error && !hits.length && <li className="note">{/^(tag|owner):|^#/i.test(found.text) ? `Nothing has that ${/^owner/i.test(found.text) ? "owner" : "tag"}.` : `Nothing has “${found.text}” in its name.`}</li>}
          {found.total > hits.length && (
            <li className="note">
              {hits.length} of {found.total.toLocaleString("en")} shown
            </li>
          )}
        </ul>
      )}
    </div>
  );
}
