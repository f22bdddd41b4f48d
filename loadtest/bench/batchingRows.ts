import { commandFile } from '../../services/cli/index.js';
import { deployModule } from './deployModule.js';
import { chooseGenerator, load } from './loadGenerator.js';
import { soloBench } from './predictBench.js';
import type { Bench, Measured, Row } from './rows.js';
import { startWindjammer, type ProductProcess } from './serverProcess.js';
import { FIXED_MS, ITEM_MS } from './slowModel.js';

const APPLICATION = 'slow';
const OBJECTIVE_MS = 100;
/** The controller grows its batches by a few items each; nothing is measured until they are large. */
const ADAPTATION_SECONDS = 5;
/** What a client of the server sees beside the objective. */
const LONGEST_P99_MS = 110;

const generator = chooseGenerator();

/** A model whose batches take 5 ms + 0.25 ms an item, under more clients than it can serve one by one. */
export const BATCHING_ROWS: readonly Row[] = [{ name: 'batching', run }];

/** Answers a second with the clients in two batches: one is served while the other waits in the container. */
export function feasiblePerSecond(clients: number): number {
  const size = clients / 2;
  return (1000 * size) / (FIXED_MS + size * ITEM_MS);
}

async function run(bench: Bench): Promise<readonly Measured[]> {
  const product = await startWindjammer(commandFile(), APPLICATION);
  try {
    await deploySlowModel(product, APPLICATION, bench.file('slowModel.js'));
    return [await measure(bench, product, 256, 3000), await measure(bench, product, 64, undefined)];
  } finally {
    await product.stop();
  }
}

/** A module whose batches take as long as the slow model's, and an application of its name; once it answers. */
export function deploySlowModel(
  product: ProductProcess,
  name: string,
  path: string,
  replicas = 1,
): Promise<void> {
  return deployModule(
    product,
    name,
    { container_name: 'windjammer/process', model_data_path: path, num_replicas: replicas },
    OBJECTIVE_MS,
  );
}

/** @param floor answers in time a second; undefined: nine tenths of what is feasible. */
async function measure(
  { options }: Bench,
  product: ProductProcess,
  clients: number,
  floor: number | undefined,
): Promise<Measured> {
  const { url } = product;
  const common = { url, connections: clients, inputLength: 8, unique: true, countDefaults: true };
  const title = `${FIXED_MS} ms + ${ITEM_MS} ms an item, objective ${OBJECTIVE_MS} ms, ${clients} clients (${generator})`;
  const feasible = feasiblePerSecond(clients);
  const side = await soloBench(
    {
      server: product,
      title: `windjammer, ${feasible.toFixed(0)}/s feasible`,
      load: (seconds, salt) => load(generator, { ...common, seconds, salt }),
    },
    { ...options, warmUpSeconds: Math.max(options.warmUpSeconds, ADAPTATION_SECONDS) },
  );
  const inTime = side.requestsPerSecond * (1 - side.defaultShare);
  const { errors } = side;
  const goodput = { bound: 'atLeast', errors } as const;
  return {
    title,
    sides: [side],
    checks: [
      floor === undefined
        ? {
            what: `${clients} clients: answers in time, of feasible`,
            figure: inTime / feasible,
            floor: 0.9,
            unit: 'x',
            ...goodput,
          }
        : { what: `${clients} clients: answers in time`, figure: inTime, floor, unit: '/s', ...goodput },
      {
        what: `${clients} clients: p99 of every answer`,
        figure: side.p99Ms,
        bound: 'atMost',
        floor: LONGEST_P99_MS,
        unit: 'ms',
        errors,
      },
    ],
  };
}
