/** What the reports about personal data share. */

import { plural } from "./model";
import { usePage } from "./navigation";

/** The classes to choose from; `counts`, if given, are the numbers of columns. */
export function Classes({ names, counts, total }: { names: readonly string[]; counts?: ReadonlyMap<string, number>; total?: number }) {
  const { view, go } = usePage();
  return (
    <div className="bar" role="group" aria-label="Class">
      {["", ...names].map((one) => (
        <button
          key={one}
          type="button"
          className="chip"
          aria-pressed={one === view.filters.tag}
          onClick={() => go({ ...view, filters: { ...view.filters, tag: one }, selected: "" })}
        >
          {one || "all classes"} {counts && <small>{one ? counts.get(one) : total}</small>}
        </button>
      ))}
    </div>
  );
}

export function ClassTags({ names }: { names: readonly string[] }) {
  return names.map((name) => (
    <span key={name} className="tag">
      {name}
    </span>
  ));
}

export function BlindSpots({ of, open = false }: { of: readonly string[]; open?: boolean }) {
  if (!of.length) return null;
  return (
    <details open={open}>
      <summary>What this report cannot know: {plural(of.length, "point")}</summary>
      <ul>
        {of.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
    </details>
  );
}
