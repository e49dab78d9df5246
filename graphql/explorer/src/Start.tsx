/** The start: search, what was opened and what is used most, and the systems and schemas as a map. */

import { useState } from "react";
import { Kind } from "./Card";
import { useAnswer } from "./loading";
import { plural, type TableInfo } from "./model";
import { opened, usePage } from "./navigation";
import { Failure } from "./Notices";
import { Search } from "./Search";
import type { Estate, UsedTable } from "./source";

export function Start() {
  const { source, service, open } = usePage();
  // The map does not wait for the lists, which take longer where logs are large.
  const { answer: estate, error, busy } = useAnswer("estate", () => source.estate());
  const notable = useAnswer("notable", () => source.notable());
  const recent = opened();
  return (
    <main className="start-page">
      <h1>Where does it come from, and what depends on it?</h1>
      <Search large />
      {error && <Failure error={error} />}
      {busy && <p className="note" role="status">Loading…</p>}
      {estate && estate.tables === 0 && <Empty />}
      {estate && estate.tables > 0 && (
        <>
          {notable.error && <Failure error={notable.error} />}
          <div className={notable.busy ? "lists awaited" : "lists"}>
            {recent.length > 0 && (
              <section>
                <h2>You opened</h2>
                <ul>
                  {recent.map((key) => (
                    <li key={key}>
                      <button type="button" className="link" title={key} onClick={() => open(key)}>
                        {nameOfKey(key)}
                      </button>
                    </li>
                  ))}
                </ul>
              </section>
            )}
            {notable.busy && <p className="note" role="status">Loading…</p>}
            <Tables title="Most read" tables={notable.answer?.used ?? []} detail={(one) => (one.reads === null ? "" : plural(one.reads, "read"))} />
            <Tables title="Seen last" tables={notable.answer?.recent ?? []} detail={(one) => one.at?.slice(0, 10) ?? ""} />
          </div>
          <Lens estate={estate} />
        </>
      )}
      {service.writtenAt && <p className="note">This file holds the graph as it was on {service.writtenAt.slice(0, 16).replace("T", " ")} UTC.</p>}
    </main>
  );
}

function Tables({ title, tables, detail }: { title: string; tables: UsedTable[]; detail(one: UsedTable): string }) {
  const { open } = usePage();
  if (!tables.length) return null;
  return (
    <section>
      <h2>{title}</h2>
      <ul>
        {tables.map((one) => (
          <li key={one.table.key}>
            <button type="button" className="link" title={one.table.key} onClick={() => open(one.table.key)}>
              <Kind kind={one.table.kind} /> {one.table.name}
            </button>
            <small>{detail(one)}</small>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The estate by schema, domain or owner. */
function Lens({ estate }: { estate: Estate }) {
  const [by, setBy] = useState<"schema" | "domain" | "owner">("schema");
  return (
    <>
      <div className="lens" role="group" aria-label="Show the tables by">
        {(["schema", "domain", "owner"] as const).map((one) => (
          <button key={one} type="button" aria-pressed={by === one} onClick={() => setBy(one)}>
            By {one}
          </button>
        ))}
      </div>
      {by === "schema" ? <Overview estate={estate} /> : <ByName key={by} by={by} />}
    </>
  );
}

const WHENCE = {
  owner: "Owners come from dbt groups, exposures and dashboards; none of these has named one.",
  domain: "Domains come from tags such as domain:finance, and from the meta domain of dbt; no table has one.",
};

function ByName({ by }: { by: "domain" | "owner" }) {
  const { source } = usePage();
  const [chosen, setChosen] = useState("");
  const { answer, error } = useAnswer(by, () => source.named(by));
  if (error) return <Failure error={error} />;
  if (!answer) return <p className="note" role="status">Loading…</p>;
  return (
    <section className="overview" aria-label={by === "owner" ? "Owners" : "Domains"}>
      <h2>
        {plural(answer.total, by)}, {plural(answer.without, "table")} without one
      </h2>
      {answer.names.length < answer.total && <p className="note">{`${answer.names.length} of ${answer.total.toLocaleString("en")} shown, those of most tables`}</p>}
      {!answer.total && <p className="note">{WHENCE[by]}</p>}
      <div className="systems">
        {answer.names.map(({ name, tables }) => (
          <button
            key={name}
            type="button"
            className={`tile${name === chosen ? " chosen" : ""}`}
            style={{ flexGrow: Math.sqrt(tables), minWidth: `${Math.min(22, 7 + Math.sqrt(tables))}rem` }}
            aria-expanded={name === chosen}
            onClick={() => setChosen(name === chosen ? "" : name)}
          >
            <strong>{name}</strong>
            <span>{plural(tables, "table")}</span>
          </button>
        ))}
      </div>
      {chosen && <TableList key={chosen} title={chosen} id={`${by} ${chosen}`} read={(after) => source.tablesOfNamed(by, chosen, after)} />}
    </section>
  );
}

/** Systems as frames, their schemas as tiles whose size says how many tables they have. */
function Overview({ estate }: { estate: Estate }) {
  const { source } = usePage();
  const [at, setAt] = useState<{ namespace: string; schema: string } | null>(null);
  const systems = new Map<string, Estate["groups"]>();
  for (const group of estate.groups) systems.set(group.namespace, [...(systems.get(group.namespace) ?? []), group]);
  const chosen = at && `${at.namespace}/${at.schema}`;
  const fromHere = new Map(estate.flows.filter((flow) => flow.source === chosen).map((flow) => [flow.target, flow.flows]));
  const toHere = new Map(estate.flows.filter((flow) => flow.target === chosen).map((flow) => [flow.source, flow.flows]));
  return (
    <section className="overview" aria-label="Overview">
      <h2>
        {plural(estate.tables, "table")} in {plural(estate.groups.length, "schema")} of {plural(systems.size, "system")}
      </h2>
      {!estate.flowsCounted && <p className="note">Lineage between schemas is not counted in an estate of this size.</p>}
      <div className="systems">
        {[...systems].map(([namespace, groups]) => (
          <fieldset key={namespace} className="system">
            <legend>{namespace}</legend>
            {groups.map((group) => {
              const key = `${group.namespace}/${group.schema}`;
              const down = fromHere.get(key);
              const up = toHere.get(key);
              return (
                <button
                  key={key}
                  type="button"
                  className={`tile${key === chosen ? " chosen" : ""}${down ? " feeds-to" : ""}${up ? " feeds-from" : ""}`}
                  style={{ flexGrow: Math.sqrt(group.tables), minWidth: `${Math.min(22, 7 + Math.sqrt(group.tables))}rem` }}
                  aria-expanded={key === chosen}
                  onClick={() => setAt(key === chosen ? null : group)}
                >
                  <strong>{group.schema || "(no schema)"}</strong>
                  <span>{plural(group.tables, "table")}</span>
                  {up && <span>→ {plural(up, "table pair")} into {at?.schema}</span>}
                  {down && <span>← {plural(down, "table pair")} from {at?.schema}</span>}
                </button>
              );
            })}
          </fieldset>
        ))}
      </div>
      {at && chosen && (
        <TableList key={chosen} title={at.schema || at.namespace} prefix={at.schema} id={chosen} read={(after) => source.tablesOf(at.namespace, at.schema, after)} />
      )}
    </section>
  );
}

interface TablePage {
  tables: TableInfo[];
  total: number;
  after: string | null;
}

/** The tables of a tile, page by page, without the prefix that all of them have. */
function TableList({ title, prefix = "", id, read }: { title: string; prefix?: string; id: string; read(after: string): Promise<TablePage> }) {
  const { open } = usePage();
  const [more, setMore] = useState<TableInfo[]>([]);
  const [after, setAfter] = useState<string | null>(null);
  const [failure, setFailure] = useState<Error | null>(null);
  const { answer, error } = useAnswer(id, () => read(""));
  if (error ?? failure) return <Failure error={(error ?? failure)!} />;
  if (!answer) return <p className="note">Loading…</p>;
  const tables = [...answer.tables, ...more];
  const next = more.length ? after : answer.after;
  return (
    <div className="schema">
      <h3>
        {title} <small>{tables.length < answer.total ? `${tables.length} of ${answer.total} shown` : plural(answer.total, "table")}</small>
      </h3>
      <ul>
        {tables.map((table) => (
          <li key={table.key}>
            <button type="button" className="link" title={table.name} onClick={() => open(table.key)}>
              <Kind kind={table.kind} /> {prefix && table.name.startsWith(`${prefix}.`) ? table.name.slice(prefix.length + 1) : table.name}
            </button>
          </li>
        ))}
      </ul>
      {next && (
        <button
          type="button"
          onClick={() =>
            read(next).then((page) => {
              setMore([...more, ...page.tables]);
              setAfter(page.after);
            }, setFailure)
          }
        >
          Show more
        </button>
      )}
    </div>
  );
}

function Empty() {
  return (
    <section className="empty" role="status">
      <h2>The graph is empty</h2>
      <p>Nothing was ingested into this store. For example:</p>
      <pre>lineage ingest sql models/ --dialect postgres{"\n"}lineage ingest log queries.csv{"\n"}lineage ingest dbt target/</pre>
      <p>Then reload this page. If you did, the service may have another store: it prints which when it starts.</p>
    </section>
  );
}

const nameOfKey = (key: string): string => key.slice(key.lastIndexOf("/") + 1).replace("#", ".");
