/**
 * What a policy's realm gets from outside: functions of numbers and texts alone. Nothing of them reaches the policy itself, nor do
 * objects of the policy reach them: what they call on one, it hears with objects of theirs.
 */
export interface RealmTools {
  /** Begins the draws of a query. */
  readonly begin: (seed: number, key: string) => void;
  readonly draw: () => number;
  readonly sameOutput: (one: string, other: string) => boolean;
  /** @param judged predictions and feedback, as JSON */
  readonly lossOf: (arm: string, judged: string) => number;
  /** What the policy prints. */
  readonly print: (text: string) => void;
}

type Members = Readonly<Record<string, unknown>>;
type Method = (...args: readonly unknown[]) => unknown;
/** What a file exports by default, once its shape is known. */
type Exported = Members & { readonly name: string; readonly parameters: readonly string[] };

/** One request; which members it has its `op` says. */
interface Request {
  readonly id: number;
  readonly op: string;
  /** Number of a state. */
  readonly s: number;
  readonly arms: readonly string[];
  readonly parameters: unknown;
  readonly learned: unknown;
  /** `learned` is the application's own state, and this is a context's. */
  readonly isPrior?: boolean;
  readonly to: number;
  readonly observations: readonly Observation[];
  readonly key: string;
  readonly seed: number;
  readonly query: Members;
  readonly asked: readonly string[];
  readonly arrived: readonly Members[];
  readonly loss: string;
  readonly label: string;
  readonly outputs: readonly string[];
  readonly method: string;
  readonly args: readonly unknown[];
}

interface Observation {
  readonly noticed?: readonly unknown[];
  readonly selection?: unknown;
  readonly predictions: readonly Members[];
  readonly feedback?: unknown;
  readonly query?: unknown;
}

/** A state that a request has brought, or that was learned. */
interface Held {
  readonly arms: readonly string[];
  readonly parameters: unknown;
  /** As it was kept; null: nothing was learned. */
  readonly learned: unknown;
  readonly isPrior?: boolean | undefined;
  fitted?: unknown;
  /** Why `learned` was not taken. */
  anew?: string | undefined;
}

/** A state as text and value: what is kept is what JSON has of it. */
interface Kept {
  readonly value: unknown;
  readonly text: string;
}

interface Fault {
  readonly kind: 'threw' | 'bad_answer' | 'refused';
  readonly message: string;
  readonly field?: string;
}

/** The realm as those outside see it: texts in, texts out. */
export interface Realm {
  /** @param file the function that `moduleScript` makes, of the realm itself @returns a reply to line 0 */
  load(file: unknown): string;
  /** One request as JSON. @returns the reply as JSON; undefined: there is none */
  call(line: string): string | undefined;
}

/**
 * Runs inside the context of a policy file, compiled of its own text: it stands alone, and what it uses it takes before the file
 * can change anything. All that the file gets is made here, of JSON, and frozen; all that it gives is checked, and leaves as text.
 */
export function realm(tools: RealmTools): Realm {
  'use strict';
  // The file may put others in their place.
  const {
    Array,
    Error,
    Float32Array,
    JSON,
    Map,
    Math,
    Number,
    Object,
    RangeError,
    Reflect,
    String,
    TypeError,
  } = globalThis;
  const MOST_STATE_LENGTH = 1_048_576;
  const MOST_DEPTH = 64;
  const MOST_NAMES = 64;
  const MOST_NAME_LENGTH = 64;
  const REQUIRED = ['init', 'restore', 'reconcile', 'select', 'observe', 'shares'];
  const OPTIONAL = ['combine', 'escalate', 'notice', 'featureFault', 'withParameters', 'prior'];

  class PolicyError extends Error {
    override readonly name = 'PolicyError';
    readonly field: string;
    constructor(field: string, message: string) {
      super(message);
      this.field = field;
    }
  }
  /** What the policy gave is not what it may give. */
  class BadAnswer extends Error {}

  // Errors from outside stay there, of a stack that has no room for a call, too: an object of another realm leads to all of it.
  const outside =
    <A extends readonly unknown[], T>(call: (...args: A) => T): ((...args: A) => T) =>
    (...args) => {
      let message: string;
      try {
        return call(...args);
      } catch (error) {
        message = `${(error as Error).message}`;
      }
      throw new RangeError(message);
    };
  const drawOutside = outside(tools.draw);
  const printOutside = outside(tools.print);
  const sameOutside = outside(tools.sameOutput);
  const lossOutside = outside(tools.lossOf);
  const library = Object.freeze({
    PolicyError,
    sameOutput: (one: unknown, other: unknown) => sameOutside(String(one), String(other)),
    lossOf: (arm: unknown, predictions: readonly Members[], feedback: object) =>
      lossOutside(
        String(arm),
        JSON.stringify({
          predictions: predictions.map((one) => ({ arm: String(one.arm), output: String(one.output) })),
          feedback,
        }),
      ),
  });
  const draw = (): number => drawOutside();

  const print = (...words: readonly unknown[]): void => {
    const texts = words.map((one) => (typeof one === 'string' ? one : (JSON.stringify(one) ?? String(one))));
    printOutside(texts.join(' ').slice(0, 1000));
  };
  const absent = (what: string) =>
    function (): never {
      throw new TypeError(
        `${what} is not there: a policy draws with draw() and knows no time, so that it can be repeated`,
      );
    };
  const world = globalThis as unknown as Record<string, unknown>;
  world.console = Object.freeze({ log: print, info: print, warn: print, error: print, debug: print });
  world.Date = Object.freeze(Object.assign(absent('Date'), { now: absent('Date.now') }));
  Math.random = absent('Math.random');
  for (const name of ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'FinalizationRegistry', 'WeakRef'])
    Reflect.deleteProperty(world, name);

  // Of what nobody can write, objects that are built on it could have none of the same name: they get their own.
  const letOverride = (prototype: object): void => {
    for (const [name, { value, writable }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (writable !== true) continue;
      const inherited: unknown = value;
      Object.defineProperty(prototype, name, {
        get: () => inherited,
        set(this: unknown, own: unknown) {
          if (this === prototype) throw new TypeError(`Cannot assign to read only property '${name}'`);
          Object.defineProperty(this, name, {
            value: own,
            writable: true,
            enumerable: true,
            configurable: true,
          });
        },
      });
    }
  };
  letOverride(Object.prototype);
  letOverride(Error.prototype);

  // Whoever changes what others build on is told at once.
  const lockDown = (): void => {
    const open: object[] = [];
    const add = (value: unknown): void => {
      if ((typeof value === 'object' && value !== null) || typeof value === 'function')
        if (value !== globalThis && !Object.isFrozen(value)) open.push(value);
    };
    for (const name of Object.getOwnPropertyNames(globalThis)) add(world[name]);
    add(function* () {}.constructor);
    add((async () => {}).constructor);
    add(Object.getPrototypeOf([][Symbol.iterator]()));
    for (let one = open.pop(); one !== undefined; one = open.pop()) {
      if (Object.isFrozen(one)) continue;
      Object.freeze(one);
      add(Object.getPrototypeOf(one));
      const members: Readonly<Record<string, PropertyDescriptor>> = Object.getOwnPropertyDescriptors(one);
      for (const member of Object.values(members)) {
        // Either of them may be there.
        for (const part of ['value', 'get', 'set'] as const) add(Reflect.get(member, part));
      }
    }
  };

  const frozen = <T>(value: T): T => {
    if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
    Object.freeze(value);
    for (const member of Object.values(value)) frozen(member);
    return value;
  };
  /** Of whatever was given; none where that is no object. */
  const membersOf = (value: unknown): Members =>
    (typeof value === 'object' && value !== null) || typeof value === 'function' ? (value as Members) : {};
  /** @throws BadAnswer unless JSON has a word for all of it */
  const requirePlain = (what: string, value: unknown, depth = 0): void => {
    const say = (fault: string): never => {
      throw new BadAnswer(`${what} ${fault}`);
    };
    switch (typeof value) {
      case 'boolean':
      case 'string':
        return;
      case 'number':
        if (!Number.isFinite(value)) say(`is ${value}, for which JSON has no word`);
        return;
      case 'undefined':
        return say('is undefined: give a value, null where there is none, or leave the member out');
      case 'object':
        break;
      case 'bigint':
      case 'function':
      case 'symbol':
        return say(`is a ${typeof value}, which JSON does not have`);
    }
    if (value === null) return;
    if (depth > MOST_DEPTH) say(`is deeper than ${MOST_DEPTH} objects in one another, or holds itself`);
    if (typeof membersOf(value).then === 'function')
      say('is a promise: a policy answers at once, without async and await');
    if (Array.isArray(value)) {
      for (const [at, one] of (value as readonly unknown[]).entries())
        requirePlain(`${what}[${at}]`, one, depth + 1);
      return;
    }
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null)
      say(`is a ${nameOf(value)}: plain objects and lists alone are JSON`);
    for (const [key, one] of Object.entries(value)) requirePlain(`${what}.${key}`, one, depth + 1);
  };
  const isText = (value: unknown): value is string => typeof value === 'string';
  const isThenable = (value: unknown): boolean => typeof membersOf(value).then === 'function';
  const nameOf = (value: unknown): string => String(membersOf(membersOf(value).constructor).name);
  const want = (holds: boolean, message: () => string): void => {
    if (!holds) throw new BadAnswer(message());
  };
  const show = (value: unknown): string => {
    try {
      return (JSON.stringify(value) ?? String(value)).slice(0, 200);
    } catch {
      return typeof value;
    }
  };

  let policy: Exported | undefined;
  let losses: Members = {};
  const has = (name: string): boolean => policy?.[name] !== undefined;
  /** Called as one of the policy's own: it may use `this`. */
  const method =
    (name: string): Method =>
    (...args) =>
      Reflect.apply(policy?.[name] as Method, policy, args);

  const keptState = (what: string, state: unknown): Kept => {
    requirePlain(what, state);
    const text = JSON.stringify(state);
    want(
      text.length <= MOST_STATE_LENGTH,
      () => `${what} has ${text.length} characters as JSON, and ${MOST_STATE_LENGTH} are the most`,
    );
    return { value: frozen(JSON.parse(text) as unknown), text };
  };

  const selectionOf = (
    state: unknown,
    key: string,
    seed: number,
    query: unknown,
  ): { arms: readonly string[]; propensity: number; shadows?: readonly string[]; share?: number } => {
    tools.begin(seed, key);
    const given = method('select')(state, draw, query);
    want(
      typeof given === 'object' && given !== null,
      () => `select gave ${show(given)}: give {arms: [...], propensity: 1}`,
    );
    want(
      !isThenable(given),
      () => 'select gave a promise: a policy answers at once, without async and await',
    );
    const { arms, shadows = [], propensity, share } = membersOf(given);
    want(
      Array.isArray(arms) && arms.every(isText),
      () => `select gave the arms ${show(arms)}: a list of names`,
    );
    want(
      Array.isArray(shadows) && shadows.every(isText),
      () => `select gave the shadows ${show(shadows)}: a list of names, or nothing`,
    );
    want(
      typeof propensity === 'number' && propensity > 0 && propensity <= 1 + 1e-12,
      () => `select gave the propensity ${String(propensity)}: a number above 0 and at most 1`,
    );
    want(
      share === undefined || (typeof share === 'number' && share > 0 && share <= 1),
      () => `select gave the share ${String(share)}: a number above 0 and at most 1, or nothing`,
    );
    const own = {
      arms: arms as readonly string[],
      propensity: Math.min(1, propensity as number),
      ...(share === undefined ? {} : { share: share as number }),
    };
    const beside = shadows as readonly string[];
    return beside.length === 0 ? own : { ...own, shadows: beside };
  };
  /** What was selected where models are linked. Which they are is not looked at: it may know others, which are linked later. */
  const ofSome = (selection: ReturnType<typeof selectionOf>): ReturnType<typeof selectionOf> => {
    const all = [...selection.arms, ...(selection.shadows ?? [])];
    for (const [at, arm] of all.entries())
      want(all.indexOf(arm) === at, () => `select gave ${show(arm)} twice`);
    want(selection.arms.length > 0, () => 'select gave no arms where models are linked: give one at least');
    return selection;
  };
  const predictionsOf = (list: readonly Members[]): readonly Members[] =>
    list.map((one) =>
      one.scores === undefined ? one : { ...one, scores: Float32Array.from(one.scores as readonly number[]) },
    );
  const combinationOf = (
    state: unknown,
    asked: unknown,
    arrived: readonly Members[],
    query: unknown,
  ): Members => {
    const given = method('combine')(state, asked, predictionsOf(arrived), query);
    want(
      typeof given === 'object' && given !== null && !isThenable(given),
      () => `combine gave ${isThenable(given) ? 'a promise' : show(given)}: give {output, confidence}`,
    );
    const { output, confidence } = membersOf(given);
    want(
      output === undefined || isText(output),
      () => `combine gave the output ${show(output)}: a text as models give them, or undefined`,
    );
    want(
      typeof confidence === 'number' && confidence >= 0 && confidence <= 1,
      () => `combine gave the confidence ${String(confidence)}: a number from 0 to 1`,
    );
    return { output, confidence };
  };
  /** @param linked whose shares they are; undefined: whoever asks looks */
  const sharesOf = (state: unknown, linked?: readonly string[]): readonly (readonly [string, number])[] => {
    const given = method('shares')(state);
    want(given instanceof Map, () => `shares gave ${show(given)}: give a Map of names and numbers`);
    const list: [string, number][] = [];
    for (const [arm, share] of given as Map<unknown, unknown>) {
      want(
        isText(arm) && typeof share === 'number' && Number.isFinite(share),
        () => `shares gave ${show(arm)} the share ${String(share)}: a finite number for a name`,
      );
      list.push([arm as string, share as number]);
    }
    if (linked === undefined) return list;
    const sum = list.reduce((total, [, share]) => total + share, 0);
    want(
      list.length === linked.length && linked.every((arm) => (given as Map<unknown, unknown>).has(arm)),
      () => `shares gave ${show(list.map(([arm]) => arm))}: one of each of ${show(linked)}, which are linked`,
    );
    want(
      list.every(([, share]) => share >= 0) && (linked.length === 0 || Math.abs(sum - 1) <= 1e-6),
      () => `shares gave ${show(list)}: numbers from 0 that add up to one`,
    );
    return list;
  };
  const nextOf = (
    state: unknown,
    asked: unknown,
    arrived: readonly Members[],
    query: unknown,
  ): string | undefined => {
    const next = method('escalate')(state, asked, predictionsOf(arrived), query);
    want(next === undefined || isText(next), () => `escalate gave ${show(next)}: a name, or undefined`);
    return next as string | undefined;
  };
  const faultOf = (state: unknown, features: unknown): Members | undefined => {
    const fault = method('featureFault')(state, features);
    if (fault === undefined) return undefined;
    const { name, message } = membersOf(fault);
    want(
      isText(name) && isText(message),
      () => `featureFault gave ${show(fault)}: give {name, message}, or undefined`,
    );
    return { name, message };
  };
  const lossesOf = (name: string, label: string, outputs: readonly string[]): number[] =>
    outputs.map((output) => {
      const loss = (losses[name] as Method)(output, label);
      want(
        typeof loss === 'number' && loss >= 0 && loss <= 1,
        () =>
          `the loss '${name}' of ${show(output)} for the label ${show(label)} is ${show(loss)}: a number from 0 to 1`,
      );
      return loss as number;
    });

  /** The state with other parameters; as `withParameters` of `selection` has it. */
  const reparametrized = (state: unknown, parameters: unknown): unknown => {
    const wanted = membersOf(method('init')([], parameters));
    const present = membersOf(state);
    const changed = (policy?.parameters ?? []).filter(
      (name) => JSON.stringify(present[name]) !== JSON.stringify(wanted[name]),
    );
    if (changed.length === 0) return state;
    if (has('withParameters')) return method('withParameters')(state, wanted);
    const members = changed.map((name) => [name, wanted[name]]);
    return method('restore')({ ...present, ...Object.fromEntries(members) });
  };

  const states = new Map<number, Held>();
  const fresh = (arms: readonly string[], parameters: unknown): Kept =>
    keptState('the state of init', method('init')(arms, parameters));
  /** What a context begins with of the application's own state; undefined: nothing. */
  const priorOf = (own: unknown): unknown => {
    const given = method('prior')(own);
    return given === undefined ? undefined : keptState('the state of prior', given).value;
  };
  const fit = (held: Held): unknown => {
    if (held.fitted !== undefined) return held.fitted;
    const { arms, parameters, learned, isPrior = false } = held;
    if (learned !== null) {
      try {
        const restored = keptState('the state of restore', method('restore')(learned)).value;
        const there = keptState('the state of reconcile', method('reconcile')(restored, arms)).value;
        const fitted = keptState('the state', reparametrized(there, parameters)).value;
        return (held.fitted = isPrior ? (priorOf(fitted) ?? fresh(arms, parameters).value) : fitted);
      } catch (error) {
        if (!isPolicyError(error)) throw error;
        held.anew = String((error as Error).message);
      }
    }
    return (held.fitted = fresh(arms, parameters).value);
  };
  const held = (id: number): Held => {
    const found = states.get(id);
    if (found === undefined) throw new Error(`state ${id} is not here`);
    return found;
  };

  const learn = (from: Held, to: number, observations: readonly Observation[]): string => {
    const before = fit(from);
    let state = before;
    const dropped: { at: number; fault: Fault }[] = [];
    for (const [at, one] of observations.entries()) {
      try {
        const after =
          one.noticed === undefined
            ? method('observe')(state, one.selection, predictionsOf(one.predictions), one.feedback, one.query)
            : !has('notice')
              ? state
              : method('notice')(state, one.noticed);
        if (after !== state)
          state = keptState(
            one.noticed === undefined ? 'the state of observe' : 'the state of notice',
            after,
          ).value;
      } catch (error) {
        dropped.push({ at, fault: described(error, one.noticed === undefined ? 'observe' : 'notice') });
      }
    }
    const { arms, parameters } = from;
    const text = JSON.stringify(state);
    const isFresh = text === fresh(arms, parameters).text;
    states.set(to, { arms, parameters, learned: isFresh ? null : state, fitted: state });
    let shares: ReturnType<typeof sharesOf> | undefined;
    try {
      shares = sharesOf(state, arms);
    } catch (error) {
      dropped.push({ at: -1, fault: described(error, 'shares') });
    }
    const rest = JSON.stringify({ dropped, shares, anew: from.anew });
    from.anew = undefined;
    return `"learned":${isFresh ? 'null' : text},"rest":${rest}`;
  };

  /** Each of what a policy may have, once. */
  const tryOptional = (
    state: unknown,
    arms: readonly string[],
    asked: readonly string[],
    arrived: readonly Members[],
    parameters: unknown,
  ): void => {
    const query = frozen({ context: '', features: { a: 1 } });
    const [arm] = asked;
    const outcomes = frozen([
      [{ arm, kind: 'answered', latencyMs: 1, isCached: false }],
      [{ arm, kind: 'late' }],
    ]);
    if (has('featureFault')) faultOf(state, query.features);
    if (has('escalate')) nextOf(state, asked, arrived, query);
    if (has('notice')) keptState('the state of notice', method('notice')(state, outcomes));
    if (has('prior')) sharesOf(priorOf(state) ?? state, arms);
    if (has('withParameters'))
      keptState('the state of withParameters', method('withParameters')(state, fresh([], parameters).value));
  };
  const tryLosses = (): void => {
    for (const name of Object.keys(losses)) {
      try {
        lossesOf(name, '1', ['1', '0']);
      } catch {
        // It may know other answers alone: but it comes to an end.
      }
    }
  };

  /** What a file is, once it is held against what it owes at the least. */
  const check = ({ parameters, loss, learned }: Partial<Request>): { refused?: string } => {
    if (loss !== undefined && !Object.hasOwn(losses, loss))
      throw new PolicyError(
        'loss.name',
        `the file has no loss '${loss}': it has ${Object.keys(losses).join(', ') || 'none'}`,
      );
    tryLosses();
    if (policy === undefined) return {};
    fresh([], parameters);
    const arms = frozen(['first', 'second']);
    let state: unknown;
    try {
      state = fresh(arms, parameters).value;
    } catch (error) {
      // Parameters may name models that are linked later.
      if (!isPolicyError(error)) throw error;
      return {};
    }
    const query = frozen({ context: '' });
    const selection = frozen(ofSome(selectionOf(state, 'check', 1, query)));
    const predictions = frozen(selection.arms.map((arm) => ({ arm, output: '1' })));
    if (has('combine')) combinationOf(state, selection.arms, predictions, query);
    const after = keptState(
      'the state of observe',
      method('observe')(state, selection, predictions, frozen({ label: '1' }), query),
    ).value;
    const restored = keptState('the state of restore', method('restore')(after)).value;
    const others = frozen(['second', 'third']);
    const moved = keptState('the state of reconcile', method('reconcile')(restored, others)).value;
    ofSome(selectionOf(moved, 'check', 1, query));
    sharesOf(after, arms);
    sharesOf(moved, others);
    tryOptional(after, arms, selection.arms, predictions, parameters);
    if (learned === undefined || learned === null) return {};
    try {
      method('restore')(learned);
      return {};
    } catch (error) {
      if (!isPolicyError(error)) throw error;
      return { refused: String((error as Error).message) };
    }
  };

  /** Any method with its own arguments, for whoever runs the policy in steps: `select` gets draws. */
  const invoke = (name: string, args: readonly unknown[]): string => {
    const [state, second, third, ...rest] = args;
    if (name === 'select') {
      const { key, seed } = second as Request;
      return JSON.stringify(selectionOf(state, key, seed, third));
    }
    if (name === 'combine') return JSON.stringify(combinationOf(state, second, third as Members[], rest[0]));
    if (name === 'escalate')
      return JSON.stringify(nextOf(state, second, third as Members[], rest[0])) ?? 'null';
    if (name === 'shares') return JSON.stringify(sharesOf(state));
    if (name === 'featureFault') return JSON.stringify(faultOf(state, second)) ?? 'null';
    if (name === 'prior') return JSON.stringify(priorOf(state)) ?? 'false';
    const given = name === 'observe' ? [state, second, predictionsOf(third as Members[]), ...rest] : args;
    const after = method(name)(...given);
    // The same: whoever asked has it.
    return after === state ? 'null' : keptState(`the state of ${name}`, after).text;
  };

  const answer = (request: Request): string => {
    const { op, s, query } = request;
    switch (op) {
      case 'state': {
        const { arms, parameters, learned, isPrior } = request;
        states.set(s, { arms, parameters, learned, isPrior });
        return '';
      }
      case 'forget':
        states.delete(s);
        return '';
      case 'select': {
        const state = fit(held(s));
        const fault =
          query.features !== undefined && has('featureFault') ? faultOf(state, query.features) : undefined;
        return fault === undefined
          ? `"selection":${JSON.stringify(selectionOf(state, request.key, request.seed, query))}`
          : `"featureFault":${JSON.stringify(fault)}`;
      }
      case 'combine':
        return `"combination":${JSON.stringify(combinationOf(fit(held(s)), request.asked, request.arrived, query))}`;
      case 'escalate': {
        const next = nextOf(fit(held(s)), request.asked, request.arrived, query);
        return next === undefined ? '"none":true' : `"next":${JSON.stringify(next)}`;
      }
      case 'learn':
        return learn(held(s), request.to, request.observations);
      case 'shares':
        return `"shares":${JSON.stringify(sharesOf(fit(held(s)), held(s).arms))}`;
      case 'measure':
        return `"losses":${JSON.stringify(lossesOf(request.loss, request.label, request.outputs))}`;
      case 'check':
        return `"checked":${JSON.stringify(check(request))}`;
      case 'ping':
        return '"pong":true';
      case 'invoke':
        return `"result":${invoke(request.method, request.args)}`;
      default:
        throw new Error(`there is no request '${String(op)}'`);
    }
  };

  const isPolicyError = (error: unknown): boolean =>
    error instanceof PolicyError ||
    (error instanceof Error && error.name === 'PolicyError' && isText(membersOf(error).field));

  /** What the policy threw, or gave, as plain data. Whatever was thrown may be anything. */
  const described = (error: unknown, where: string): Fault => {
    try {
      if (error instanceof BadAnswer) return { kind: 'bad_answer', message: error.message };
      if (isPolicyError(error)) {
        const { field, message } = error as PolicyError;
        return { kind: 'refused', field: field.slice(0, 200), message: String(message).slice(0, 1000) };
      }
      if (!(error instanceof Error)) return { kind: 'threw', message: `${where} threw ${show(error)}` };
      const place = /\(?([^\s(]+:\d+:\d+)\)?/.exec(
        String(error.stack)
          .split('\n')
          .find((line) => /:\d+:\d+\)?$/.test(line)) ?? '',
      );
      const at = place === null ? '' : ` (${place[1]})`;
      return {
        kind: 'threw',
        message: `${where} threw ${error.name}: ${String(error.message).slice(0, 1000)}${at}`,
      };
    } catch {
      return { kind: 'threw', message: `${where} threw what cannot be told` };
    }
  };

  const load = (file: unknown): Members => {
    const exported: { readonly default?: unknown; readonly losses?: unknown } = {};
    (file as Method)(exported, library);
    const { default: given, losses: own = {} } = exported;
    const say = (message: string): never => {
      throw new BadAnswer(message);
    };
    if (typeof own !== 'object' || own === null)
      say('`losses` must be an object of functions (output, label) => number');
    losses = own as Members;
    const requireNames = (what: string, names: readonly string[]): void => {
      if (names.length > MOST_NAMES || names.some((one) => one === '' || one.length > MOST_NAME_LENGTH))
        say(`\`${what}\` may have ${MOST_NAMES} names, of 1 to ${MOST_NAME_LENGTH} characters each`);
    };
    requireNames('losses', Object.keys(losses));
    for (const name of Object.keys(losses))
      if (typeof losses[name] !== 'function')
        say(`losses.${name} must be a function (output, label) => number`);
    if (given === undefined && Object.keys(losses).length > 0)
      return { losses: Object.keys(losses), methods: [], parameters: [] };
    if ((typeof given !== 'object' && typeof given !== 'function') || given === null)
      say('it has no default export: `export default` an object that is a UserPolicy');
    const whole = given as Members;
    const { name, parameters } = whole;
    if (!isText(name) || !/^[A-Za-z0-9][\w.-]{0,63}$/.test(name))
      say('`name` must be a text of 1 to 64 letters, digits, . _ - that begins with a letter or digit');
    if (!Array.isArray(parameters) || !parameters.every(isText))
      say('`parameters` must be a list of the names of its parameters, [] where it has none');
    requireNames('parameters', parameters as readonly string[]);
    const missing = REQUIRED.filter((one) => typeof whole[one] !== 'function');
    if (missing.length > 0)
      say(`its default export lacks the function${missing.length > 1 ? 's' : ''} ${missing.join(', ')}`);
    for (const one of OPTIONAL)
      if (whole[one] !== undefined && typeof whole[one] !== 'function')
        say(`\`${one}\` must be a function, or left out`);
    policy = whole as Exported;
    return {
      name,
      parameters,
      methods: OPTIONAL.filter((one) => typeof whole[one] === 'function'),
      isShared: whole.isShared === true,
      isPropensityUnknown: whole.isPropensityUnknown === true,
      losses: Object.keys(losses),
    };
  };

  lockDown();
  return Object.freeze({
    load(file: unknown): string {
      try {
        return `{"id":0,"loaded":${JSON.stringify(load(file))}}`;
      } catch (error) {
        const fault = described(error, 'the file');
        const isCommonJs = /ReferenceError: (module|exports|require) is not defined/.test(fault.message);
        const message = isCommonJs
          ? `${fault.message}: a policy file is an ES module, with \`export default\` and without \`require\``
          : fault.message;
        return `{"id":0,"fault":${JSON.stringify({ ...fault, message })}}`;
      }
    },
    call(line: string): string | undefined {
      const request = frozen(JSON.parse(line) as Request);
      try {
        const reply = answer(request);
        return reply === '' ? undefined : `{"id":${request.id},${reply}}`;
      } catch (error) {
        return `{"id":${request.id},"fault":${JSON.stringify(described(error, request.op === 'invoke' ? request.method : request.op))}}`;
      }
    },
  });
}
