import type { BuiltInModel } from '../../../containers/models/index.js';
import { VirtualNode } from '../../../containers/runtime/testing/index.js';
import { PredictionEngine, type Answer } from '../../../services/prediction/index.js';
import { MemoryStore } from '../../../services/store/index.js';
import { VERDICT_COSTS, type VerdictCosts } from '../../../simulator/idempotency/index.js';
import { VirtualClock } from '../../../simulator/time/index.js';
import { digitsModel } from '../digitsModel.js';
import { FixedRegistry } from '../fixedRegistry.js';

const APPLICATION = 'digits';
/** An hour: nothing is late. */
const OBJECTIVE_US = 3_600_000_000;

/** No verdict takes any time. */
export const FREE_VERDICTS: VerdictCosts = { ...VERDICT_COSTS, kernelNs: 0, launchNs: 0, accessNs: 0 };

export interface BurstOptions {
  readonly model: BuiltInModel;
  readonly seed: number;
  readonly scheduling: string;
  readonly verdictCosts?: VerdictCosts;
  readonly queries: number;
  /** Largest batch. */
  readonly batchSize: number;
  /** Queries that wait for an answer at any time; the next is sent when one is answered. */
  readonly concurrency: number;
}

export interface BurstResult {
  /** From the first query to the last answer, in simulated time. */
  readonly makespanUs: number;
  readonly verdicts: number;
  /** In order of the queries. */
  readonly outputs: readonly string[];
}

/** Serves queries of one model on one simulated H200 through cache, queue, container and driver, in virtual time. */
export function serveBurst(options: BurstOptions): BurstResult {
  const { queries, batchSize, concurrency, scheduling, verdictCosts } = options;
  const clock = new VirtualClock();
  const served = digitsModel(options.model, options.seed);
  const { record } = served;
  const { container } = record;
  if (container.kind !== 'kernelModel') throw new Error(`${record.name} runs no kernels`);
  const node = new VirtualNode({
    clock,
    scheduling,
    ...(verdictCosts === undefined ? {} : { verdictCosts }),
  });
  const registry = new FixedRegistry(
    {
      name: APPLICATION,
      inputType: 'floats',
      defaultOutput: 'none',
      latencyObjectiveUs: OBJECTIVE_US,
      policy: { name: 'static', parameters: {} },
    },
    [{ ...record, batching: { strategy: 'fixed', maxBatchSize: batchSize } }],
  );
  const engine = new PredictionEngine({
    clock,
    registry,
    store: new MemoryStore(),
    seed: options.seed,
    hangWatchdog: false,
  });
  const { name: model, version, inputType, inputLength } = record;
  engine.addReplica(
    node.start({
      model,
      version,
      replica: '0',
      inputType,
      path: container.path,
      ...(inputLength === undefined ? {} : { inputLength }),
    }),
  );
  // The model is loaded and warm.
  clock.run();
  const startNs = clock.nowNs();
  const before = judged(node);
  const outputs = new Array<string>(queries).fill('');
  let sent = 0;
  let endNs = startNs;
  const send = (): void => {
    if (sent === queries) return;
    const number = sent++;
    engine.predict(
      { id: `${number}`, application: APPLICATION, context: '', input: served.input(number) },
      {
        onAnswer: (_query: unknown, answer: Answer) => {
          if (answer.isDefault) throw new Error(`query ${number} got the default: ${answer.defaultReason}`);
          outputs[number] = answer.output;
          endNs = clock.nowNs();
          send();
        },
        onRefusal: (_query: unknown, { message }: { readonly message: string }) => {
          throw new Error(message);
        },
      },
    );
  };
  for (let client = 0; client < concurrency; client++) send();
  clock.run();
  const verdicts = judged(node) - before;
  engine.close();
  node.close(() => undefined);
  return { makespanUs: (endNs - startNs) / 1000, verdicts, outputs };
}

function judged(node: VirtualNode): number {
  const metrics = node.gpuNode.verdictMetrics();
  if (metrics === undefined) return 0;
  const { idempotent, pending, refused } = metrics;
  return Object.values(refused).reduce((sum, count) => sum + count, idempotent + pending);
}
