import { commandFile } from '../../services/cli/index.js';
import { digitAt, loadDigits } from '../../containers/models/index.js';
import { chooseGenerator, load } from './loadGenerator.js';
import { soloBench } from './predictBench.js';
import type { Bench, Measured, Row } from './rows.js';
import { startWindjammer } from './serverProcess.js';

const APPLICATION = 'digits';
const CONNECTIONS = 64;
/** Different digits among the inputs; what else tells two inputs apart is a pixel in a corner. */
const DIGITS = 50;
/** Hot code of the five models' kernels is compiled while the first thousands of answers are given. */
const WARM_UP_SECONDS = 5;
const FLOOR_PER_SECOND = 2000;

const generator = chooseGenerator();

/**
 * What a fresh server serves of its own accord: written digits, each answered by one of five kernel models that exp3 chooses,
 * none from the cache. The generator shares the server's cores.
 */
export const DIGITS_ROWS: readonly Row[] = [{ name: 'digits', run }];

async function run({ options }: Bench): Promise<readonly Measured[]> {
  const inputs = someDigits();
  const product = await startWindjammer(commandFile(), APPLICATION);
  try {
    const title = `five kernel models by exp3, miss, ${CONNECTIONS} connections (${generator})`;
    const common = {
      url: product.url,
      connections: CONNECTIONS,
      inputLength: inputs[0]?.length ?? 0,
      inputs,
    };
    const side = await soloBench(
      {
        server: product,
        title: product.name,
        load: (seconds, salt) =>
          load(generator, { ...common, unique: true, countDefaults: true, seconds, salt }),
      },
      { ...options, warmUpSeconds: Math.max(options.warmUpSeconds, WARM_UP_SECONDS) },
    );
    const figure = side.requestsPerSecond * (1 - side.defaultShare);
    const check = { what: `${title}: answers of a model`, figure, bound: 'atLeast', unit: '/s' } as const;
    return [{ title, sides: [side], checks: [{ ...check, floor: FLOOR_PER_SECOND, errors: side.errors }] }];
  } finally {
    await product.stop();
  }
}

/** Spread over the held-out digits, which are in order of their labels. */
function someDigits(): number[][] {
  const { heldOut } = loadDigits();
  const step = Math.floor(heldOut.count / DIGITS);
  return Array.from({ length: DIGITS }, (_, index) => Array.from(digitAt(heldOut, index * step)));
}
