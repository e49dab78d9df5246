/** The lines of a SQL text around some spans, with the spans marked. Offsets are in code points. */

export interface Piece {
  text: string;
  marked: boolean;
}

export interface SnippetLine {
  number: number;
  pieces: Piece[];
  /** Lines were left out before it. */
  gap: boolean;
}

export interface SpanRange {
  start: number;
  end: number;
}

const MOST_LINES = 14;
const MOST_CHARACTERS = 400;

export function snippetOf(sql: string, spans: readonly SpanRange[], context = 1): SnippetLine[] {
  const points = /[\ud800-\udbff]/.test(sql) ? [...sql] : null;
  const slice = (from: number, to: number) => (points ? points.slice(from, to).join("") : sql.slice(from, to));
  const length = points ? points.length : sql.length;
  const lines: SpanRange[] = [];
  for (let at = 0, start = 0; at <= length; at += 1) {
    if (at < length && (points ? points[at] : sql[at]) !== "\n") continue;
    lines.push({ start, end: at });
    start = at + 1;
  }
  const marks = [...spans].sort((a, b) => a.start - b.start);
  const wanted = new Set<number>();
  lines.forEach((line, index) => {
    if (!marks.some((mark) => mark.start <= line.end && mark.end > line.start)) return;
    for (let near = index - context; near <= index + context; near += 1) if (lines[near]) wanted.add(near);
  });
  const found: SnippetLine[] = [];
  let last = -1;
  for (const index of [...wanted].sort((a, b) => a - b).slice(0, MOST_LINES)) {
    const line = lines[index]!;
    found.push({ number: index + 1, pieces: piecesOf(line, marks, slice), gap: last >= 0 && index > last + 1 });
    last = index;
  }
  return found;
}

function piecesOf(line: SpanRange, marks: readonly SpanRange[], slice: (from: number, to: number) => string): Piece[] {
  const pieces: Piece[] = [];
  let at = line.start;
  // Of a very long line, what is around its first mark.
  const first = marks.find((mark) => mark.start < line.end && mark.end > line.start);
  if (first && line.end - line.start > MOST_CHARACTERS) at = Math.max(line.start, first.start - MOST_CHARACTERS / 4);
  if (at > line.start) pieces.push({ text: "…", marked: false });
  const end = Math.min(line.end, at + MOST_CHARACTERS);
  for (const mark of marks) {
    const from = Math.max(mark.start, at);
    const to = Math.min(mark.end, end);
    if (from >= to) continue;
    if (from > at) pieces.push({ text: slice(at, from), marked: false });
    pieces.push({ text: slice(from, to), marked: true });
    at = to;
  }
  if (at < end) pieces.push({ text: slice(at, end), marked: false });
  if (end < line.end) pieces.push({ text: "…", marked: false });
  return pieces;
}
