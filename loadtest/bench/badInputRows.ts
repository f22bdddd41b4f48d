import { commandFile } from '../../services/cli/index.js';
import { wholeNumberHistogram } from '../../simulator/statistics/index.js';
import { WebSocketClient } from '../../services/client/index.js';
import { deploySlowModel } from './batchingRows.js';
import type { LoadResult } from './loadGenerator.js';
import { predictBench, type BenchSide } from './predictBench.js';
import type { Bench, Measured, Row } from './rows.js';
import { startWindjammer, type ProductProcess } from './serverProcess.js';

const APPLICATION = 'picky';
/** Of good inputs under way, and of bad ones where they come from somebody else. */
const GOOD_IN_FLIGHT = 64;
const BAD_IN_FLIGHT = 16;
const FLOOR = 0.5;

/** A model that throws for a whole batch where one input in it is bad: what is left of the throughput of good ones. */
export const BAD_INPUT_ROWS: readonly Row[] = [{ name: 'badInputs', run }];

async function run(bench: Bench): Promise<readonly Measured[]> {
  const product = await startWindjammer(commandFile(), APPLICATION);
  try {
    await deploySlowModel(product, APPLICATION, bench.file('pickyModel.js'));
    return [
      await measure(bench, product, 'every fifth input bad, on one connection', [5]),
      await measure(bench, product, 'a fifth of the inputs bad, on a connection of their own', [Infinity, 1]),
    ];
  } finally {
    await product.stop();
  }
}

/** @param badEvery of each connection: one in so many inputs is bad. */
async function measure(
  { options }: Bench,
  server: ProductProcess,
  title: string,
  badEvery: readonly number[],
): Promise<Measured> {
  const side = (name: string, shares: readonly number[]): BenchSide => ({
    server,
    title: name,
    load: (seconds, salt) => goodAnswers(server.webSocketUrl, shares, seconds, salt),
  });
  const { product, baseline, throughputRatio } = await predictBench(
    side('good answers beside bad', badEvery),
    side('good answers alone', [Infinity]),
    options,
  );
  const errors = product.errors + baseline.errors;
  const what = `${title}: good answers a second, of alone`;
  return {
    title,
    sides: [product, baseline],
    checks: [{ what, figure: throughputRatio, floor: FLOOR, bound: 'atLeast', unit: 'x', errors }],
  };
}

/** Good inputs that were answered: of all connections, but for those that send bad ones only. Wrong answers are errors. */
async function goodAnswers(
  url: string,
  badEvery: readonly number[],
  seconds: number,
  salt: number,
): Promise<LoadResult> {
  const latencyUs = wholeNumberHistogram();
  let requests = 0;
  let errors = 0;
  let defaults = 0;
  let next = 1;
  let isOver = false;
  const keepAsking = async (client: WebSocketClient, every: number): Promise<void> => {
    while (!isOver) {
      const at = next++;
      const isBad = at % every === 0;
      const startMs = performance.now();
      // No cache can have it.
      const { isDefault } = await client.predict(APPLICATION, [isBad ? -at : at, salt]);
      if (isBad) {
        if (!isDefault) errors += 1;
      } else if (isDefault) {
        defaults += 1;
      } else if (!isOver) {
        requests += 1;
        latencyUs.recordValue(Math.max(1, Math.round((performance.now() - startMs) * 1000)));
      }
    }
  };
  const clients = await Promise.all(badEvery.map(() => WebSocketClient.connect(url)));
  const startMs = performance.now();
  const asking = clients.flatMap((client, at) =>
    Array.from({ length: badEvery[at] === 1 ? BAD_IN_FLIGHT : GOOD_IN_FLIGHT }, () =>
      keepAsking(client, badEvery[at]),
    ),
  );
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const tookSeconds = (performance.now() - startMs) / 1000;
  isOver = true;
  await Promise.all(asking);
  await Promise.all(clients.map((client) => client.close()));
  return {
    generator: 'webSocketClient',
    requests,
    requestsPerSecond: requests / tookSeconds,
    p50Ms: latencyUs.getValueAtPercentile(50) / 1000,
    p99Ms: latencyUs.getValueAtPercentile(99) / 1000,
    errors,
    defaults,
  };
}
