/** Questions that are asked at one moment are sent as one document, within what a service admits. */

import { documentOf, type Question } from "./queries";
import { Refusal } from "./source";

// The shape of answers is the schema's.
type Json = any;

/** What a service answered: the fields that have an answer, and the errors with the paths to them. */
export interface Reply {
  data: Json;
  errors: { message: string; path?: (string | number)[]; extensions?: { code?: string; hint?: string } }[];
}

interface Waiting {
  question: Question;
  variables: Record<string, unknown>;
  resolve(data: Json): void;
  reject(error: unknown): void;
}

/** Below the limits of a service: 20,000 objects, 5,000 values of variables, 30 aliases. */
const MOST = { weight: 19_000, values: 4_000, fields: 24 };
/** Refusals of the caller or of any request: asking one by one changes nothing. */
const FOR_ALL = new Set(["UNAUTHENTICATED", "FORBIDDEN", "OVERLOADED"]);

export class Joining {
  private waiting: Waiting[] = [];

  constructor(private readonly send: (query: string, variables: object) => Promise<Reply>) {}

  ask(question: Question, variables: Record<string, unknown>): Promise<Json> {
    return new Promise((resolve, reject) => {
      if (!this.waiting.length) queueMicrotask(() => this.sendAll());
      this.waiting.push({ question, variables, resolve, reject });
    });
  }

  private sendAll(): void {
    const all = this.waiting;
    this.waiting = [];
    for (const some of groupsOf(all)) void this.sendJoined(some);
  }

  /** Whoever fails does so alone: a part whose answer was lost with another's is asked by itself. */
  private async sendJoined(some: readonly Waiting[]): Promise<void> {
    const { query, variables, names } = documentOf(some);
    let reply: Reply;
    try {
      reply = await this.send(query, variables);
    } catch (error) {
      some.forEach((one) => one.reject(error));
      return;
    }
    const { data, errors } = reply;
    const ofAll = errors.find(({ path, extensions }) => !path && FOR_ALL.has(extensions?.code ?? ""));
    some.forEach((one, index) => {
      const mine = names[index]!;
      const error = ofAll ?? errors.find(({ path }) => Object.values(mine).includes(String(path?.[0]))) ?? (some.length === 1 ? errors[0] : undefined);
      if (error) one.reject(refusalOf(error));
      else if (data && errors.every(({ path }) => path)) one.resolve(Object.fromEntries(Object.entries(mine).map(([field, alias]) => [field, data[alias]])));
      else if (some.length > 1) void this.sendJoined([one]);
      else one.reject(new Refusal("The service gave no answer.", "INTERNAL"));
    });
  }
}

export const refusalOf = (error: Reply["errors"][number]): Refusal => new Refusal(error.message, error.extensions?.code ?? "INTERNAL", error.extensions?.hint ?? null);

function groupsOf(all: readonly Waiting[]): Waiting[][] {
  const groups: Waiting[][] = [];
  let left = { weight: 0, values: 0, fields: 0 };
  for (const one of all) {
    const size = {
      weight: one.question.weight(one.variables),
      values: Object.values(one.variables).reduce<number>((sum, value) => sum + 1 + (Array.isArray(value) ? value.length : 0), 0),
      fields: Object.keys(one.question.fields).length,
    };
    const fits = size.weight <= left.weight && size.values <= left.values && size.fields <= left.fields;
    if (!fits) {
      groups.push([]);
      left = { ...MOST };
    }
    groups.at(-1)!.push(one);
    left = { weight: left.weight - size.weight, values: left.values - size.values, fields: left.fields - size.fields };
  }
  return groups;
}
