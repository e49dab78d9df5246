/** Who read personal data, by query logs: what they saw, how often, and who is new. */

import { useAnswer } from "./loading";
import { plural, words } from "./model";
import { usePage } from "./navigation";
import { Failure } from "./Notices";
import { BlindSpots, Classes, ClassTags } from "./personalData";
import type { Access, AccessReport } from "./source";

export function AccessPage() {
  const { source, view } = usePage();
  const name = view.filters.tag;
  const { answer, error, busy } = useAnswer(`access ${name}`, () => source.access(name));
  return (
    <>
      <h1>Who read personal data</h1>
      {error && <Failure error={error} />}
      {busy && <p className="note" role="status">Following values…</p>}
      {answer && (
        <>
          <Classes names={answer.classes} />
          <BlindSpots of={answer.blindSpots} open={!answer.accesses.length} />
          <Readers answer={answer} />
        </>
      )}
    </>
  );
}

function Readers({ answer }: { answer: AccessReport }) {
  const { view, go } = usePage();
  const { masking } = view.filters;
  const shown = answer.accesses.filter((one) => !masking || (one.exposure === "MASKED") === (masking === "masked"));
  const isCut = answer.accesses.length < answer.total;
  return (
    <>
      <label className="field">
        <input
          type="checkbox"
          checked={masking === "unmasked"}
          onChange={(event) => go({ ...view, filters: { ...view.filters, masking: event.target.checked ? "unmasked" : "" } })}
        />{" "}
        Hide reads of masked values
      </label>
      <p role="status">
        {shown.length ? `${plural(new Set(shown.map((one) => one.user)).size, "reader")} of ${plural(new Set(shown.map((one) => one.columnKey)).size, "column")}` : "No logged query read it"}, in
        logs from {answer.logFirstDay} to {answer.logLastDay}.
        {isCut && ` The first ${answer.accesses.length} of ${answer.total.toLocaleString("en")} pairs of reader and column are looked at; \`lineage pii access\` has all.`}
      </p>
      {answer.newReaders === null ? (
        <p className="note">The logs cover too few days to say who is new.</p>
      ) : (
        answer.newReaders.map((one) => (
          <p key={one.name} className="finding">
            New readers of <b>{one.name}</b> in the last 30 days of the logs: {one.users.join(", ")}.
          </p>
        ))
      )}
      {shown.length > 0 && <Table rows={shown} />}
    </>
  );
}

function Table({ rows }: { rows: Access[] }) {
  const { open } = usePage();
  return (
    <div className="list">
      <div className="scroll" tabIndex={0} role="region" aria-label="Readers">
        <table>
          <thead>
            <tr>
              {["Reader", "Column", "Shows", "Class", "Queries", "First", "Last", "The warehouse says"].map((heading) => (
                <th key={heading} scope="col" className={heading === "Queries" ? "number" : undefined}>
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((one) => (
              <tr key={`${one.user}\n${one.columnKey}`}>
                <td>
                  {one.user ?? "not named"}
                  {one.isNew && <b className="badge warn">new</b>}
                </td>
                <td>
                  <button type="button" className="link" title={`It has values of ${one.sources.join(", ")}`} onClick={() => open(one.columnKey)}>
                    {one.column}
                  </button>
                </td>
                <td>
                  <b className={`badge ${one.exposure === "UNMASKED" ? "warn" : one.exposure === "MASKED" ? "good" : ""}`}>{words(one.exposure)}</b>
                </td>
                <td>
                  <ClassTags names={one.classes} />
                </td>
                <td className="number">{one.queries.toLocaleString("en")}</td>
                <td>{one.firstDay}</td>
                <td>{one.lastDay}</td>
                <td>{one.warehouse.join("; ")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
