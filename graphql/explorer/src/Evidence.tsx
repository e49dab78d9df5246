/** Evidence: a path as a strip of SQL snippets, one a hop, marked at the span that proves it. */

import { useState } from "react";
import { useAnswer } from "./loading";
import { nameOf, type Part, words } from "./model";
import { usePage } from "./navigation";
import { Failure } from "./Notices";
import { snippetOf } from "./snippet";
import type { EvidenceStep } from "./source";

export function Steps({ steps, part }: { steps: EvidenceStep[]; part: Part }) {
  return (
    <ol className="steps">
      {steps.map((step, index) => (
        <li key={`${step.source}>${step.target}>${index}`}>
          <Hop step={step} part={part} />
        </li>
      ))}
    </ol>
  );
}

function Hop({ step, part }: { step: EvidenceStep; part: Part }) {
  const { service, source, refresh } = usePage();
  const [failed, setFailed] = useState("");
  const spans = step.chains.flat();
  const retire = async () => {
    if (!confirm(`Retire the edge from ${nameOf(step.source, part)} to ${nameOf(step.target, part)}? Ingesting its job again begins a new one.`)) return;
    try {
      await source.retireEdge(step.source, step.target, step.kind, step.job?.key ?? null);
      refresh();
    } catch (error) {
      setFailed((error as Error).message);
    }
  };
  return (
    <article className="hop">
      <h4>
        {nameOf(step.source, part)} <span aria-label="leads to">→</span> {nameOf(step.target, part)}
      </h4>
      <p className="meta">
        <b className={`relation ${step.kind === "CONTRIBUTES" ? "contribution" : "reference"}`}>{step.subtypes.map(words).join(", ")}</b>
        {step.masking && <b className="badge">masked</b>}
        {step.job && step.job.completeness !== "FULL" && <b className="badge warn">{COMPLETENESS[step.job.completeness]}</b>}
        {step.job && <span title={step.job.key}>{step.job.file ? `${step.job.file}${step.job.line ? `:${step.job.line}` : ""}` : words(step.job.kind)}</span>}
      </p>
      {step.job?.sql && spans.length ? <Sql sql={step.job.sql} spans={spans} /> : <p className="note">{without(step)}</p>}
      {service.isSteward && (
        <button type="button" className="link" onClick={retire}>
          Retire this edge
        </button>
      )}
      {failed && <p role="alert">{failed}</p>}
    </article>
  );
}

export const COMPLETENESS: Record<string, string> = {
  FULL: "fully resolved",
  PARTIAL: "partly resolved",
  TABLES: "tables only",
  NONE: "not resolved",
};

function without(step: EvidenceStep): string {
  if (!step.job) return "Its job is not in the graph any more.";
  if (step.job.kind === "ASSERTION") return "A steward asserted it; there is no SQL.";
  return step.job.sql ? "The SQL was replaced since, or has no place for it." : "Its source states the edge without SQL.";
}

export function Sql({ sql, spans, context = 1 }: { sql: string; spans: { start: number; end: number }[]; context?: number }) {
  return (
    <pre className="sql" tabIndex={0} aria-label="SQL, literals masked">
      {snippetOf(sql, spans, context).map((line) => (
        <span key={line.number} className={`line${line.gap ? " gap" : ""}`} data-number={line.number}>
          {line.pieces.map((piece, index) => (piece.marked ? <mark key={index}>{piece.text}</mark> : <span key={index}>{piece.text}</span>))}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}

/** The evidence of one edge, asked for when it is opened. */
export function EdgeEvidence({ edge, part }: { edge: { source: string; target: string; kind: "CONTRIBUTES" | "REFERENCES" }; part: Part }) {
  const { source, view } = usePage();
  const question = JSON.stringify([edge.source, edge.target, edge.kind, view.asOf]);
  const { answer, error } = useAnswer(question, () => source.evidence(edge.source, edge.target, edge.kind, view.asOf && `${view.asOf}T23:59:59Z`));
  if (error) return <Failure error={error} />;
  if (!answer) return <p className="note">Loading…</p>;
  return answer.length ? <Steps steps={answer} part={part} /> : <p className="note">This edge is not there any more.</p>;
}
