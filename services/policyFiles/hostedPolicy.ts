import {
  PolicyError,
  type Arm,
  type ArmOutcome,
  type ArmPrediction,
  type Combination,
  type FeatureFault,
  type Json,
  type QueryView,
  type Selection,
  type SelectionPolicy,
} from '../../selection/index.js';
import {
  FILE_POLICY,
  fileStateFrom,
  freshState,
  keptPrediction,
  keptQuery,
  lengthOf,
  MOST_UNLEARNED,
  MOST_UNLEARNED_LENGTH,
  type FileState,
  type KeptObservation,
} from './fileState.js';
import { PolicyHost, type Ask, type PolicyFault, type PolicyFile, type PolicyReply } from './policyHost.js';

/** What a file has, as it was found when it was registered. */
export interface PolicyTraits {
  /** The policy's own name; undefined: the file has losses alone. */
  readonly name?: string | undefined;
  readonly parameters: readonly string[];
  /** Those of the optional methods that it has. */
  readonly methods: readonly string[];
  readonly isShared: boolean;
  readonly isPropensityUnknown: boolean;
  readonly losses: readonly string[];
}

export interface HostedPolicyOptions {
  readonly file: PolicyFile;
  readonly traits: PolicyTraits;
  /** Of all its draws. */
  readonly seed: number;
  readonly onFault: (fault: PolicyFault) => void;
  /** Feedback that it fails on was left out: states that are kept still have it. */
  readonly onDropped?: () => void;
  readonly onPrinted?: (text: string) => void;
}

/** What selection gave. */
export type HostedSelection =
  | { readonly selection: Selection }
  | { readonly featureFault: FeatureFault }
  /** The policy cannot be followed. */
  | undefined;

/** Something that was asked of a policy, whose time may end. */
export interface PolicyAsk {
  /** Nobody waits for it any longer: the policy was late. */
  giveUp(): void;
}

/** States that the process holds: so many characters as JSON, of which its heap has room for a few times as many. */
const MOST_HELD_LENGTH = 4 * 1024 * 1024;
/** A policy that was late is left alone for so long, doubled each time; back to the shortest once it has been in time for a while. */
const SHORTEST_REST_MS = 10;
const LONGEST_REST_MS = 10_000;
const IN_TIME = 100;
const TELL_DROPPED_MS = 1000;
/** Observations that it learns from at once. */
const MOST_LEARNED = 200;

interface HeldState {
  readonly id: number;
  /** As JSON. */
  readonly length: number;
}

/** What is learned one after the other, each from the state that the one before has left. */
interface Line {
  /** Where it begins, which is learned. */
  base: FileState;
  /** The newest state. */
  tip: FileState;
  isAsked: boolean;
  /** Observations that it is asked to learn, the first of those that it has. */
  taken: number;
  /** So many, the first, are learned one by one: one of them has ended the process. */
  suspects: number;
}

/**
 * A policy of the user's own, which runs in a process. States are kept here by `policy`, a policy like all others that never asks
 * the process; what is asked of the process is answered later, or not at all.
 */
export class HostedPolicy {
  /** Keeps its states, and stands in: it asks the first model, and answers with the first that has arrived. */
  readonly policy: SelectionPolicy;
  private readonly host: PolicyHost;
  private readonly seed: number;
  private readonly onFault: (fault: PolicyFault) => void;
  private readonly onDropped: () => void;
  /** Of states that have been learned from: what became of them. */
  private readonly learned = new WeakMap<FileState, FileState>();
  private readonly learning = new Map<number, Line>();
  private readonly lines = new WeakMap<FileState, Line>();
  /** Those that have something to learn. */
  private readonly busy = new Set<Line>();
  /** States in the process, the least recently used first. */
  private readonly held = new Map<FileState, HeldState>();
  private heldLength = 0;
  private nextState = 1;
  private readonly shares = new WeakMap<FileState, ReadonlyMap<Arm, number>>();
  /** The newest of each state's line. */
  private readonly latest = new WeakMap<Line, ReadonlyMap<Arm, number>>();
  private lateAsks = 0;
  private restMs = SHORTEST_REST_MS;
  private restUntilMs = 0;
  private inTime = 0;
  private dropping: NodeJS.Timeout | undefined;
  /** Why it is not followed now; undefined: it is. */
  fault: PolicyFault | undefined;

  constructor({
    file,
    traits,
    seed,
    onFault,
    onDropped = () => undefined,
    onPrinted = () => undefined,
  }: HostedPolicyOptions) {
    this.onDropped = onDropped;
    this.seed = seed;
    this.onFault = onFault;
    this.policy = this.keeper(traits);
    this.combines = traits.methods.includes('combine');
    this.escalates = traits.methods.includes('escalate');
    this.host = new PolicyHost(file, {
      onUp: () => this.onUp(),
      onDown: (first) => this.onDown(first),
      onFault: (fault) => this.note(fault),
      onPrinted,
    });
  }

  /** It has a say in what the answer is; otherwise that is what the asked model says. */
  readonly combines: boolean;
  readonly escalates: boolean;

  /** It is asked now. */
  get isUp(): boolean {
    return this.host.ready;
  }

  get restarts(): number {
    return this.host.restarts;
  }

  get pid(): number | undefined {
    return this.host.pid;
  }

  /**
   * @param arms that are linked: no other is asked
   * @param done called once, at once where the policy cannot be asked
   */
  select(
    state: Json,
    arms: ReadonlyMap<Arm, unknown>,
    key: string,
    query: QueryView,
    done: (selected: HostedSelection) => void,
  ): PolicyAsk | undefined {
    return this.ask('select', state, { key, seed: this.seed, query: keptQuery(query) }, (reply) => {
      if (reply === undefined) {
        done(undefined);
        return;
      }
      const { selection, featureFault } = reply as {
        readonly selection?: Selection;
        readonly featureFault?: FeatureFault;
      };
      if (featureFault !== undefined) {
        done({ featureFault });
        return;
      }
      const fault = selectionFault(selection, arms);
      if (fault !== undefined || selection === undefined) {
        this.note({ kind: 'bad_answer', message: `select ${fault ?? 'gave nothing'}` });
        done(undefined);
      } else done({ selection });
    });
  }

  /** @param done as of `select` */
  combine(
    state: Json,
    asked: readonly Arm[],
    arrived: readonly ArmPrediction[],
    query: QueryView,
    done: (combination: Combination | undefined) => void,
  ): PolicyAsk | undefined {
    const members = { asked, arrived: arrived.map(keptPrediction), query: keptQuery(query) };
    return this.ask('combine', state, members, (reply) => {
      const given = reply?.combination as
        { readonly output?: unknown; readonly confidence?: unknown } | undefined;
      const { output, confidence } = given ?? {};
      const isWhole = (output === undefined || typeof output === 'string') && typeof confidence === 'number';
      done(isWhole ? { output, confidence } : undefined);
    });
  }

  /** @param done as of `select`; undefined: nobody is asked */
  escalate(
    state: Json,
    asked: readonly Arm[],
    arrived: readonly ArmPrediction[],
    query: QueryView,
    done: (next: Arm | undefined) => void,
  ): PolicyAsk | undefined {
    const members = { asked, arrived: arrived.map(keptPrediction), query: keptQuery(query) };
    return this.ask('escalate', state, members, (reply) => {
      done(typeof reply?.next === 'string' ? reply.next : undefined);
    });
  }

  /**
   * What outputs cost by a loss of the file.
   * @param done called once; with why where they cannot be told
   */
  measure(
    loss: string,
    label: string,
    outputs: readonly string[],
    done: (losses: readonly number[] | undefined, why: string, isPassing: boolean) => void,
  ): void {
    const away = `the policy file is not there to measure its loss '${loss}': ${this.fault?.message ?? 'it is starting'}`;
    const asked = this.host.ask({ op: 'measure', loss, label, outputs }, (reply) => {
      if (reply === undefined) done(undefined, away, true);
      else if (reply.fault !== undefined) {
        this.noteReply(reply.fault);
        done(undefined, reply.fault.message, false);
      } else done(reply.losses as readonly number[], '', false);
    });
    if (asked === undefined) done(undefined, away, true);
  }

  close(): void {
    clearTimeout(this.dropping);
    this.host.close();
    this.busy.clear();
  }

  private ask(
    op: string,
    state: Json,
    members: Readonly<Record<string, unknown>>,
    done: (reply: PolicyReply | undefined) => void,
  ): PolicyAsk | undefined {
    const nowMs = performance.now();
    if (this.lateAsks > 0 || nowMs < this.restUntilMs || !this.host.ready) {
      done(undefined);
      return undefined;
    }
    let isLate = false;
    let isDone = false;
    const ask = this.host.ask({ op, s: this.hold(this.newestOf(stateOf(state))), ...members }, (reply) => {
      isDone = true;
      if (isLate) {
        this.onCaughtUp();
        return;
      }
      if (reply === undefined) {
        done(undefined);
        return;
      }
      this.onInTime();
      if (reply.fault === undefined) done(reply);
      else {
        this.noteReply(reply.fault);
        done(undefined);
      }
    });
    if (ask === undefined) {
      done(undefined);
      return undefined;
    }
    return {
      giveUp: () => {
        if (isDone || isLate) return;
        isLate = true;
        this.lateAsks += 1;
        this.note({ kind: 'late', message: `${op} did not return in time` });
        done(undefined);
      },
    };
  }

  /** Nobody asks while it works on what came too late, and for a while after. */
  private onCaughtUp(): void {
    this.lateAsks = Math.max(0, this.lateAsks - 1);
    if (this.lateAsks > 0) return;
    this.restUntilMs = performance.now() + this.restMs;
    this.restMs = Math.min(LONGEST_REST_MS, 2 * this.restMs);
    this.inTime = 0;
  }

  private onInTime(): void {
    this.inTime += 1;
    if (this.inTime < IN_TIME) return;
    this.restMs = SHORTEST_REST_MS;
    this.fault = undefined;
  }

  private noteReply({ kind, message }: NonNullable<PolicyReply['fault']>): void {
    this.note({ kind: kind === 'bad_answer' ? 'bad_answer' : 'threw', message });
  }

  private note(fault: PolicyFault): void {
    this.fault = fault;
    this.inTime = 0;
    this.onFault(fault);
  }

  /** Once for all of some time: whoever hears goes through all states. */
  private noteDropped(): void {
    this.dropping ??= setTimeout(() => {
      this.dropping = undefined;
      this.onDropped();
    }, TELL_DROPPED_MS).unref();
  }

  private onUp(): void {
    this.forgetHeld();
    this.lateAsks = 0;
    if (this.fault?.kind === 'ended' || this.fault?.kind === 'stuck') this.fault = undefined;
    for (const line of this.busy) {
      line.isAsked = false;
      this.learn(line);
    }
  }

  private forgetHeld(): void {
    this.held.clear();
    this.heldLength = 0;
  }

  private onDown(first: Ask | undefined): void {
    this.forgetHeld();
    for (const line of this.busy) {
      line.isAsked = false;
      if (first === undefined || this.learning.get(first.id) !== line) continue;
      // What has ended it is among what it was to learn.
      if (line.taken > 1) line.suspects = line.taken;
      else {
        this.advance(line, line.base, 1);
        this.noteDropped();
      }
    }
    this.learning.clear();
    this.lateAsks = 0;
  }

  /** What the process is to know as this state: what it has learned of it so far. */
  private newestOf(state: FileState): FileState {
    const line = this.lines.get(state);
    if (line?.tip === state) return line.base;
    const known = this.learned.get(state) ?? state;
    if (known.unlearned.length === 0) return known;
    return this.newLine(known, state).base;
  }

  /** @param tip of which `state` is what is known */
  private newLine(state: FileState, tip: FileState): Line {
    const line: Line = { base: { ...state, unlearned: [] }, tip, isAsked: false, taken: 0, suspects: 0 };
    this.lines.set(tip, line);
    this.busy.add(line);
    this.learn(line);
    return line;
  }

  /** The state's number in the process, which is told of it unless it has it. */
  private hold(state: FileState): number {
    const known = this.held.get(state);
    if (known !== undefined) {
      this.held.delete(state);
      this.held.set(state, known);
      return known.id;
    }
    const id = this.nextState++;
    const { arms, parameters, learned, isPrior } = state;
    this.holdAs(state, id, this.host.tell({ op: 'state', s: id, arms, parameters, learned, isPrior }));
    return id;
  }

  /** @param length as JSON */
  private holdAs(state: FileState, id: number, length: number): void {
    this.held.set(state, { id, length });
    this.heldLength += length;
    for (const [oldest, { id: s, length: given }] of this.held) {
      if (this.heldLength <= MOST_HELD_LENGTH || oldest === state) return;
      this.held.delete(oldest);
      this.heldLength -= given;
      this.host.tell({ op: 'forget', s });
    }
  }

  /** The state with an observation more to learn. @throws Error when it has as many as it may */
  private withObservation(state: FileState, observation: KeptObservation): FileState {
    const line = this.lines.get(state);
    const before = this.learned.get(state) ?? state;
    const length = before.unlearned.reduce((sum, one) => sum + lengthOf(one), 0);
    const isLong = before.unlearned.length > 0 && length + lengthOf(observation) > MOST_UNLEARNED_LENGTH;
    if (before.unlearned.length >= MOST_UNLEARNED || isLong) {
      const extent = isLong ? ` of ${length} characters` : '';
      throw new Error(
        `it has ${before.unlearned.length} feedbacks${extent} to learn, as many as are kept: ${this.fault?.message ?? 'it is slow'}`,
      );
    }
    const after: FileState = { ...before, unlearned: [...before.unlearned, observation] };
    if (line?.tip !== state) {
      this.newLine(after, after);
      return after;
    }
    line.tip = after;
    this.lines.set(after, line);
    this.busy.add(line);
    this.learn(line);
    return after;
  }

  /** A line's newest state with as little to learn as is known. */
  private present(line: Line): FileState {
    return this.learned.get(line.tip) ?? line.tip;
  }

  private learn(line: Line): void {
    if (line.isAsked) return;
    const present = this.present(line);
    if (present.unlearned.length === 0) {
      this.busy.delete(line);
      return;
    }
    const taken = present.unlearned.slice(0, line.suspects > 0 ? 1 : MOST_LEARNED);
    const to = this.nextState++;
    const request = { op: 'learn', s: this.hold(line.base), to, observations: taken };
    const ask = this.host.ask(request, (reply, length) => {
      if (reply === undefined) return;
      this.learning.delete(reply.id);
      line.isAsked = false;
      const { learned, rest, fault } = reply as LearnReply;
      if (fault !== undefined) {
        // Its state cannot be used at all: nothing is learned, and nothing is lost, until it can.
        this.noteReply(fault);
        return;
      }
      const { dropped = [], shares, anew } = rest ?? {};
      for (const one of dropped) this.noteReply(one.fault);
      if (anew !== undefined)
        this.note({
          kind: 'bad_answer',
          message: `restore does not take what was learned, which begins anew: ${anew}`,
        });
      const { schema, policy, arms, parameters } = line.base;
      const after: FileState = { schema, policy, arms, parameters, learned: learned ?? null, unlearned: [] };
      this.holdAs(after, to, length);
      if (shares !== undefined) this.shares.set(after, new Map(shares));
      this.advance(line, after, taken.length);
      // Before the first is what was asked beside them.
      if (dropped.some(({ at }) => at >= 0)) this.noteDropped();
      this.learn(line);
    });
    if (ask === undefined) return;
    line.isAsked = true;
    line.taken = taken.length;
    this.learning.set(ask.id, line);
  }

  /** So many of what a line had to learn are learned, or never will be. */
  private advance(line: Line, after: FileState, count: number): void {
    const { unlearned } = this.present(line);
    line.base = after;
    line.suspects = Math.max(0, line.suspects - count);
    const rest = unlearned.slice(count);
    this.learned.set(line.tip, rest.length === 0 ? after : { ...after, unlearned: rest });
    const shares = this.shares.get(after);
    if (shares !== undefined) this.latest.set(line, shares);
  }

  /** Of a state, as far as they are known; otherwise they are asked for, and even until then. */
  private sharesOf(state: FileState): ReadonlyMap<Arm, number> {
    const newest = this.newestOf(state);
    const line = this.lines.get(state);
    const known = this.shares.get(newest) ?? (line === undefined ? undefined : this.latest.get(line));
    const { arms } = state;
    if (known !== undefined && known.size === arms.length && arms.every((arm) => known.has(arm)))
      return known;
    if (arms.length > 0)
      this.host.ask({ op: 'shares', s: this.hold(newest) }, (reply) => {
        if (reply?.shares !== undefined) this.shares.set(newest, new Map(reply.shares as [Arm, number][]));
      });
    return new Map(arms.map((arm) => [arm, 1 / arms.length]));
  }

  private keeper({ methods, isShared, isPropensityUnknown }: PolicyTraits): SelectionPolicy {
    // The same state for the same arms and parameters: the process then has it once for all contexts.
    let last: FileState | undefined;
    const fresh = (arms: readonly Arm[], given: Json): FileState => {
      if (arms.length === 0) return freshState(arms, given);
      if (last === undefined || !isSame(last.arms, arms) || !isSame(last.parameters, given))
        last = freshState(arms, given);
      return last;
    };
    return {
      name: FILE_POLICY,
      ...(isShared ? { isShared: true as const } : {}),
      ...(isPropensityUnknown ? { isPropensityUnknown: true as const } : {}),
      parameters: ['parameters'],
      init: (arms, given) => asJson(fresh(arms, given)),
      restore: (value) => {
        if (fileStateFrom(value) !== undefined) return value;
        throw new PolicyError('state', 'this is no state of a policy from a file, schema 1');
      },
      reconcile: (value, arms) => {
        const state = stateOf(value);
        if (isSame(state.arms, arms)) return value;
        return asJson({ ...(this.learned.get(state) ?? state), arms: [...arms] });
      },
      withParameters: (value, wanted) => {
        const state = stateOf(value);
        const { parameters } = stateOf(wanted);
        return asJson({ ...(this.learned.get(state) ?? state), parameters });
      },
      select: (state) => {
        const [first] = stateOf(state).arms;
        return { arms: first === undefined ? [] : [first], propensity: 1 };
      },
      combine: (state, asked, arrived) => {
        const [first] = stateOf(state).arms;
        const one =
          arrived.find(({ arm }) => arm === first) ??
          arrived.find(({ arm }) => arm === asked[0]) ??
          arrived.at(0);
        return one === undefined
          ? { output: undefined, confidence: 0 }
          : { output: one.output, confidence: 1 };
      },
      observe: (state, { arms, shadows, propensity }, predictions, feedback, query = { context: '' }) =>
        asJson(
          this.withObservation(stateOf(state), {
            selection: { arms, propensity, ...(shadows === undefined ? {} : { shadows }) },
            predictions: predictions.map(keptPrediction),
            feedback,
            query: keptQuery(query),
          }),
        ),
      ...(methods.includes('notice')
        ? {
            notice: (state: Json, noticed: readonly (readonly ArmOutcome[])[]) =>
              asJson(this.withObservation(stateOf(state), { noticed })),
          }
        : {}),
      // What the application has yet to learn is in a later one.
      ...(methods.includes('prior')
        ? {
            prior: (own: Json): Json => {
              const state = stateOf(own);
              const { arms, parameters, learned } = this.learned.get(state) ?? state;
              const begin = fresh(arms, parameters);
              return asJson(learned === null ? begin : { ...begin, learned, isPrior: true });
            },
          }
        : {}),
      // It says what is wrong with them where it is asked to select.
      ...(methods.includes('featureFault') ? { featureFault: () => undefined } : {}),
      settled: (state) => asJson(this.learned.get(stateOf(state)) ?? stateOf(state)),
      shares: (state) => this.sharesOf(stateOf(state)),
    };
  }
}

/** Of states that `keeper` has made or read. */
function stateOf(value: Json): FileState {
  return value as unknown as FileState;
}

function asJson(state: FileState): Json {
  return state as unknown as Json;
}

interface LearnReply extends PolicyReply {
  readonly learned?: Json;
  readonly rest?: {
    readonly dropped?: readonly { readonly at: number; readonly fault: NonNullable<PolicyReply['fault']> }[];
    readonly shares?: readonly (readonly [Arm, number])[];
    readonly anew?: string;
  };
}

/** What is wrong with what was selected; undefined: nothing. The process is not trusted more than the policy. */
function selectionFault(
  selection: Selection | undefined,
  linked: ReadonlyMap<Arm, unknown>,
): string | undefined {
  if (selection === undefined) return 'gave nothing';
  const { arms, shadows = [], propensity } = selection;
  const isList: (value: unknown) => boolean = Array.isArray;
  if (!isList(arms) || !isList(shadows)) return 'gave no list of arms';
  if (!(propensity > 0 && propensity <= 1)) return `gave the propensity ${String(propensity)}`;
  if (arms.length === 0 && linked.size > 0) return 'gave no arms, where models are linked';
  const seen = new Set<Arm>();
  for (const arm of [...arms, ...shadows]) {
    if (!linked.has(arm))
      return `gave '${String(arm)}', which is not linked: linked are ${[...linked.keys()].join(', ')}`;
    if (seen.has(arm)) return `gave '${arm}' twice`;
    seen.add(arm);
  }
  return undefined;
}

function isSame(one: Json, other: Json): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
