import type { BatchItem, ItemResult } from '../../protocol/index.js';
import { cancelled, failed, isThenable, messageOf, resultOf, settled } from './itemResults.js';
import { PredictCosts } from './predictCosts.js';
import type { StrayRejections } from './strayRejections.js';
import { watched, type WatchedInputs } from './watchedInputs.js';

/** So many times what its batch would have taken may be spent on finding who has spoilt it: others wait behind it. */
const PATIENCE = 4;
const LEAST_PATIENCE_NS = 5e6;
/** A process that is silent for long counts as hung. */
const MOST_PATIENCE_NS = 2e9;
/** So many inputs that fail one by one, with no answer in between: the model fails whatever it gets. */
const HOPELESS = 12;
/** From so many bad inputs to be expected in a batch on, how the model goes through it is watched at once. */
const WORTH_WATCHING = 0.1;
/** From so many on it is not tried as a whole where asking it in parts is cheaper. */
const WORTH_PARTING = 1.5;

interface Group {
  readonly items: readonly BatchItem[];
  /** It is the input that the model looked at last when it threw for others with it. */
  readonly isLastLook: boolean;
}

/** What a call of `predict` has come to: outputs, or why there are none. */
type Outcome = { readonly outputs: readonly unknown[] } | { readonly failure: string };

/**
 * Calls of a user's `predict`. One that fails for a batch says nothing about who is to blame: its inputs are asked again in parts until
 * each has its answer, or has failed by itself, as long as that does not hold up others; the rest is left undecided.
 */
export class PredictCalls {
  private readonly costs = new PredictCosts();
  private failedAlone = 0;

  /**
   * @param inputOf makes a model's input of bytes, anew for each call: a model may change what it gets.
   * @param nowNs of a clock that goes on while the model computes.
   * @param strays fail the call that is under way.
   */
  constructor(
    private readonly predict: (inputs: readonly unknown[]) => unknown,
    private readonly inputOf: (bytes: Uint8Array) => unknown,
    private readonly nowNs: () => number,
    private readonly strays: StrayRejections,
  ) {}

  /** @param isSuspect as in `PredictFrame` */
  async answer(
    items: readonly BatchItem[],
    isCancelled: (id: number) => boolean,
    isSuspect = false,
  ): Promise<{ readonly results: readonly ItemResult[]; readonly calls: number }> {
    this.costs.onBatch(isSuspect);
    const results: ItemResult[] = [];
    const startedNs = this.nowNs();
    // The next one stands last.
    const groups = this.begin(items);
    let calls = 0;
    let failure = '';
    let patienceNs = this.patienceNs(items.length, 0);
    let failedSinceNs = groups.length > 1 ? startedNs : undefined;
    for (let group = groups.pop(); group !== undefined; group = groups.pop()) {
      const beganNs = this.nowNs();
      const open: BatchItem[] = [];
      for (const item of group.items) {
        const isLate = calls > 0 && beganNs - startedNs >= item.budgetNs;
        if (isLate || isCancelled(item.id)) results.push(cancelled(item.id));
        else open.push(item);
      }
      if (open.length === 0) continue;
      const isOut = failedSinceNs !== undefined && beganNs - failedSinceNs > patienceNs;
      if (calls > 0 && (isOut || this.failedAlone >= HOPELESS)) {
        for (const { id } of open) results.push(undecided(id, failure));
        continue;
      }
      calls += 1;
      const isWatched =
        open.length > 1 && (calls > 1 || this.costs.expectedBad(open.length) >= WORTH_WATCHING);
      const inputs = open.map(({ bytes }) => this.inputOf(bytes));
      const watch = isWatched ? watched(inputs) : undefined;
      const outcome = await this.call(watch?.inputs ?? inputs);
      const endedNs = this.nowNs();
      const tookNs = endedNs - beganNs;
      if ('outputs' in outcome) {
        this.failedAlone = 0;
        this.costs.onAnswered(open.length, tookNs);
        if (group.isLastLook) this.costs.onLastLook(false);
        results.push(...(await this.resultsOf(open, outcome.outputs)));
        continue;
      }
      ({ failure } = outcome);
      this.costs.onFailed(open.length, tookNs);
      if (open.length === 1) {
        this.failedAlone += 1;
        if (group.isLastLook) this.costs.onLastLook(true);
        results.push(failed(open[0].id, failure));
        continue;
      }
      if (failedSinceNs === undefined) {
        failedSinceNs = endedNs;
        patienceNs = this.patienceNs(open.length, tookNs);
        // Not even one more call like this.
        if (tookNs > MOST_PATIENCE_NS) patienceNs = -1;
      }
      this.part(open, watch, groups);
    }
    return { results, calls };
  }

  private patienceNs(size: number, failedNs: number): number {
    const wholeNs = Math.max(this.costs.answeredNs(size), failedNs);
    return Math.min(MOST_PATIENCE_NS, Math.max(LEAST_PATIENCE_NS, PATIENCE * wholeNs));
  }

  private begin(items: readonly BatchItem[]): Group[] {
    if (items.length > 1 && this.costs.expectedBad(items.length) >= WORTH_PARTING) {
      const manner = this.costs.manner(items.length, true);
      if (manner.kind === 'groups') return cut(items, manner.size);
    }
    return [{ items, isLastLook: false }];
  }

  /** Adds the parts in which inputs that have failed together are asked again. */
  private part(items: readonly BatchItem[], watch: WatchedInputs | undefined, groups: Group[]): void {
    const last = watch?.last();
    const manner = this.costs.manner(items.length, watch === undefined || last !== undefined);
    if (watch === undefined && manner.kind === 'withoutLast') {
      // Once more, to see where it looks.
      groups.push({ items, isLastLook: false });
      return;
    }
    if (manner.kind === 'groups' || last === undefined) {
      this.costs.onAskedOtherwise();
      groups.push(...cut(items, manner.kind === 'groups' ? manner.size : 1));
      return;
    }
    const suspect = { items: [items[last]], isLastLook: true };
    const rest = { items: items.filter((_, at) => at !== last), isLastLook: false };
    // A look that has been right so far need not be proved before the others have their answers.
    if (this.costs.isTrusted) {
      groups.unshift(suspect);
      groups.push(rest);
    } else {
      groups.push(rest, suspect);
    }
  }

  private async call(inputs: readonly unknown[]): Promise<Outcome> {
    // The model may change the array.
    const { length } = inputs;
    try {
      const given = await this.strays.during(() => this.predict(inputs));
      if (!Array.isArray(given)) {
        return { failure: `predict gave no array but ${given === null ? 'null' : typeof given}` };
      }
      // An array of the model's own making may do anything when it is looked at.
      const outputs = Array.from(given as readonly unknown[]);
      if (outputs.length === length) return { outputs };
      // Nobody waits for them: what they are rejected with is not to end the process.
      for (const output of outputs) if (output instanceof Promise) output.catch(() => undefined);
      return { failure: `predict gave ${outputs.length} outputs for ${length} inputs` };
    } catch (error) {
      return { failure: messageOf(error) };
    }
  }

  private async resultsOf(items: readonly BatchItem[], outputs: readonly unknown[]): Promise<ItemResult[]> {
    // Of inputs.map(async …).
    if (outputs.some(isThenable)) return await settled(items, outputs, this.strays);
    return items.map(({ id }, index) => resultOf(id, outputs[index]));
  }
}

function cut(items: readonly BatchItem[], size: number): Group[] {
  const groups: Group[] = [];
  for (let from = 0; from < items.length; from += size) {
    groups.push({ items: items.slice(from, from + size), isLastLook: false });
  }
  return groups.reverse();
}

function undecided(id: number, message: string): ItemResult {
  return failed(id, message, 'undecided');
}
