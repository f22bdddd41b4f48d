import { createContext, Script } from 'node:vm';
import {
  PolicyError,
  type Arm,
  type ArmPrediction,
  type Combination,
  type FeatureFault,
  type Json,
  type Loss,
  type Selection,
  type SelectionPolicy,
} from '../../selection/index.js';
import { keptPrediction } from './fileState.js';
import type { PolicyTraits } from './hostedPolicy.js';
import { PolicyFileError } from './policyFileError.js';
import type { PolicyFile, PolicyReply } from './policyHost.js';
import { openRealm } from './policyRealm.js';

/** A policy file whose methods are called one by one, here: for a command that a person waits for, not for a server. */
export interface SteppedPolicy {
  /** undefined: the file has losses alone. */
  readonly policy: SelectionPolicy | undefined;
  readonly losses: ReadonlyMap<string, Loss>;
}

/** @throws PolicyFileError */
export function openSteppedPolicy(
  file: PolicyFile,
  {
    onPrinted = () => undefined,
    mostMs,
  }: {
    readonly onPrinted?: (text: string) => void;
    /** A call that takes longer is ended and fails; undefined: none is, and calls take less. */
    readonly mostMs?: number;
  } = {},
): SteppedPolicy {
  const steps = new Steps(mostMs);
  const realm = steps.run('the file', () => openRealm(file.name, file.text, onPrinted));
  const { loaded: traits, fault } = JSON.parse(realm.loaded) as {
    readonly loaded?: PolicyTraits;
    readonly fault?: { readonly message: string };
  };
  if (traits === undefined)
    throw new PolicyFileError('file', `${file.name}: ${fault?.message ?? 'it gave nothing'}`);
  const call = (
    request: { readonly op: string; readonly [member: string]: unknown },
    what: string,
  ): PolicyReply => {
    const line = steps.run(what, () => realm.call(JSON.stringify({ id: 1, ...request })));
    const reply = JSON.parse(line ?? '{}') as PolicyReply;
    if (reply.fault === undefined) return reply;
    const { kind, field = 'state', message } = reply.fault;
    if (kind === 'refused') throw new PolicyError(field, message);
    throw new PolicyFileError('file', message);
  };
  const invoke = (method: string, ...args: readonly unknown[]): unknown =>
    call({ op: 'invoke', method, args }, method).result;
  const losses = new Map(
    traits.losses.map((name): [string, Loss] => [
      name,
      (output, label) =>
        (
          call({ op: 'measure', loss: name, label, outputs: [output] }, `the loss '${name}'`)
            .losses as number[]
        )[0],
    ]),
  );
  if (traits.name === undefined) return { policy: undefined, losses };
  const { name, parameters, isShared, isPropensityUnknown } = traits;
  const has = (method: string): boolean => traits.methods.includes(method);
  /** null: it is the one that was given. */
  const state = (given: Json, result: unknown): Json => (result === null ? given : (result as Json));
  const kept = (arrived: readonly ArmPrediction[]) => arrived.map(keptPrediction);
  const policy: SelectionPolicy = {
    name,
    parameters,
    ...(isShared ? { isShared: true as const } : {}),
    ...(isPropensityUnknown ? { isPropensityUnknown: true as const } : {}),
    init: (arms, given) => invoke('init', arms, given) as Json,
    restore: (value) => state(value, invoke('restore', value)),
    reconcile: (present, arms) => state(present, invoke('reconcile', present, arms)),
    select: (present, draw, query = { context: '' }) => {
      realm.drawBy(draw);
      try {
        return invoke('select', present, { key: '', seed: 0 }, query) as Selection;
      } finally {
        realm.drawBy(undefined);
      }
    },
    combine: (present, asked, arrived, query = { context: '' }) => {
      if (!has('combine')) return ofFirst(asked, arrived);
      const { output, confidence } = invoke('combine', present, asked, kept(arrived), query) as Combination;
      return { output, confidence };
    },
    observe: (present, selection, predictions, feedback, query = { context: '' }) =>
      state(present, invoke('observe', present, selection, kept(predictions), feedback, query)),
    ...(has('prior')
      ? {
          prior: (own) => {
            const given = invoke('prior', own);
            return given === false ? undefined : (given as Json);
          },
        }
      : {}),
    shares: (present) => new Map(invoke('shares', present) as [Arm, number][]),
    ...(has('escalate')
      ? {
          escalate: (present, asked, arrived, query = { context: '' }) =>
            (invoke('escalate', present, asked, kept(arrived), query) as Arm | null) ?? undefined,
        }
      : {}),
    ...(has('notice')
      ? { notice: (present, queries) => state(present, invoke('notice', present, queries)) }
      : {}),
    ...(has('featureFault')
      ? {
          featureFault: (present, features) =>
            (invoke('featureFault', present, features) as FeatureFault | null) ?? undefined,
        }
      : {}),
    ...(has('withParameters')
      ? { withParameters: (present, fresh) => state(present, invoke('withParameters', present, fresh)) }
      : {}),
  };
  return { policy, losses };
}

/** Calls that may be ended. */
class Steps {
  private step: () => void = () => undefined;
  private readonly context: object;
  private readonly script = new Script('step()');

  constructor(private readonly mostMs: number | undefined) {
    this.context = createContext({ step: () => this.step() });
  }

  run<T>(what: string, call: () => T): T {
    if (this.mostMs === undefined) return call();
    let result: { readonly value: T } | undefined;
    this.step = () => {
      result = { value: call() };
    };
    try {
      this.script.runInContext(this.context, { timeout: this.mostMs });
    } catch (error) {
      // Of another realm.
      if ((error as { readonly code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
      const message = `${what} did not return within ${this.mostMs / 1000} s: it loops`;
      throw new PolicyFileError('loop', message, { cause: error });
    }
    if (result === undefined) throw new PolicyFileError('file', `${what} gave nothing`);
    return result.value;
  }
}

/** Without `combine` the answer is that of the first model that was asked. */
function ofFirst(asked: readonly Arm[], arrived: readonly ArmPrediction[]): Combination {
  const one = arrived.find(({ arm }) => arm === asked[0]);
  return one === undefined ? { output: undefined, confidence: 0 } : { output: one.output, confidence: 1 };
}
