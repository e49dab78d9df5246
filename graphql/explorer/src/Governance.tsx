/** Reports for who governs data: where personal data is, who read it, and which tables nobody used. */

import { AccessPage } from "./AccessPage";
import { BlindSpots, Classes, ClassTags } from "./personalData";
import { useAnswer } from "./loading";
import { groupBy, plural, words } from "./model";
import { usePage } from "./navigation";
import { Failure } from "./Notices";
import type { ExposedColumn, Exposures, PersonalSource, UnusedReport } from "./source";
import { NO_FILTERS, START, type View } from "./view";

const REPORTS: [View["page"], string][] = [
  ["personal-data", "Personal data"],
  ["access", "Who read it"],
  ["unused", "Unused tables"],
];
const AGES = [30, 90, 180, 365];

export function Governance() {
  const { view, go } = usePage();
  return (
    <main className="reports-page">
      <nav className="switch" aria-label="Reports">
        {REPORTS.map(([page, title]) => (
          <button key={page} type="button" aria-pressed={view.page === page} onClick={() => go({ ...START, page })}>
            {title}
          </button>
        ))}
      </nav>
      {view.page === "unused" ? <Unused /> : view.page === "access" ? <AccessPage /> : <PersonalData />}
    </main>
  );
}

function PersonalData() {
  const { source, view } = usePage();
  const { answer, error, busy } = useAnswer("personal-data", () => source.personalData());
  const name = view.filters.tag;
  const sources = (answer?.sources ?? []).filter((one) => !name || one.classes.includes(name));
  const counts = new Map(answer?.classes.map((one) => [one, answer.sources.filter((column) => column.classes.includes(one)).length]));
  return (
    <>
      <h1>Where personal data is</h1>
      {error && <Failure error={error} />}
      {busy && <p className="note" role="status">Following values…</p>}
      {answer && !answer.sources.length && (
        <section className="empty" role="status">
          <p>No column is tagged as personal data. Tag columns by their names and types, or one by one:</p>
          <pre>lineage tag scan{"\n"}lineage tag add shop.customers.email email</pre>
        </section>
      )}
      {answer && answer.sources.length > 0 && (
        <>
          <Classes names={answer.classes} counts={counts} total={answer.total} />
          {answer.sources.length < answer.total && (
            <p className="note">
              {answer.sources.length} of {answer.total.toLocaleString("en")} source columns shown. `lineage pii` has all.
            </p>
          )}
          <div className="work with-panel">
            <Sources sources={sources} />
            {view.selected ? <Exposed key={view.selected} column={view.selected} /> : <p className="panel note">Choose a column to see where its values are.</p>}
          </div>
          <BlindSpots of={answer.blindSpots} />
        </>
      )}
    </>
  );
}

function Sources({ sources }: { sources: PersonalSource[] }) {
  const { view, go } = usePage();
  return (
    <div className="list">
      <div className="scroll" tabIndex={0} role="region" aria-label="Source columns">
        <table>
          <thead>
            <tr>
              <th scope="col">Source column</th>
              <th scope="col">Class</th>
              <th scope="col">Tagged by</th>
              <th scope="col" className="number" title="Other columns that have its values">
                Held by
              </th>
            </tr>
          </thead>
          <tbody>
            {sources.map((one) => (
              <tr key={one.key} aria-selected={one.key === view.selected}>
                <td>
                  <button type="button" className="link" aria-pressed={one.key === view.selected} onClick={() => go({ ...view, selected: one.key })}>
                    {one.name}
                  </button>
                </td>
                <td>
                  <ClassTags names={one.classes} />
                </td>
                <td>{one.reasons.join("; ")}</td>
                <td className="number">{plural(one.holders, "column")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function Exposed({ column }: { column: string }) {
  const { source, open } = usePage();
  const { answer, error } = useAnswer(column, () => source.exposures(column));
  return (
    <aside className="panel" aria-label="Where its values are" tabIndex={0}>
      {error && <Failure error={error} />}
      {!answer && !error && <p className="note" role="status">Loading…</p>}
      {answer && (
        <>
          <div className="panel-head">
            <h2>{answer.name}</h2>
            <button type="button" onClick={() => open(column)}>
              Open picture
            </button>
          </div>
          <Holders answer={answer} />
        </>
      )}
    </aside>
  );
}

function Holders({ answer }: { answer: Exposures }) {
  const { open } = usePage();
  const tables = groupBy(answer.columns, (one) => one.table);
  return (
    <>
      <p>
        {answer.total ? `${plural(answer.total, "other column")} in ${plural(tables.size, "table")} ${answer.total === 1 ? "holds" : "hold"} its values.` : "No other column holds its values."}
        {answer.columns.length < answer.total && ` ${answer.columns.length} shown.`}
      </p>
      {answer.columns.some((one) => one.users === null && one.reads > 0) && <p className="note">Who reads them is shown to stewards.</p>}
      {[...tables].map(([table, columns]) => (
        <section key={table}>
          <h3>{table}</h3>
          <ul className="jobs">
            {columns.map((one) => (
              <li key={one.key}>
                <button type="button" className="link" onClick={() => open(one.key)}>
                  {one.name.startsWith(`${table}.`) ? one.name.slice(table.length + 1) : one.name}
                </button>
                <b className={`badge ${one.exposure === "UNMASKED" ? "warn" : one.exposure === "MASKED" ? "good" : ""}`}>{words(one.exposure)}</b>
                <small> {useOf(one)}</small>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {answer.influenced.length > 0 && <p>It decides about {plural(answer.influenced.length, "column or table", "columns and tables")} without being there.</p>}
      {answer.possibly.length > 0 && <p className="finding">It may be in {answer.possibly.join(", ")}: the columns of their SQL are not known.</p>}
      {answer.stopped.length > 0 && <p className="note">Not followed beyond {answer.stopped.join(", ")}: marked as no personal data.</p>}
    </>
  );
}

function useOf({ hops, reads, lastRead, users }: ExposedColumn): string {
  const read = reads ? `${plural(reads, "read")}${lastRead ? `, last on ${lastRead.slice(0, 10)}` : ""}` : "no logged read";
  return `${plural(hops, "hop")}; ${read}${users?.length ? `; by ${users.join(", ")}` : ""}`;
}

function Unused() {
  const { source, view, go } = usePage();
  const days = view.filters.unread ?? 90;
  const { answer, error, busy } = useAnswer(`unused ${days}`, () => source.unused(days));
  return (
    <>
      <h1>Tables that nobody used</h1>
      <label className="field">
        Not used for{" "}
        <select value={days} onChange={(event) => go({ ...view, filters: { ...NO_FILTERS, unread: Number(event.target.value) } })}>
          {[...new Set([...AGES, days])].sort((a, b) => a - b).map((one) => (
            <option key={one} value={one}>
              {plural(one, "day")}
            </option>
          ))}
        </select>
      </label>
      {error && <Failure error={error} />}
      {busy && <p className="note" role="status">Loading…</p>}
      {answer && <UnusedTables answer={answer} />}
    </>
  );
}

function UnusedTables({ answer }: { answer: UnusedReport }) {
  const { open } = usePage();
  return (
    <>
      <p role="status">
        {answer.total ? `${plural(answer.total, "table")} were not used` : "Every judged table was used"} from {answer.since} to {answer.until}. Logs cover {answer.logFirstDay} to {answer.logLastDay}.
        {answer.notJudged > 0 && ` ${plural(answer.notJudged, "table")} could not be judged: no log covers the system, or these are files and dashboards.`}
      </p>
      {answer.tables.length > 0 && (
        <div className="list">
          <p className="note">
            In the order in which they can be dropped.{answer.tables.length < answer.total && ` ${answer.tables.length} of ${answer.total.toLocaleString("en")} shown; \`lineage unused\` has all.`}
          </p>
          <div className="scroll" tabIndex={0} role="region" aria-label="Unused tables">
            <table>
              <thead>
                <tr>
                  <th scope="col">Table</th>
                  <th scope="col">Last read</th>
                  <th scope="col">Confidence</th>
                  <th scope="col">Because</th>
                  <th scope="col">Drop these first</th>
                </tr>
              </thead>
              <tbody>
                {answer.tables.map((one) => (
                  <tr key={one.key}>
                    <td>
                      <button type="button" className="link" onClick={() => open(one.key)}>
                        {one.name}
                      </button>
                    </td>
                    <td>{one.lastRead ?? "not in the logs"}</td>
                    <td>{one.sure}</td>
                    <td>{one.but.join("; ")}</td>
                    <td>{one.feeds.join(", ")}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </div>
      )}
    </>
  );
}
