import { useEffect, useMemo, useState } from "react";
import { Governance } from "./Governance";
import { LineagePage } from "./LineagePage";
import { type Page, PageProvider, useView } from "./navigation";
import { useNotebook } from "./notebook";
import { Failure } from "./Notices";
import { Paste } from "./Paste";
import { Search } from "./Search";
import { ServiceSource } from "./service";
import type { Service, Source } from "./source";
import { Start } from "./Start";
import { START, startingAt } from "./view";

const TITLES: Partial<Record<string, string>> = { sql: "SQL – Lineage", "personal-data": "Personal data – Lineage", access: "Who read personal data – Lineage", unused: "Unused tables – Lineage" };

export function App({ source }: { source: Source }) {
  const { view, go, open } = useView();
  useNotebook(view, go);
  const [service, setService] = useState<Service | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [version, setVersion] = useState(0);
  useEffect(() => {
    source.service().then(
      (answer) => {
        setService(answer);
        if (answer.focus.length && !location.hash) go(startingAt(answer.focus), { replace: true });
      },
      setError,
    );
  }, [source, version]);
  const page = useMemo((): Page | null => {
    const refresh = () => {
      if (source instanceof ServiceSource) source.forget();
      setError(null);
      setVersion((count) => count + 1);
    };
    const nothing: Service = { version: "", isSteward: false, dialects: [], hasEditor: false, readsSql: false, writtenAt: null, focus: [] };
    // A picture does not wait for what the service says of itself; a page whose service fails shows that only.
    return service || error || view.page === "lineage" ? { source, service: service ?? nothing, view, go, open, refresh } : null;
  }, [source, service, error, view, go, open]);
  useEffect(() => {
    const last = view.of[0]?.replace(/^.*\//, "").replace("#", ".");
    document.title = view.page === "lineage" ? `${last} – Lineage` : (TITLES[view.page] ?? "Lineage explorer");
  }, [view]);
  const isReport = view.page === "personal-data" || view.page === "access" || view.page === "unused";
  if (!page) return <p className="note" role="status">Loading…</p>;
  return (
    <PageProvider value={page}>
      <header className="top">
        <button type="button" className="skip" onClick={() => document.querySelector<HTMLElement>("main button:not(:disabled), main input")?.focus()}>
          Skip to the content
        </button>
        <a
          href="#/"
          className="brand"
          onClick={(event) => {
            event.preventDefault();
            go(START);
          }}
        >
          <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
            <path d="M5 6h5c4 0 4 12 9 12M5 18h5c4 0 4-12 9-12" fill="none" stroke="currentColor" strokeWidth="2" />
            <circle cx="4" cy="6" r="2.5" /> <circle cx="4" cy="18" r="2.5" /> <circle cx="20" cy="6" r="2.5" /> <circle cx="20" cy="18" r="2.5" />
          </svg>
          Lineage
        </a>
        {view.page !== "start" && service && <Search />}
        <nav aria-label="Pages">
          {page.service.readsSql && (
            <a
              href="#/personal-data"
              aria-current={isReport ? "page" : undefined}
              onClick={(event) => {
                event.preventDefault();
                go({ ...START, page: "personal-data" });
              }}
            >
              Reports
            </a>
          )}
          {page.service.readsSql && (
            <a
              href="#/sql"
              aria-current={view.page === "sql" ? "page" : undefined}
              onClick={(event) => {
                event.preventDefault();
                go({ ...START, page: "sql" });
              }}
            >
              SQL
            </a>
          )}
          {page.service.hasEditor && <a href="graphql">GraphQL</a>}
        </nav>
      </header>
      {error ? (
        <main>
          <Failure error={error} />
        </main>
      ) : view.page === "lineage" ? (
        <LineagePage key={version} />
      ) : view.page === "sql" && page.service.readsSql ? (
        <Paste />
      ) : isReport && page.service.readsSql ? (
        <Governance key={version} />
      ) : (
        <Start key={version} />
      )}
    </PageProvider>
  );
}
