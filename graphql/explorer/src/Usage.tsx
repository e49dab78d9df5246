/** How much a table or column is used, and whether a table may be dropped. */

import { useState } from "react";
import { useAnswer } from "./loading";
import { isColumn, plural } from "./model";
import { usePage } from "./navigation";
import { Failure } from "./Notices";
import type { Details } from "./source";

const DAY = 86_400_000;
const UNUSED_DAYS = 90;

export function Usage({ details }: { details: Details }) {
  const { service } = usePage();
  const { usage } = details;
  return (
    <section>
      <h3>Use</h3>
      {usage.days.length === 0 ? (
        <p className="note">{usage.lastRead ? `Last read on ${usage.lastRead.slice(0, 10)}.` : "The ingested query logs have no query of it. Logs are read by lineage ingest log."}</p>
      ) : (
        <>
          <p>
            {usage.reads ? `${plural(usage.reads, "read")}${usage.lastRead ? `, last on ${usage.lastRead.slice(0, 10)}` : ""}` : "The ingested logs have no read of it"}; {plural(usage.users, "user")} read or wrote it
          </p>
          <Days days={usage.days} />
          <p className="note">{usage.topUsers.slice(0, 5).map((one) => `${one.user} (${one.queries})`).join(", ")}</p>
        </>
      )}
      {!isColumn(details.key) && service.readsSql && details.table.kind !== "exposure" && <Droppable table={details.key} lastRead={usage.lastRead} />}
    </section>
  );
}

/** Reads per day along the time, so that gaps are seen. */
function Days({ days }: { days: Details["usage"]["days"] }) {
  const first = Date.parse(days[0]!.day);
  const length = Math.max(30, Math.round((Date.parse(days.at(-1)!.day) - first) / DAY) + 1);
  const most = Math.max(1, ...days.map((day) => day.reads));
  const width = Math.max(0.8, length / 180);
  return (
    <figure className="reads">
      <svg className="days" viewBox={`0 0 ${length} 40`} preserveAspectRatio="none" role="img" aria-label={`Reads per day from ${days[0]!.day} to ${days.at(-1)!.day}, ${most} at most`}>
        {days.map((day) => (
          <rect key={day.day} x={(Date.parse(day.day) - first) / DAY} y={40 - (38 * day.reads) / most} width={width} height={(38 * day.reads) / most}>
            <title>{`${day.day}: ${plural(day.reads, "read")}`}</title>
          </rect>
        ))}
      </svg>
      <figcaption>
        <span>{days[0]!.day}</span> {days.length > 1 && <span>{days.at(-1)!.day}</span>}
      </figcaption>
    </figure>
  );
}

/** Judged when it is asked for: it takes a look at everything that is made from the table. */
function Droppable({ table, lastRead }: { table: string; lastRead: string | null }) {
  const { source } = usePage();
  const [asked, setAsked] = useState(false);
  const { answer, error } = useAnswer(asked ? `unused ${UNUSED_DAYS}` : "", () => source.unused(UNUSED_DAYS));
  if (!asked) {
    return (
      <button type="button" onClick={() => setAsked(true)}>
        May it be dropped?
      </button>
    );
  }
  if (error) return <Failure error={error} />;
  if (!answer) return <p className="note" role="status">Loading…</p>;
  const found = answer.tables.find((one) => one.key === table);
  const period = `from ${answer.since} to ${answer.until}`;
  if (!found && answer.tables.length < answer.total) return <p role="status">It is not among the first {answer.tables.length} unused tables. `lineage unused` has all.</p>;
  if (!found) {
    const day = lastRead?.slice(0, 10);
    if (day && day >= answer.since) return <p role="status"><b>No:</b> it was read on {day}.</p>;
    return (
      <p role="status">
        <b>No:</b> what is made from it was used {period}{answer.notJudged > 0 && ", or no log covers its system"}.
      </p>
    );
  }
  return (
    <div role="status">
      <p>
        <b>{found.but.length ? "Probably" : "Yes"}:</b> nobody used it {period}, nor what is made from it. Confidence: {found.sure}
        {found.but.length > 0 && `, because ${found.but.join("; ")}`}.
      </p>
      {found.feeds.length > 0 && (
        <p>
          Drop first what is made from it: <b>{found.feeds.join(", ")}</b>.
        </p>
      )}
    </div>
  );
}
