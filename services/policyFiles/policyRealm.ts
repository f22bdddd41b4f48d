import { createContext, Script } from 'node:vm';
import {
  KeyedDraw,
  lossOf,
  sameOutput,
  type ArmPrediction,
  type Draw,
  type Feedback,
} from '../../selection/index.js';
import { moduleScript } from './moduleScript.js';
import { PolicyFileError } from './policyFileError.js';
import { realm, type Realm, type RealmTools } from './realm.js';

export interface OpenRealm extends Realm {
  /** What loading it was answered. */
  readonly loaded: string;
  /** Draws in place of those by seed and key, until it is called with undefined. */
  drawBy(draw: Draw | undefined): void;
}

/**
 * A policy file in a context of its own, which has the language and nothing of Node: no files, network, processes, timers, and
 * no code made of text. It can still loop and take memory: for what others depend on it belongs in a process of its own.
 * @param onPrinted what it prints
 * @throws PolicyFileError for what is no module
 */
export function openRealm(name: string, text: string, onPrinted: (text: string) => void): OpenRealm {
  const file = new Script(moduleScript(name, text), { filename: name });
  const sandbox = Object.create(null) as object;
  const context = createContext(sandbox, { codeGeneration: { strings: false, wasm: false } });
  const seeds = new Map<number, KeyedDraw>();
  let next: Draw = () => 0.5;
  let given: Draw | undefined;
  const tools: RealmTools = {
    begin: (seed, key) => {
      let draws = seeds.get(seed);
      if (draws === undefined) seeds.set(seed, (draws = new KeyedDraw(seed)));
      next = draws.of(key);
    },
    draw: () => (given ?? next)(),
    sameOutput,
    lossOf: (arm, judged) => {
      const { predictions, feedback } = JSON.parse(judged) as {
        readonly predictions: readonly ArmPrediction[];
        readonly feedback: Feedback;
      };
      return lossOf(arm, predictions, feedback);
    },
    print: onPrinted,
  };
  const inside = new Script(`(${realm.toString()})`, { filename: 'windjammer' }).runInContext(
    context,
  ) as typeof realm;
  const made = inside(tools);
  let loaded: string;
  try {
    loaded = made.load(file.runInContext(context));
  } catch (cause) {
    throw new PolicyFileError('file', `${name}: it could not be loaded`, { cause });
  }
  return { ...made, loaded, drawBy: (draw) => (given = draw) };
}
