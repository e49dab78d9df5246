/** Paste SQL: its lineage as one types. Nothing is stored or executed. */

import { useEffect, useMemo, useRef, useState } from "react";
import type { CardActions } from "./Card";
import { CLAUSES, emptyPart, plural, words } from "./model";
import { usePage } from "./navigation";
import { Failure } from "./Notices";
import { pictureOf } from "./picture";
import { PictureView } from "./PictureView";
import { partOfStatement } from "./statement";
import type { StatementLineage } from "./source";
import { START, type View } from "./view";

const EXAMPLE = "WITH big AS (SELECT id, amount FROM shop.orders WHERE amount > 100)\nSELECT c.name, sum(b.amount) AS total\nFROM big AS b JOIN shop.customers AS c ON c.id = b.id\nGROUP BY c.name";
const DRAFT = "lineage-sql";

export function Paste() {
  const { source, service } = usePage();
  const [sql, setSql] = useState(() => sessionStorage.getItem(DRAFT) ?? "");
  const [dialect, setDialect] = useState("postgres");
  const [schema, setSchema] = useState("");
  const [references, setReferences] = useState(true);
  const [ctes, setCtes] = useState(true);
  const [answer, setAnswer] = useState<{ statements: StatementLineage[]; sql: string } | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [chosen, setChosen] = useState(0);
  useEffect(() => {
    sessionStorage.setItem(DRAFT, sql);
    if (!sql.trim()) {
      setAnswer(null);
      setError(null);
      return;
    }
    const stop = new AbortController();
    const timer = setTimeout(() => {
      source.extract(sql, dialect, schema, stop.signal).then(
        (statements) => {
          setAnswer({ statements, sql });
          setError(null);
        },
        (failure: Error) => failure.name !== "AbortError" && setError(failure),
      );
    }, 250);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [source, sql, dialect, schema]);
  const index = Math.min(chosen, Math.max(0, (answer?.statements.length ?? 0) - 1));
  const statement = answer?.statements[index];
  return (
    <main className="paste-page">
      <div className="editor">
        <h1>Lineage of a query</h1>
        <div className="bar">
          <label className="field">
            Dialect
            <select value={dialect} onChange={(event) => setDialect(event.target.value)}>
              {service.dialects.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
          <label className="field">
            Default schema <input size={10} value={schema} onChange={(event) => setSchema(event.target.value)} />
          </label>
        </div>
        <textarea aria-label="SQL" spellCheck={false} autoFocus placeholder={EXAMPLE} value={sql} onChange={(event) => setSql(event.target.value)} />
        {!sql && (
          <button type="button" onClick={() => setSql(EXAMPLE)}>
            Take the example
          </button>
        )}
        <p className="note">It is read, never executed, and not stored.</p>
        {answer && answer.statements.length > 1 && (
          <label className="field">
            Statement
            <select value={index} onChange={(event) => setChosen(Number(event.target.value))}>
              {answer.statements.map((one, at) => (
                <option key={at} value={at}>
                  {at + 1}: {words(one.operation)} {one.target ?? ""}
                </option>
              ))}
            </select>
          </label>
        )}
        {statement && <Said statement={statement} />}
      </div>
      <div className="result">
        {error && <Failure error={error} />}
        <div className="over">
          <label className="field">
            <input type="checkbox" checked={references} onChange={(event) => setReferences(event.target.checked)} /> References
          </label>
          {statement?.steps && (
            <label className="field">
              <input type="checkbox" checked={ctes} onChange={(event) => setCtes(event.target.checked)} /> CTEs as cards
            </label>
          )}
        </div>
        {statement && <StatementPicture statement={statement} references={references} ctes={ctes} />}
      </div>
    </main>
  );
}

const IN_WORDS: Record<string, string> = {
  FULL: "The sources of every output column are known, and every clause was read.",
  PARTIAL: "Some names or clauses could not be resolved; what is shown holds.",
  TABLES: "Only the tables that it reads and writes are known.",
  NONE: "Nothing could be read from it.",
};

function Said({ statement }: { statement: StatementLineage }) {
  const { open } = usePage();
  const { targetKey, impact } = statement;
  return (
    <section className="said" role="status" aria-label="Completeness">
      <p>
        <b className={`badge ${statement.completeness === "FULL" ? "good" : "warn"}`}>{words(statement.completeness)}</b> {IN_WORDS[statement.completeness]}
      </p>
      <ul>
        {statement.diagnostics.map((found, index) => (
          <li key={index} className="finding">
            <b>{found.code}</b> {found.line !== null && `line ${found.line}, column ${found.column}: `}
            {found.message}
            {found.hint && <small> {found.hint}</small>}
          </li>
        ))}
      </ul>
      {targetKey && (
        <p>
          {statement.target} is in the graph; {impact ? plural(impact.columns, "column") : "nothing"} in {plural(impact?.tables ?? 0, "table")} depend on it.{" "}
          <button type="button" onClick={() => open(targetKey)}>
            Open it
          </button>
        </p>
      )}
    </section>
  );
}

const noop = () => undefined;

function StatementPicture({ statement, references, ctes }: { statement: StatementLineage; references: boolean; ctes: boolean }) {
  const { part, target } = useMemo(() => partOfStatement(statement, ctes), [statement, ctes]);
  const wide = useRef<string[]>([]);
  const [, redraw] = useState(0);
  const [focus, setFocus] = useState("");
  const view: View = { ...START, page: "lineage", of: [target], focus: part.columns.has(focus) ? focus : "", wide: wide.current, filters: { ...START.filters, clauses: references ? [...CLAUSES] : [] } };
  const asks = new Map([
    [`u:${target}`, part],
    [`d:${target}`, emptyPart()],
  ]);
  const allColumns = new Map([...part.tables.keys()].map((key) => [key, [...part.columns.values()].filter((column) => column.table === key)]));
  const picture = pictureOf(view, { asks, around: { UPSTREAM: [], DOWNSTREAM: [] }, extras: new Map(), allColumns }, new Date());
  const actions: CardActions = {
    picture,
    selected: "",
    focus: view.focus,
    starts: new Set([target]),
    marks: new Map(),
    hiddenMarks: new Map(),
    columnCount: (table) => allColumns.get(table)?.length ?? null,
    explore: noop,
    pick: (key, options) => options.focus && setFocus(key === focus ? "" : key),
    widen: (table) => {
      wide.current = wide.current.includes(table) ? wide.current.filter((one) => one !== table) : [...wide.current, table];
      redraw((count) => count + 1);
    },
    unstack: noop,
  };
  return <PictureView picture={picture} actions={actions} origin={JSON.stringify([...part.tables.keys()])} />;
}
