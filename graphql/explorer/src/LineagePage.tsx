/** The picture of some columns or tables, its filters, its list and its side panel. */

import { useMemo, useRef, useState } from "react";
import type { CardActions } from "./Card";
import { ChangesNotice } from "./Changes";
import { FilterBar } from "./Filters";
import { List } from "./List";
import { hiddenMarks, markable, MASKED, READABLE as FLAG, useMarks } from "./marks";
import { MOST_CARDS, timeOf, useAnswer, useLoaded } from "./loading";
import { CLAUSES, type Direction, nameOf, plural, tableOf } from "./model";
import { usePage } from "./navigation";
import { Failure } from "./Notices";
import { Panel } from "./Panel";
import { join, kindsOf, type Picture, pictureOf } from "./picture";
import { PictureView } from "./PictureView";
import type { ReachQuestion } from "./source";
import { Why } from "./Why";

const READABLE = 60;

export function LineagePage() {
  const { view, go } = usePage();
  const loaded = useLoaded(view);
  const now = useMemo(() => new Date(), []);
  const picture = useMemo(() => pictureOf(view, loaded.answers, now), [view, loaded.answers, now]);
  const [drawAnyway, setDrawAnyway] = useState("");
  const [panelOpen, setPanelOpen] = useState(true);
  const marking = useMarks(useMemo(() => markable(picture), [picture]), timeOf(view.asOf), loaded.busy);
  const starts = useMemo(() => new Set(view.of), [view.of]);
  const origin = JSON.stringify(view.of);
  const pick = (key: string, { focus }: { focus: boolean }) => {
    setPanelOpen(true);
    const same = view.focus === key;
    go({ ...view, selected: key, focus: focus && !same ? key : same ? "" : view.focus });
  };
  const actions: CardActions = useMemo(
    () => ({
      picture,
      selected: view.selected,
      focus: view.focus,
      starts,
      marks: marking.marks,
      // Counted once all are known.
      hiddenMarks: hiddenMarks(picture, marking.busy ? new Map() : marking.marks),
      columnCount: (table) => loaded.answers.extras.get(table)?.columns ?? null,
      explore: (key, direction) => go({ ...view, steps: [...view.steps, { direction, key, all: false }] }),
      pick,
      widen: (table) => go({ ...view, wide: view.wide.includes(table) ? view.wide.filter((one) => one !== table) : [...view.wide, table] }),
      unstack: (stack, count) => go({ ...view, open: { ...view.open, [stack]: count } }),
    }),
    [picture, view, loaded.answers, marking.marks, marking.busy, starts, go],
  );
  const cards = picture.cards.length;
  const cut = loaded.cuts.filter((one) => one.ask.all).map((one) => ({ key: one.ask.key, direction: one.ask.direction }));
  const onlyList = cards > MOST_CARDS;
  const offersList = cards > READABLE && !onlyList && drawAnyway !== origin && !view.list;
  const isList = view.list || onlyList;
  const isEmpty = loaded.answers.asks.size > 0 && picture.part.edges.length === 0;
  return (
    <main className="lineage-page">
      <h1 className="hidden">Lineage of {view.of.map((key) => nameOf(key, picture.part)).join(", ")}</h1>
      <div className="bar">
        <Title picture={picture} />
        <Everything direction="UPSTREAM" waits={loaded.busy} />
        <Everything direction="DOWNSTREAM" waits={loaded.busy} />
        <span className="spacer" />
        {loaded.busy && <span className="busy" role="status">Loading…</span>}
        <div className="switch" role="group" aria-label="Show as">
          <button type="button" aria-pressed={!isList} disabled={onlyList} onClick={() => go({ ...view, list: false })}>
            Picture
          </button>
          <button type="button" aria-pressed={isList} onClick={() => go({ ...view, list: true })}>
            List
          </button>
        </div>
      </div>
      <FilterBar part={loaded.answers.asks.size ? join(loaded.answers.asks.values()) : picture.part} />
      {loaded.error && <Failure error={loaded.error} retry={loaded.retry} />}
      <div className="notices">
        {onlyList && <p role="status">{plural(cards, "card")} are more than a picture can show: this is the list.</p>}
        {offersList && (
          <p role="status">
            {plural(cards, "card")} are more than one can read.{" "}
            <button type="button" onClick={() => go({ ...view, list: true })}>
              Show the list
            </button>
            <button type="button" className="link" onClick={() => setDrawAnyway(origin)}>
              Draw them anyway
            </button>
          </p>
        )}
        {loaded.cuts.map((one) => (
          <p key={one.ask.id} role="status">
            {one.text}{" "}
            {!isList && (
              <button type="button" className="link" onClick={() => go({ ...view, list: true, steps: withAll(view.steps, one.ask.key, one.ask.direction) })}>
                The list has all columns
              </button>
            )}
          </p>
        ))}
        {view.since && loaded.answers.asks.size > 0 && !isEmpty && <ChangesNotice picture={picture} />}
        {picture.partial.length > 0 && (
          <p role="status">
            {plural(new Set(picture.partial.map((edge) => edge.job)).size, "job")} behind these lines could not be fully resolved: there may be more.{" "}
            <button type="button" className="link" onClick={() => pick(tableOf(picture.partial[0]!.target), { focus: false })}>
              Why?
            </button>
          </p>
        )}
        {marking.failure && !isList && <p role="status">Not all personal data is marked: {marking.failure}</p>}
        {picture.missing.filter((one) => !one.isFocus).map((one) => (
          <p key={one.text} role="status" className="missing">
            {one.text}{" "}
            <button type="button" onClick={() => go(one.lift)}>
              {one.action}
            </button>
          </p>
        ))}
      </div>
      <div className={`work${panelOpen && view.selected ? " with-panel" : ""}`}>
        {isList ? (
          <List picture={picture} larger={cut} pick={(key) => pick(key, { focus: false })} />
        ) : (
          <div className="picture" data-busy={loaded.busy}>
            {!offersList && loaded.answers.asks.size > 0 && <PictureView picture={picture} actions={actions} origin={origin} />}
            {isEmpty && !loaded.error && <Why picture={picture} />}
            <Legend references={view.filters.clauses.length > 0} comparing={view.since !== ""} marks={marking.marks.size > 0} />
          </div>
        )}
        {panelOpen && view.selected && <Panel key={view.selected} picture={picture} node={view.selected} held={marking.marks.get(view.selected) ?? []} close={() => setPanelOpen(false)} />}
      </div>
    </main>
  );
}

function Title({ picture }: { picture: Picture }) {
  const { view, go } = usePage();
  return (
    <p className="title-bar">
      {view.of.map((key) => (
        <button key={key} type="button" className="chip" title={key} onClick={() => go({ ...view, selected: key })}>
          {nameOf(key, picture.part)}
        </button>
      ))}
      {view.focus && (
        <button type="button" className="chip focus" aria-label={`Leave the focus on ${nameOf(view.focus, picture.part)}`} onClick={() => go({ ...view, focus: "" })}>
          focus: {nameOf(view.focus, picture.part)} ✕
        </button>
      )}
    </p>
  );
}

/** Everything above or below the column in focus, or the start: its count before it is pressed. The picture is loaded first. */
function Everything({ direction, waits }: { direction: Direction; waits: boolean }) {
  const { view, go } = usePage();
  const key = view.focus || view.of[0]!;
  const { clauses } = view.filters;
  const question = { key, direction, kinds: kindsOf(clauses), asOf: timeOf(view.asOf) };
  const whole = { ...question, kinds: kindsOf(CLAUSES) };
  const { answer } = useCount(question, waits);
  const { answer: all } = useCount(whole, waits);
  const where = direction === "UPSTREAM" ? "above" : "below";
  const done = view.steps.some((step) => step.all && step.key === key && step.direction === direction);
  // Where no value flows, what decides about it is all there is.
  const lifts = answer?.columns === 0 && Boolean(all?.columns);
  const filters = lifts ? { ...view.filters, clauses: [...CLAUSES] } : view.filters;
  const many = (lifts ? all!.tables : (answer?.tables ?? 0)) > MOST_CARDS;
  const press = () => go({ ...view, filters, list: view.list || many, steps: withAll(view.steps, key, direction) });
  const hidden = answer && all && all.columns > answer.columns ? `; ${numbered(all, all.columns)} with references` : "";
  const count = answer && `${numbered(answer, plural(answer.columns, "column"))} in ${plural(answer.tables, "table")}${hidden}`;
  return (
    <button type="button" disabled={(!answer?.columns && !lifts) || done} title={count ?? ""} onClick={press} aria-label={`Everything ${where}: ${count ?? "counting"}`}>
      {direction === "UPSTREAM" ? "⇤ " : ""}Everything {where} <small>{answer ? count : "…"}</small>
      {direction === "DOWNSTREAM" ? " ⇥" : ""}
    </button>
  );
}

/** The count of a question; while the page waits, the one that it has stays. */
function useCount(question: ReachQuestion, waits: boolean) {
  const { source } = usePage();
  const wanted = JSON.stringify(question);
  const counted = useRef("");
  if (!waits) counted.current = wanted;
  return useAnswer(counted.current === wanted ? wanted : "", () => source.reach(question));
}

function numbered(answer: { isLowerBound: boolean }, count: string | number): string {
  return `${answer.isLowerBound ? "at least " : ""}${count.toLocaleString("en")}`;
}

function withAll(steps: ReturnType<typeof usePage>["view"]["steps"], key: string, direction: Direction) {
  const has = steps.some((step) => step.all && step.key === key && step.direction === direction);
  return has ? steps : [...steps, { direction, key, all: true }];
}

function Legend({ references, comparing, marks }: { references: boolean; comparing: boolean; marks: boolean }) {
  return (
    <p className="legend" aria-label="Legend">
      <span className="solid">contribution</span>
      {references && <span className="dashed">reference</span>}
      {comparing && <span className="added">added</span>}
      {comparing && <span className="gone">gone</span>}
      {comparing && <span className="changed">changed</span>}
      {marks && (
        <span>
          personal data: {FLAG} readable, {MASKED} masked
        </span>
      )}
      <span>
        hover a column: <b className="contribution">● value</b>
        {references && (
          <>
            {" "}
            <b className="reference">◇ influence</b> <b className="both">◈ both</b>
          </>
        )}
        ; Shift: upstream; click: focus
      </span>
    </p>
  );
}
