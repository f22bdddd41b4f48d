import type { Json } from '../../selection/index.js';
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

export interface PolicyChoice {
  readonly name: string;
  readonly parameters: Json;
}

/**
 * Recorded models behind one application of the prediction engine, which is asked one query after the other in virtual time, each with
 * feedback before the next.
 */
export class JudgedQueries {
  private readonly clock = new VirtualClock();
  private readonly engine: PredictionEngine;
  private output: string | undefined;
  private readonly sink = {
    onAnswer: (_query: Query, answer: Answer): void => {
      this.output = answer.output;
    },
    onRefusal: (_query: Query, refusal: { readonly message: string }): void => {
      throw new Error(refusal.message);
    },
  };

  /** @param failure of one of the models; none unless given */
  constructor(models: readonly RecordedModel[], policy: PolicyChoice, seed: number, failure?: Failure) {
    const { clock } = this;
    const { name, parameters } = policy;
    this.engine = new PredictionEngine({
      clock,
      registry: new FixedRegistry(
        {
          name: APPLICATION,
          inputType: 'doubles',
          defaultOutput: '-1',
          latencyObjectiveUs: 20_000,
          policy: { name, parameters },
        },
        models.map((model) => recordedRecord(model.name)),
      ),
      store: new MemoryStore(),
      seed,
      cacheBytes: 0,
      recentQueries: 64,
    });
    for (const model of models) this.engine.addReplica(recordedReplica(clock, model, failure, seed));
    clock.run();
  }

  /**
   * Asks for the label of a digit, and tells the true one.
   * @param number of the query: no two have the same
   * @param context '' for none
   * @returns whether the answer was wrong
   */
  ask(number: number, digit: number, label: string, context = ''): boolean {
    const id = `${number}`;
    this.output = undefined;
    const input = recordedInput(digit, number);
    this.engine.predict({ id, application: APPLICATION, context, input }, this.sink);
    this.clock.run();
    if (this.output === undefined) throw new Error(`query ${id} has no answer`);
    this.engine.update({ application: APPLICATION, context, queryId: id, label }, ({ refusal }) => {
      if (refusal !== undefined) throw new Error(refusal.message);
    });
    return this.output !== label;
  }

  close(): void {
    this.engine.close();
  }
}
