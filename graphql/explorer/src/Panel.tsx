/** The side panel: what is known of a table or column, its evidence, and what stewards may change. */

import { useState } from "react";
import { Changes } from "./Changes";
import { Kind } from "./Card";
import { COMPLETENESS, EdgeEvidence, Steps } from "./Evidence";
import { timeOf, useAnswer } from "./loading";
import type { HeldClass } from "./marks";
import { groupBy, isColumn, nameOf, plural, tableOf, words } from "./model";
import { usePage } from "./navigation";
import { Failure } from "./Notices";
import { kindsOf, type Picture } from "./picture";
import type { Details } from "./source";
import { AssertEdge, EditWords } from "./Steward";
import { Usage } from "./Usage";
import { NO_FILTERS, START } from "./view";

export function Panel({ picture, node, held, close }: { picture: Picture; node: string; held: readonly HeldClass[]; close(): void }) {
  const { source, service, view, go, open } = usePage();
  const { answer, error } = useAnswer(node, () => source.details(node));
  const title = nameOf(node, picture.part);
  return (
    <aside className="panel" aria-label={`About ${title}`}>
      <div className="panel-head">
        <h2 title={node}>{title}</h2>
        <button type="button" aria-label="Close the side panel" onClick={close}>
          ✕
        </button>
      </div>
      {error && <Failure error={error} />}
      {!answer && !error && <p className="note">Loading…</p>}
      {answer && (
        <>
          <p className="meta">
            <Kind kind={answer.table.kind} /> {isColumn(node) ? `column${answer.column?.dataType ? ` · ${answer.column.dataType}` : ""}` : answer.table.kind}
            {answer.column?.inferred && <b className="badge">inferred from queries</b>}
            {(answer.column?.droppedAt ?? answer.table.droppedAt) && <b className="badge warn">dropped {(answer.column?.droppedAt ?? answer.table.droppedAt)?.slice(0, 10)}</b>}
            {!answer.table.schemaKnown && <b className="badge">schema not known</b>}
          </p>
          <p className="actions">
            {isColumn(node) && view.focus !== node && (
              <button type="button" onClick={() => go({ ...view, focus: node })}>
                Focus
              </button>
            )}
            {!view.of.includes(node) && (
              <button type="button" onClick={() => open(node)}>
                Start here
              </button>
            )}
            {isColumn(node) && (
              <button type="button" className="link" onClick={() => go({ ...view, selected: tableOf(node) })}>
                About its table
              </button>
            )}
          </p>
          <Words details={answer} />
          {answer.classes.length > 0 && <PersonalData classes={answer.classes} />}
          {held.filter((one) => one.source !== node).map((one) => (
            <p key={one.name} className="meta">
              Holds {one.name} of {nameOf(one.source, picture.part)} <b className="badge">{one.exposure}</b>
            </p>
          ))}
          {view.since && <Changes node={node} part={picture.part} />}
          {isColumn(node) && <Evidence picture={picture} node={node} />}
          <Usage details={answer} />
          <Jobs details={answer} />
          {service.isSteward && (
            <section>
              <h3>Stewardship</h3>
              <EditWords key={answer.key + JSON.stringify([answer.description, answer.tags])} details={answer} />
              {isColumn(node) && <AssertEdge from={node} />}
            </section>
          )}
        </>
      )}
    </aside>
  );
}

function PersonalData({ classes }: { classes: Details["classes"] }) {
  const { go } = usePage();
  return (
    <p className="meta">
      Personal data:{" "}
      {classes.map((one) => (
        <span key={one.name + one.reason}>
          <b className="tag" title={`Tagged by ${one.reason}`}>
            {one.name}
          </b>{" "}
          <button type="button" className="link" onClick={() => go({ ...START, page: "access", filters: { ...NO_FILTERS, tag: one.name } })}>
            Who read it?
          </button>
        </span>
      ))}
    </p>
  );
}

function Words({ details }: { details: Details }) {
  const stated = details.stated.filter((one) => one.description || one.tags.length || one.owner || one.tests.length);
  if (!details.description && !details.tags.length && !stated.length) return null;
  return (
    <section>
      {details.description && <p className="description">{details.description}</p>}
      {details.tags.length > 0 && <Tags tags={details.tags} />}
      {stated.map((one) => (
        <div key={one.source}>
          {one.description && <p className="description">{one.description}</p>}
          <p className="meta">
            {one.owner && <span>Owner: {one.owner}</span>}
            {one.tags.length > 0 && <Tags tags={one.tags} />}
            {one.tests.length > 0 && <span>Tests: {one.tests.join(", ")}</span>}
          </p>
          <small title={one.source}>as {one.source} states</small>
        </div>
      ))}
    </section>
  );
}

const Tags = ({ tags }: { tags: string[] }) => (
  <span className="tags">
    {tags.map((tag) => (
      <span className="tag" key={tag}>
        {tag}
      </span>
    ))}
  </span>
);

/** The path from or to the start of the picture, and the edges into the column. */
function Evidence({ picture, node }: { picture: Picture; node: string }) {
  const { view } = usePage();
  const start = view.of.find((key) => key !== node);
  const into = picture.part.edges.filter((edge) => edge.target === node);
  const direct = [...groupBy(into, (edge) => `${edge.kind}\n${edge.source}`).values()].map((edges) => edges[0]!);
  return (
    <section>
      <h3>Evidence</h3>
      {start && (picture.hops.get(node) ?? 0) !== 0 && <PathTo picture={picture} node={node} start={start} />}
      {direct.length === 0 && <p className="note">{view.of.includes(node) ? "The picture starts here" : "It is a source"}: no line of this picture leads into it.</p>}
      {direct.slice(0, 30).map((edge) => (
        <details key={edge.kind + edge.source} className="edge" open={direct.length === 1 && !start}>
          <summary>
            <b className={`relation ${edge.kind === "CONTRIBUTES" ? "contribution" : "reference"}`}>{edge.subtypes.map(words).join(", ")}</b> {nameOf(edge.source, picture.part)}
            {edge.masking && <b className="badge">masked</b>}
            {edge.change && <b className={`badge ${edge.change}`}>{edge.change}</b>}
          </summary>
          <Opened>{() => <EdgeEvidence edge={edge} part={picture.part} />}</Opened>
        </details>
      ))}
      {direct.length > 30 && <p className="note">30 of {direct.length} edges shown. The list has all columns.</p>}
    </section>
  );
}

/** Children of a <details> that are made once it has been opened. */
function Opened({ children }: { children(): React.ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div
      ref={(element) => {
        const details = element?.closest("details");
        if (details?.open) setOpen(true);
        details?.addEventListener("toggle", () => details.open && setOpen(true), { once: true });
      }}
    >
      {isOpen && children()}
    </div>
  );
}

function PathTo({ picture, node, start }: { picture: Picture; node: string; start: string }) {
  const { source, view } = usePage();
  const down = (picture.hops.get(node) ?? 0) > 0;
  const [from, to] = down ? [start, node] : [node, start];
  const kinds = kindsOf(view.filters.clauses);
  const question = JSON.stringify([from, to, kinds, view.asOf]);
  const { answer, error } = useAnswer(question, () => source.paths(from, to, kinds, timeOf(view.asOf)));
  if (error) return <Failure error={error} />;
  if (!answer) return <p className="note">Loading the path…</p>;
  if (!answer.length) return null;
  return (
    <div className="path-to">
      <p>
        {down ? `From ${nameOf(start, picture.part)}` : `To ${nameOf(start, picture.part)}`}, {plural(answer[0]!.length, "hop")}
        {answer.length > 1 && <small> · {answer.length} shortest paths, the first is shown</small>}
      </p>
      <Steps steps={answer[0]!} part={picture.part} />
    </div>
  );
}

function Jobs({ details }: { details: Details }) {
  return (
    <section>
      <h3>Jobs</h3>
      {details.jobs.length === 0 && <p className="note">No ingested job reads or writes this table.</p>}
      <ul className="jobs">
        {details.jobs.map((job) => (
          <li key={job.key}>
            <span title={job.key}>
              {job.writes ? "written by" : job.feeds.length ? "feeds" : "read by"} {!job.writes && job.feeds.length > 0 && <b>{job.feeds.join(", ")}</b>}{" "}
              <small>
                {job.operation ? words(job.operation) : words(job.kind)}
                {job.file && !job.file.includes(":") ? ` · ${job.file}` : ""}
                {!job.file?.includes(".") && job.observations > 1 ? ` · seen ${job.observations.toLocaleString("en")} times` : ""}
              </small>
            </span>
            {job.completeness !== "FULL" && <b className="badge warn">{COMPLETENESS[job.completeness]}</b>}
            {job.diagnostics.map((found, index) => (
              <p className="finding" key={index}>
                <b>{found.code}</b> {found.message}
                {found.hint && <small> {found.hint}</small>}
              </p>
            ))}
          </li>
        ))}
      </ul>
      {details.moreJobs > 0 && <p className="note">{plural(details.moreJobs, "more job")}</p>}
    </section>
  );
}
