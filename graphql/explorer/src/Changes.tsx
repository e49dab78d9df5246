/** What changed in the lineage between the two dates of a comparison. */

import { timeOf, useAnswer } from "./loading";
import { CLAUSES, type Change, type Part, flowId, groupBy, isColumn, nameOf, pathOf, plural, tableOf, words } from "./model";
import { usePage } from "./navigation";
import { Failure } from "./Notices";
import type { Picture } from "./picture";
import type { Changes as FoundChanges } from "./source";

/** Edges into a table, or into one of its columns, that were added, are gone, or have another transformation. */
export function Changes({ node, part }: { node: string; part: Part }) {
  const { source, view } = usePage();
  const table = tableOf(node);
  const period = `${view.since} and ${view.asOf || "today"}`;
  const { answer, error } = useAnswer(JSON.stringify([table, view.since, view.asOf]), () => source.changes(table, timeOf(view.since), timeOf(view.asOf)));
  const edges = answer?.edges.filter((edge) => !isColumn(node) || edge.target === node || edge.target === table) ?? [];
  const days = groupBy(edges, (edge) => (edge.change === "added" ? (edge.at?.slice(0, 10) ?? "") : ""));
  return (
    <section aria-label="Changes">
      <h3>Changes</h3>
      {error && <Failure error={error} />}
      {!answer && !error && <p className="note">Loading…</p>}
      {answer && !edges.length && <p className="note">Between {period} nothing changed in where its columns and rows come from.</p>}
      {[...days].sort(([a], [b]) => (a < b ? -1 : 1)).map(([day, some]) => (
        <ul key={day} className="jobs">
          {day && <li className="note">since {day}</li>}
          {some.map((edge) => (
            <li key={edge.change + flowId(edge)}>
              <ChangeLine edge={edge} part={part} />
            </li>
          ))}
        </ul>
      ))}
      {answer?.isLowerBound && <p className="note">There are more changes.</p>}
      {answer && <p className="note">Formulas are not compared: the same columns, computed otherwise, are no change here.</p>}
    </section>
  );
}

function ChangeLine({ edge, part }: { edge: FoundChanges["edges"][number]; part: Part }) {
  const target = isColumn(edge.target) ? pathOf(edge.target) : "its rows";
  return (
    <>
      <b className={`badge ${edge.change}`}>{edge.change}</b> {nameOf(edge.source, part)} → {target}{" "}
      <small className={edge.kind === "CONTRIBUTES" ? "contribution" : "reference"}>{edge.subtypes.map(words).join(", ")}</small>
    </>
  );
}

/** The comparison in words, above the picture. */
export function ChangesNotice({ picture }: { picture: Picture }) {
  const { view, go } = usePage();
  const flows = groupBy(picture.part.edges.filter((edge) => edge.change), flowId);
  const counts = new Map<Change, number>();
  for (const [first] of flows.values()) counts.set(first!.change!, (counts.get(first!.change!) ?? 0) + 1);
  const said = (["added", "gone", "changed"] as const).flatMap((change) => (counts.has(change) ? [`${counts.get(change)!.toLocaleString("en")} ${change}`] : []));
  const { clauses } = view.filters;
  return (
    <p role="status" className="comparison">
      {said.length ? `${plural(flows.size, "line")} of this picture changed since ${view.since}: ${said.join(", ")}.` : `No line of this picture changed since ${view.since}.`} Formulas are not compared.
      {clauses.length < CLAUSES.length && (
        <>
          {" "}
          {clauses.length ? "Not all clauses" : "Filters, joins and other references"} are {clauses.length ? "" : "not "}compared.{" "}
          <button type="button" onClick={() => go({ ...view, filters: { ...view.filters, clauses: [...CLAUSES] } })}>
            Compare them too
          </button>
        </>
      )}
    </p>
  );
}
