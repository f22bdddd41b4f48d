import { echoTag } from './echoAnswers.js';
import type { ViolationSink } from './violations.js';

export const ECHO = 'echo';
export const SCALE = 'scale';
/** Its containers dial in. */
export const DIALLED = 'dialled';

/** An answer to a prediction, as every interface gives it. */
export interface SeenAnswer {
  readonly output: unknown;
  readonly default: boolean;
  readonly default_reason?: string;
  readonly default_explanation?: string;
  readonly models: readonly { readonly version: string }[];
}

/** Why a good query may get the default while replicas die, versions change and the load peaks. */
const REASONS = ['no_replica', 'deadline', 'overload', 'model_error'];

/** Counts what came and holds every answer to its input. */
export class Expectations {
  answers = 0;
  readonly defaults = new Map<string, number>();
  /** Errors that the interface has a right to, by status. */
  readonly refusals = new Map<number, number>();

  constructor(private readonly violations: ViolationSink) {}

  get defaultCount(): number {
    let sum = 0;
    for (const count of this.defaults.values()) sum += count;
    return sum;
  }

  /** @param input the first element, which the answer must be of. */
  prediction(client: string, application: string, input: number, answer: SeenAnswer): void {
    this.answers += 1;
    if (answer.default) {
      const reason = answer.default_reason ?? 'without a reason';
      this.defaults.set(reason, (this.defaults.get(reason) ?? 0) + 1);
      if (!REASONS.includes(reason)) this.violations.add('unexpected default', `${client}: ${reason}`);
      return;
    }
    const expected = JSON.stringify(answerOf(application, input, answer));
    const got = JSON.stringify(answer.output);
    if (got !== expected) this.violations.add("another query's result", `${client}: ${got} for ${expected}`);
  }

  /** The output alone, of whichever version. */
  output(client: string, input: number, output: unknown): void {
    this.answers += 1;
    const got = JSON.stringify(output);
    const possible = [0, 1].map((version) => JSON.stringify([echoTag(version), input]));
    if (!possible.includes(got)) {
      this.violations.add("another query's result", `${client}: ${got} for ${possible.join(' or ')}`);
    }
  }

  refusal(client: string, status: number, allowed: readonly number[], text: string): void {
    this.refusals.set(status, (this.refusals.get(status) ?? 0) + 1);
    if (!allowed.includes(status)) {
      this.violations.add('unexpected status', `${client}: ${status} and not ${allowed.join(', ')}: ${text}`);
    }
  }
}

export function dialledAnswer(input: number): readonly [string, number] {
  return [DIALLED, input];
}

function answerOf(application: string, input: number, { models }: SeenAnswer): readonly unknown[] {
  if (application === DIALLED) return dialledAnswer(input);
  return application === ECHO ? [echoTag(Number(models[0]?.version)), input] : scaled(input);
}

/** The second element follows from the first, so that the two cannot come from different inputs. */
export function scaleInput(input: number): [number, number] {
  return [input, input + 0.5];
}

function scaled(input: number): [number, number] {
  return [2 * input, 2 * input + 1];
}
