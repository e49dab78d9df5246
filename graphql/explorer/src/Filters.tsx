/** Filters of a picture: references by clause, hops, masking, system, tag, …; time. */

import { CLAUSES, type Clause, type Part, schemaOf, words } from "./model";
import { usePage } from "./navigation";
import { type Filters, NO_FILTERS } from "./view";

export function FilterBar({ part }: { part: Part }) {
  const { view, go, service } = usePage();
  const { filters } = view;
  const set = (change: Partial<Filters>, replace = false) => go({ ...view, filters: { ...filters, ...change } }, { replace });
  const tables = [...part.tables.values()];
  const options = {
    namespace: unique(tables.map((table) => table.namespace)),
    schema: unique(tables.map((table) => schemaOf(table.name))),
    tag: unique([...tables.flatMap((table) => table.tags), ...[...part.columns.values()].flatMap((column) => column.tags)]),
    owner: unique(tables.flatMap((table) => table.owners)),
    jobKind: unique([...part.jobs.values()].map((job) => job.kind)),
  };
  const active = JSON.stringify({ ...filters, clauses: [] }) !== JSON.stringify(NO_FILTERS);
  return (
    <div className="filters" role="group" aria-label="Filters">
      <References clauses={filters.clauses} set={(clauses) => set({ clauses })} />
      <label className="field">
        Hops
        <input type="range" min={1} max={12} value={filters.hops ?? 12} aria-valuetext={filters.hops === null ? "all" : String(filters.hops)} onChange={(event) => set({ hops: event.target.value === "12" ? null : Number(event.target.value) }, true)} />
        <output>{filters.hops ?? "all"}</output>
      </label>
      <Choice label="Masking" value={filters.masking} options={["masked", "unmasked"]} set={(masking) => set({ masking: masking as Filters["masking"] })} always />
      <Choice label="System" value={filters.namespace} options={options.namespace} set={(namespace) => set({ namespace })} />
      <Choice label="Schema" value={filters.schema} options={options.schema} set={(schema) => set({ schema })} />
      <Choice label="Tag" value={filters.tag} options={options.tag} set={(tag) => set({ tag })} />
      <Choice label="Owner" value={filters.owner} options={options.owner} set={(owner) => set({ owner })} />
      <Choice label="Job" value={filters.jobKind} options={options.jobKind} set={(jobKind) => set({ jobKind })} />
      <label className="field">
        Name
        <input type="search" size={10} value={filters.text} placeholder="part of it" onChange={(event) => set({ text: event.target.value }, true)} />
      </label>
      <label className="field">
        <input type="checkbox" checked={filters.unread !== null} onChange={(event) => set({ unread: event.target.checked ? 90 : null })} />
        Read in 90 days
      </label>
      {service.writtenAt === null && (
        <span className="dates">
          <label className="field">
            As of
            <input type="date" value={view.asOf.slice(0, 10)} onChange={(event) => go({ ...view, asOf: event.target.value })} />
          </label>
          <label className="field" title="Added lines are green, gone ones are red and dotted">
            Compare with
            <input type="date" value={view.since.slice(0, 10)} onChange={(event) => go({ ...view, since: event.target.value })} />
          </label>
        </span>
      )}
      {(active || view.asOf || view.since) && (
        <button type="button" className="link" onClick={() => go({ ...view, asOf: "", since: "", filters: { ...NO_FILTERS, clauses: filters.clauses } })}>
          Reset
        </button>
      )}
    </div>
  );
}

function References({ clauses, set }: { clauses: Clause[]; set(clauses: Clause[]): void }) {
  const summary = clauses.length === 0 ? "off" : clauses.length === CLAUSES.length ? "all" : clauses.map(words).join(", ");
  return (
    <div className="references">
      <label className="field">
        <input type="checkbox" checked={clauses.length > 0} onChange={(event) => set(event.target.checked ? [...CLAUSES] : [])} />
        References
      </label>
      <details className="menu">
        <summary aria-label={`References by clause: ${summary}`}>{clauses.length > 0 && clauses.length < CLAUSES.length ? `${clauses.length} of ${CLAUSES.length}` : "by clause"}</summary>
        <div className="popup">
          {CLAUSES.map((clause) => (
            <label key={clause} className="field">
              <input type="checkbox" checked={clauses.includes(clause)} onChange={(event) => set(CLAUSES.filter((one) => (one === clause ? event.target.checked : clauses.includes(one))))} />
              {words(clause)}
            </label>
          ))}
        </div>
      </details>
    </div>
  );
}

function Choice({ label, value, options, set, always = false }: { label: string; value: string; options: string[]; set(value: string): void; always?: boolean }) {
  const all = value && !options.includes(value) ? [value, ...options] : options;
  if (!always && all.length < 2 && !value) return null;
  return (
    <label className="field">
      {label}
      <select value={value} onChange={(event) => set(event.target.value)}>
        <option value="">all</option>
        {all.map((one) => (
          <option key={one} value={one}>
            {/^[A-Z_]+$/.test(one) ? words(one) : one}
          </option>
        ))}
      </select>
    </label>
  );
}

const unique = (values: string[]): string[] => [...new Set(values)].filter(Boolean).sort();
