import { KeyedDraw, type Json } from '../../selection/index.js';
import { PredictionEngine, type Answer, type Query } from '../../services/prediction/index.js';
import { MemoryStore } from '../../services/store/index.js';
import { VirtualClock } from '../../simulator/time/index.js';
import { FixedRegistry } from './fixedRegistry.js';
import {
  recordedInput,
  recordedRecord,
  recordedReplica,
  type Failure,
  type RecordedModel,
} from './recordedModels.js';

const APPLICATION = 'digits';

export interface ModelFailureSettings {
  readonly queries: number;
  readonly failure: Failure;
  /** Errors are reported after each so many queries. */
  readonly every: number;
}

export interface PolicyChoice {
  readonly name: string;
  readonly parameters: Json;
}

export interface ErrorCurve {
  /** Wrong answers so far, over queries so far, after each `every` queries. */
  readonly cumulative: readonly number[];
  readonly wrong: number;
}

/**
 * Queries one after the other through the prediction engine, each with feedback before the next, in virtual time.
 * The digits and their order follow from the seed alone, the same for every policy.
 * @param truth the label of each digit of the set.
 */
export function runModelFailure(
  settings: ModelFailureSettings,
  models: readonly RecordedModel[],
  truth: Uint8Array,
  policy: PolicyChoice,
  seed: number,
): ErrorCurve {
  const clock = new VirtualClock();
  const engine = new PredictionEngine({
    clock,
    registry: new FixedRegistry(
      {
        name: APPLICATION,
        inputType: 'doubles',
        defaultOutput: '-1',
        latencyObjectiveUs: 20_000,
        policy,
      },
      models.map(({ name }) => recordedRecord(name)),
    ),
    store: new MemoryStore(),
    seed,
    cacheBytes: 0,
    recentQueries: 64,
  });
  for (const model of models) engine.addReplica(recordedReplica(clock, model, settings.failure, seed));
  clock.run();
  const draw = new KeyedDraw(seed);
  let output: string | undefined;
  const sink = {
    onAnswer: (_query: Query, answer: Answer) => {
      output = answer.output;
    },
    onRefusal: (_query: Query, refusal: { message: string }) => {
      throw new Error(refusal.message);
    },
  };
  const cumulative: number[] = [];
  let wrong = 0;
  for (let number = 0; number < settings.queries; number++) {
    const digit = Math.floor(draw.of(`digit ${number}`)() * truth.length);
    const label = `${truth[digit]}`;
    const id = `${number}`;
    output = undefined;
    const query = { id, application: APPLICATION, context: '', input: recordedInput(digit, number) };
    engine.predict(query, sink);
    clock.run();
    if (output === undefined) throw new Error(`query ${id} has no answer`);
    if (output !== label) wrong += 1;
    engine.update({ application: APPLICATION, context: '', queryId: id, label }, ({ refusal }) => {
      if (refusal !== undefined) throw new Error(refusal.message);
    });
    if ((number + 1) % settings.every === 0) cumulative.push(wrong / (number + 1));
  }
  engine.close();
  return { cumulative, wrong };
}
