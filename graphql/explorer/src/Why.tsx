/** Why a picture has no lines: the cause in words, and a button that lifts it. */

import { timeOf, useAnswer } from "./loading";
import { CLAUSES, isColumn, nameOf, plural, tableOf, words } from "./model";
import { usePage } from "./navigation";
import type { Picture } from "./picture";
import type { Details, Source } from "./source";
import type { View } from "./view";

interface Cause {
  text: string;
  action?: string;
  lift?: View;
}

export function Why({ picture }: { picture: Picture }) {
  const { source, view, go } = usePage();
  const key = view.of[0]!;
  const question = JSON.stringify([view.of, view.asOf, view.since, view.filters.clauses]);
  const { answer } = useAnswer(question, () => causesOf(source, view));
  const filters = picture.missing.map((one): Cause => ({ text: one.text, action: one.action, lift: one.lift }));
  const causes = [...filters, ...(answer ?? [])];
  return (
    <section className="why" role="status" aria-label="Why the picture is empty">
      <h2>No lineage of {nameOf(key, picture.part)} is shown</h2>
      {!answer && <p>Looking for the cause…</p>}
      <ul>
        {causes.map((cause) => (
          <li key={cause.text}>
            {cause.text}{" "}
            {cause.lift && (
              <button type="button" onClick={() => go(cause.lift!)}>
                {cause.action}
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

async function causesOf(source: Source, view: View): Promise<Cause[]> {
  const key = view.of[0]!;
  const details = await source.details(key);
  if (details.key !== key) {
    const name = details.column ? `${details.table.name}.${details.column.path}` : details.table.name;
    const lift = { ...view, of: view.of.map((one) => (one === key ? details.key : one)), selected: "", focus: "", steps: [] };
    return [{ text: `It is called ${name} now.`, action: "Show it", lift }];
  }
  const causes: Cause[] = [];
  const count = async (asOf: string, references: boolean) => {
    const kinds = references ? (["REFERENCES"] as const) : (["CONTRIBUTES"] as const);
    const hops = await Promise.all(
      (["UPSTREAM", "DOWNSTREAM"] as const).map((direction) => source.hop({ of: [key], direction, kinds: [...kinds], asOf, maxEdges: 1 })),
    );
    return hops.reduce((sum, hop) => sum + hop.totalEdges, 0);
  };
  if (!view.filters.clauses.length) {
    const references = await count(timeOf(view.asOf), true);
    if (references) {
      const text = `Only contributions are shown. ${plural(references, "reference")} (filters, joins, …) ${references === 1 ? "is" : "are"} hidden.`;
      causes.push({ text, action: "Show references", lift: { ...view, filters: { ...view.filters, clauses: [...CLAUSES] } } });
    }
  }
  if (view.asOf) {
    const now = (await count("", false)) + (await count("", true));
    const first = details.table.firstSeen?.slice(0, 10);
    const text = `The graph is shown as of ${view.asOf}${first && first > view.asOf ? `; this table was first seen on ${first}` : ""}.`;
    if (now) causes.push({ text: `${text} Now it has ${plural(now, "edge")}.`, action: "Go to now", lift: { ...view, asOf: "" } });
  }
  if (isColumn(key) && !causes.length) {
    const table = await source.hop({ of: [tableOf(key)], direction: "DOWNSTREAM", kinds: ["CONTRIBUTES"], asOf: timeOf(view.asOf), maxEdges: 1 });
    if (table.totalEdges) causes.push({ text: "Other columns of its table have lineage.", action: "Show the table", lift: { ...view, of: [tableOf(key)], selected: tableOf(key), steps: [], focus: "" } });
  }
  return [...causes, ...sourcesOf(details)];
}

/** What of the sources explains it: nothing was ingested, or not everything could be resolved. */
function sourcesOf(details: Details): Cause[] {
  const { table, jobs } = details;
  const causes: Cause[] = [];
  const dropped = details.column?.droppedAt ?? table.droppedAt;
  if (dropped) causes.push({ text: `It was dropped on ${dropped.slice(0, 10)}. A date before it (“as of”) shows its lineage.` });
  if (!jobs.length) {
    causes.push({ text: `No ingested SQL, log or project reads or writes ${table.name}. Ingest what does: lineage ingest sql, log or dbt.` });
  } else if (jobs.every((job) => job.operation === "CREATE_TABLE")) {
    causes.push({ text: `Only the definition of ${table.name} is known: no ingested SQL, log or project fills or reads it.` });
  } else if (!jobs.some((job) => job.writes)) {
    causes.push({ text: `No ingested job writes ${table.name}: it may be a source, or what fills it was not ingested.` });
  }
  for (const job of jobs.filter((one) => one.completeness !== "FULL")) {
    const reason = job.diagnostics[0];
    causes.push({ text: `${job.file ?? words(job.kind)} was not fully resolved${reason ? `: ${reason.message}` : "."}${reason?.hint ? ` (${reason.hint})` : ""}` });
  }
  if (!causes.length) causes.push({ text: "The jobs that read its table do not use it, as far as they were resolved." });
  return causes;
}
