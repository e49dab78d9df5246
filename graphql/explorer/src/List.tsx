/** The list twin: the same columns as the picture, to sort, to filter and to take along. */

import { Fragment, useEffect, useMemo, useState } from "react";
import { excelOf, MOST_IN_A_SHEET } from "./excel";
import { useMarks } from "./marks";
import { type Direction, isColumn, partsOf, plural } from "./model";
import { timeOf, useExtras } from "./loading";
import { usePage } from "./navigation";
import { kindsOf, type Picture } from "./picture";
import { admitsReached, csvOf, HEADINGS, type ListRow, matching, rowOfReached, rowsOf, sorted, unheeded, withMarks } from "./rows";

const SHOWN = 500;

export function List({ picture, larger, pick }: { picture: Picture; larger: { key: string; direction: Direction }[]; pick(key: string): void }) {
  const { view } = usePage();
  const [by, setBy] = useState<keyof ListRow>("hops");
  const [descending, setDescending] = useState(false);
  const [text, setText] = useState("");
  const [most, setMost] = useState(SHOWN);
  const tables = useMemo(() => [...picture.cards].flatMap((card) => card.table ?? card.stack?.tables ?? []), [picture]);
  const extras = useExtras(tables);
  const own = useMemo(() => rowsOf(picture, view.of, extras), [picture, view.of, extras]);
  const { rows: reached, busy, failure } = useReached(larger);
  const all = useMemo(() => {
    const keys = new Set(own.map((row) => row.key));
    return [...own, ...reached.filter((row) => !keys.has(row.key))];
  }, [own, reached]);
  const marking = useMarks(useMemo(() => all.map((row) => row.key).filter(isColumn), [all]), timeOf(view.asOf), busy);
  const rows = useMemo(() => sorted(matching(withMarks(all, marking.marks), text), by, descending), [all, marking.marks, text, by, descending]);
  // A column that is empty everywhere takes the others' room; files have all.
  const headings = HEADINGS.filter(([name]) => ["table", "column", "hops"].includes(name) || rows.some((row) => row[name] !== "" && row[name] !== null));
  const ignored = larger.length ? unheeded(view) : [];
  const total = all.length;
  return (
    <section className="list" aria-label="List">
      <div className="list-tools">
        <label className="field">
          Find in the list <input type="search" value={text} onChange={(event) => setText(event.target.value)} />
        </label>
        <span role="status">
          {rows.length === total ? plural(total, "row") : `${rows.length.toLocaleString("en")} of ${plural(total, "row")} shown`}
          {busy ? ", loading more…" : marking.busy && ", looking for personal data…"}
        </span>
        {ignored.length > 0 && <span className="badge warn">not filtered by: {ignored.join(", ")}</span>}
        {marking.failure && <span className="badge warn">not all personal data is found: {marking.failure}</span>}
        {failure && <span className="badge warn">not all rows could be loaded: {failure}</span>}
        <button type="button" onClick={() => save(new Blob([csvOf(rows)], { type: "text/csv" }), "lineage.csv")}>
          Save as CSV
        </button>
        <button
          type="button"
          disabled={rows.length > MOST_IN_A_SHEET}
          title={rows.length > MOST_IN_A_SHEET ? "A sheet holds 1,048,575 rows: save as CSV" : undefined}
          onClick={() => excelOf(rows).then((file) => save(file, "lineage.xlsx"))}
        >
          Save as Excel
        </button>
      </div>
      <div className="scroll" tabIndex={0} role="region" aria-label="Rows">
        <table>
          <thead>
            <tr>
              {headings.map(([name, heading]) => (
                <th key={name} scope="col" className={name === "hops" ? "number" : undefined} aria-sort={by === name ? (descending ? "descending" : "ascending") : "none"}>
                  <button
                    type="button"
                    onClick={() => {
                      setDescending(by === name && !descending);
                      setBy(name);
                    }}
                  >
                    {heading}
                    {by === name ? (descending ? " ▾" : " ▴") : ""}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, most).map((row) => (
              <tr key={row.key} data-node={row.key} aria-selected={view.selected === row.key}>
                {headings.map(([name]) =>
                  name === "column" ? (
                    <td key={name}>
                      <button type="button" className="link" onClick={() => pick(row.key)}>
                        {row.column}
                      </button>
                    </td>
                  ) : (
                    <td key={name} className={name === "hops" ? "number hops" : name === "relation" ? `relation ${row.relation}` : `whole ${name}`}>
                      {name === "table" ? <Dotted name={row.table} /> : row[name]}
                    </td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
        {rows.length > most && (
          <button type="button" onClick={() => setMost(most + SHOWN)}>
            {most} of {rows.length.toLocaleString("en")} shown: show {Math.min(SHOWN, rows.length - most)} more
          </button>
        )}
      </div>
    </section>
  );
}

/** A name that breaks after its dots. */
const Dotted = ({ name }: { name: string }) => partsOf(name).map((part, index) => (
  <Fragment key={index}>
    {index > 0 && (
      <>
        .<wbr />
      </>
    )}
    {part}
  </Fragment>
));

/** Everything above or below nodes, page by page: what no picture can show. */
function useReached(larger: { key: string; direction: Direction }[]): { rows: ListRow[]; busy: boolean; failure?: string } {
  const { source, view } = usePage();
  const [state, setState] = useState<{ question: string; rows: ListRow[]; busy: boolean; failure?: string }>({ question: "", rows: [], busy: false });
  const kinds = kindsOf(view.filters.clauses);
  const question = JSON.stringify([larger, kinds, view.filters, view.asOf]);
  useEffect(() => {
    let current = true;
    const read = async () => {
      const rows: ListRow[] = [];
      for (const { key, direction } of larger) {
        for (let after: string | null = ""; after !== null && current; ) {
          const page = await source.reached({ key, direction, kinds, asOf: timeOf(view.asOf) }, after);
          rows.push(...page.rows.filter((row) => admitsReached(row, view.filters)).map((row) => rowOfReached(row, direction === "DOWNSTREAM" ? 1 : -1)));
          after = page.after;
          if (current) setState({ question, rows: [...rows], busy: after !== null });
        }
      }
    };
    const fail = (error: unknown) => {
      const failure = error instanceof Error ? error.message : String(error);
      if (current) setState((before) => ({ question, rows: before.question === question ? before.rows : [], busy: false, failure }));
    };
    if (larger.length) read().catch(fail);
    return () => {
      current = false;
    };
  }, [source, question]);
  return state.question === question ? state : { rows: [], busy: larger.length > 0 };
}

function save(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
