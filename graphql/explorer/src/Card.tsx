/** A card: a table with the columns in play, or a stack of siblings. */

import { type KeyboardEvent, memo } from "react";
import { type HeldClass, type Marks, MASKED, READABLE, signOf, textOf } from "./marks";
import { type Direction, plural, schemaOf, shortName, words } from "./model";
import { lightUp, putOut, type Shine, useIsFaded, useShine } from "./lighting";
import type { Card, Picture } from "./picture";
import type { ColumnInfo } from "./model";

export interface CardActions {
  picture: Picture;
  selected: string;
  focus: string;
  starts: ReadonlySet<string>;
  marks: Marks;
  /** Marked columns that have no row, by card. */
  hiddenMarks: ReadonlyMap<string, { count: number; masked: number }>;
  columnCount(table: string): number | null;
  explore(key: string, direction: Direction): void;
  pick(key: string, options: { focus: boolean }): void;
  widen(table: string): void;
  unstack(stack: string, count: number): void;
}

const SIGNS: Partial<Record<Shine, [string, string]>> = {
  contribution: ["●", "its value comes from the marked column"],
  reference: ["◇", "it is influenced by the marked column"],
  both: ["◈", "its value comes from the marked column, and it is influenced by it"],
};
const UP_SIGNS: Partial<Record<Shine, string>> = {
  contribution: "the marked column gets its value from it",
  reference: "it influences the marked column",
  both: "the marked column gets its value from it and is influenced by it",
};

let upwards = false;
export const setUpwards = (to: boolean): void => {
  upwards = to;
};
export const isUpwards = (): boolean => upwards;

export const CardView = memo(function CardView({ card, actions, detail }: { card: Card; actions: CardActions; detail: boolean }) {
  const anchors = [card.id, ...card.rows.map((row) => row.key)];
  const faded = useIsFaded(anchors);
  if (card.stack) return <StackView card={card} actions={actions} faded={faded} />;
  const table = card.table!;
  const isStart = [...actions.starts].some((key) => key === table.key || key.startsWith(`${table.key}#`));
  const total = actions.columnCount(table.key);
  return (
    <section
      className={`card kind-${table.kind}${faded ? " faded" : ""}${isStart ? " start" : ""}`}
      style={{ height: card.height }}
      aria-label={`${words(table.kind)} ${table.name}`}
      data-table={table.key}
      onKeyDown={moveAmongRows}
    >
      <Head card={card} actions={actions} />
      {detail && (
        <ul className="rows">
          {card.rows.map((row) => (
            <Row key={row.key} column={row} actions={actions} />
          ))}
        </ul>
      )}
      {detail && <Foot card={card} total={total} actions={actions} />}
    </section>
  );
});

function Head({ card, actions }: { card: Card; actions: CardActions }) {
  const table = card.table!;
  const shine = useShine(card.id);
  return (
    <header className="head" data-light={shine} data-node={table.key}>
      <Explore target={table.key} label={table.name} direction="UPSTREAM" actions={actions} />
      <button
        type="button"
        className="title"
        title={`${table.namespace}/${table.name}`}
        aria-pressed={actions.selected === table.key}
        onClick={() => actions.pick(table.key, { focus: false })}
        {...lighting(actions, table.key)}
      >
        <small>
          <Kind kind={table.kind} /> {schemaOf(table.name) || table.namespace}
          {table.droppedAt && <b className="badge"> dropped</b>}
        </small>
        <strong>{shortName(table.name)}</strong>
      </button>
      <Sign shine={shine} />
      <Explore target={table.key} label={table.name} direction="DOWNSTREAM" actions={actions} />
    </header>
  );
}

const Row = memo(function Row({ column, actions }: { column: ColumnInfo; actions: CardActions }) {
  const shine = useShine(column.key);
  const focused = actions.focus === column.key;
  const held = actions.marks.get(column.key);
  const personal = held ? `, personal data: ${textOf(held)}` : "";
  return (
    <li className={`row${focused ? " focused" : ""}`} data-light={shine} data-node={column.key}>
      <Explore target={column.key} label={column.path} direction="UPSTREAM" actions={actions} />
      <button
        type="button"
        className="name"
        title={column.path + (column.dataType ? ` · ${column.dataType}` : "")}
        aria-pressed={focused}
        aria-label={`Column ${column.path}${column.dataType ? `, ${column.dataType}` : ""}${personal}`}
        onClick={() => actions.pick(column.key, { focus: true })}
        {...lighting(actions, column.key)}
      >
        <span className="path">{column.path}</span>
        {held && <Mark classes={held} />}
        {column.tags.filter((tag) => !held?.some((one) => one.name === tag)).map((tag) => (
          <span className="tag" key={tag}>
            {tag}
          </span>
        ))}
        {column.droppedAt && <b className="badge">dropped</b>}
        {column.dataType && <span className="type">{column.dataType}</span>}
      </button>
      <Sign shine={shine} />
      <Explore target={column.key} label={column.path} direction="DOWNSTREAM" actions={actions} />
    </li>
  );
});

/** A flag with the class, hollow where it is masked; the row's name says it in words. */
function Mark({ classes }: { classes: readonly HeldClass[] }) {
  return (
    <span className="mark" title={`personal data: ${textOf(classes)}`}>
      {signOf(classes)} {classes[0]!.name}
      {classes.length > 1 && ` +${classes.length - 1}`}
    </span>
  );
}

function HiddenMarks({ hidden }: { hidden: { count: number; masked: number } | undefined }) {
  if (!hidden) return null;
  const { count, masked } = hidden;
  const text = `${plural(count, "column")} without a row ${count === 1 ? "holds" : "hold"} personal data, masked in ${masked}`;
  return (
    <span className="mark" role="img" aria-label={text} title={text}>
      {masked < count ? READABLE : MASKED} {count}
    </span>
  );
}

function Sign({ shine }: { shine: Shine }) {
  const sign = SIGNS[shine];
  if (!sign) return null;
  const text = upwards ? UP_SIGNS[shine] : sign[1];
  return (
    <span className="sign" role="img" aria-label={text} title={text}>
      {sign[0]}
    </span>
  );
}

function Explore({ target, label, direction, actions }: { target: string; label: string; direction: Direction; actions: CardActions }) {
  const { count, isLowerBound } = actions.picture.more(target, direction);
  const side = direction === "UPSTREAM" ? "up" : "down";
  if (!count) return <span className={`explore none ${side}`} />;
  const text = `${count > 999 ? `${Math.floor(count / 1000)}k` : count}${isLowerBound ? "+" : ""}`;
  const name = `Explore ${isLowerBound ? "at least " : ""}${plural(count, "more column")} ${side}stream of ${label}`;
  return (
    <button type="button" className={`explore ${side}`} title={name} aria-label={name} onClick={() => actions.explore(target, direction)}>
      {text}
    </button>
  );
}

function Foot({ card, total, actions }: { card: Card; total: number | null; actions: CardActions }) {
  const shown = card.rows.length;
  const all = Math.max(total ?? 0, card.inPlay);
  if (!card.wide && shown >= all) return <footer className="foot">{plural(shown, "column")}</footer>;
  return (
    <footer className="foot">
      <span>{card.wide ? `all ${plural(shown, "column")}` : `${shown} of ${plural(all, "column")} shown`}</span>
      <button type="button" className="link" onClick={() => actions.widen(card.id)}>
        {card.wide ? "fewer" : "all"}
      </button>
      <HiddenMarks hidden={actions.hiddenMarks.get(card.id)} />
    </footer>
  );
}

function StackView({ card, actions, faded }: { card: Card; actions: CardActions; faded: boolean }) {
  const stack = card.stack!;
  const shine = useShine(card.id);
  const count = stack.tables.length;
  const names = stack.tables.slice(0, 12).map((table) => shortName(table.name));
  return (
    <section className={`card stack${faded ? " faded" : ""}`} style={{ height: card.height }} aria-label={`${count} tables of ${stack.schema}`}>
      <header className="head" data-light={shine} data-node={card.id}>
        <span className="title" title={names.join("\n") + (count > 12 ? "\n…" : "")}>
          <small>{stack.schema}</small>
          <strong>{stack.shown ? `${count} more tables` : `${count} tables`}</strong>
        </span>
        <Sign shine={shine} />
      </header>
      <footer className="foot">
        {stack.shown > 0 && (
          <span>
            {stack.shown} of {stack.shown + count} shown
          </span>
        )}
        <button type="button" className="link" onClick={() => actions.unstack(stack.id, stack.shown + 10)}>
          show {Math.min(10, count)}
        </button>
        {count > 10 && (
          <button type="button" className="link" onClick={() => actions.unstack(stack.id, stack.shown + count)}>
            all
          </button>
        )}
        <HiddenMarks hidden={actions.hiddenMarks.get(card.id)} />
      </footer>
    </section>
  );
}

export function Kind({ kind }: { kind: string }) {
  const icons: Record<string, string> = { table: "▦", view: "◫", file: "▤", topic: "≋", temporary: "◌", exposure: "◔" };
  return (
    <span className="kind" role="img" aria-label={kind} title={kind}>
      {icons[kind] ?? "▦"}
    </span>
  );
}

const lighting = ({ picture }: CardActions, key: string) => ({
  onMouseEnter: (event: { shiftKey: boolean }) => lit(picture, key, event.shiftKey),
  onMouseMove: (event: { shiftKey: boolean }) => event.shiftKey !== upwards && lit(picture, key, event.shiftKey),
  onMouseLeave: putOut,
  onFocus: () => lit(picture, key, false),
  onBlur: putOut,
  onKeyDown: (event: KeyboardEvent) => event.key === "Shift" && lit(picture, key, true),
  onKeyUp: (event: KeyboardEvent) => event.key === "Shift" && lit(picture, key, false),
});

function lit(picture: Picture, key: string, up: boolean): void {
  upwards = up;
  lightUp(picture, key, up ? "UPSTREAM" : "DOWNSTREAM");
}

/** Arrow keys go from row to row of a card. */
function moveAmongRows(event: KeyboardEvent<HTMLElement>): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (!step) return;
  const buttons = [...event.currentTarget.querySelectorAll<HTMLElement>(".title, .name")];
  const next = buttons[buttons.indexOf(document.activeElement as HTMLElement) + step];
  if (next) {
    event.preventDefault();
    event.stopPropagation();
    next.focus();
  }
}
