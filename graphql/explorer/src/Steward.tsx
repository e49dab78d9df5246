/** What stewards change in place: descriptions, tags, asserted edges. */

import { type FormEvent, useState } from "react";
import { words } from "./model";
import { usePage } from "./navigation";
import { Search } from "./Search";
import type { Details } from "./source";

export function EditWords({ details }: { details: Details }) {
  const { source } = usePage();
  const [description, setDescription] = useState(details.description ?? "");
  const [tags, setTags] = useState(details.tags.join(", "));
  const { run, status } = useChange();
  const save = (event: FormEvent) => {
    event.preventDefault();
    const list = [...new Set(tags.split(",").map((tag) => tag.trim()))].filter(Boolean);
    void run(() => source.describe(details.key, { description, tags: list }), "Saved.");
  };
  return (
    <form className="steward" onSubmit={save}>
      <label>
        Description
        <textarea rows={3} maxLength={10_000} value={description} onChange={(event) => setDescription(event.target.value)} />
      </label>
      <label>
        Tags, separated by commas
        <input value={tags} onChange={(event) => setTags(event.target.value)} />
      </label>
      <button type="submit">Save</button>
      {status}
    </form>
  );
}

const SUBTYPES = ["IDENTITY", "TRANSFORMATION", "AGGREGATION", "CONDITIONAL", "FILTER", "JOIN"];

export function AssertEdge({ from }: { from: string }) {
  const { source } = usePage();
  const [target, setTarget] = useState<{ key: string; name: string } | null>(null);
  const [subtype, setSubtype] = useState("IDENTITY");
  const [masking, setMasking] = useState(false);
  const { run, status } = useChange();
  return (
    <details className="steward">
      <summary>Assert an edge from here</summary>
      <Search label="Target column" slash={false} onPick={(hit) => setTarget({ key: hit.key, name: `${hit.context}.${hit.name}` })} />
      {target && <p>To {target.name}</p>}
      <label>
        How{" "}
        <select value={subtype} onChange={(event) => setSubtype(event.target.value)}>
          {SUBTYPES.map((one) => (
            <option key={one} value={one}>
              {words(one)}
            </option>
          ))}
        </select>
      </label>
      <label className="field">
        <input type="checkbox" checked={masking} onChange={(event) => setMasking(event.target.checked)} /> the value is masked
      </label>
      <button type="button" disabled={!target} onClick={() => target && run(() => source.assertEdge(from, target.key, subtype, masking), "Asserted.")}>
        Assert
      </button>
      {status}
    </details>
  );
}

function useChange() {
  const { refresh } = usePage();
  const [said, setSaid] = useState<{ text: string; failed: boolean } | null>(null);
  const run = async (change: () => Promise<unknown>, done: string) => {
    try {
      await change();
      setSaid({ text: done, failed: false });
      refresh();
    } catch (error) {
      setSaid({ text: (error as Error).message, failed: true });
    }
  };
  const status = said && <p role={said.failed ? "alert" : "status"}>{said.text}</p>;
  return { run, status };
}
