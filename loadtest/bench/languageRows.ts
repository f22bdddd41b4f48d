import { join } from 'node:path';
import { commandFile } from '../../services/cli/index.js';
import { packageRoot } from '../../simulator/files/index.js';
import { deployModule } from './deployModule.js';
import { chooseGenerator, load } from './loadGenerator.js';
import { predictBench, type BenchSide } from './predictBench.js';
import type { Bench, Measured, Row } from './rows.js';
import { startWindjammer, type ProductProcess } from './serverProcess.js';

const CLIENTS = 64;
const INPUT_LENGTH = 8;
const FEWEST_PER_SECOND = 4000;

const generator = chooseGenerator();

/** A module that answers at once, in Python and in JavaScript, each in a process of its own. */
export const LANGUAGE_ROWS: readonly Row[] = [{ name: 'python', run }];

async function run({ options, file }: Bench): Promise<readonly Measured[]> {
  const product = await startWindjammer(commandFile(), 'javascript');
  try {
    const modules = {
      javascript: { container_name: 'windjammer/process', model_data_path: file('noopModel.js') },
      python: {
        container_name: 'windjammer/python',
        model_data_path: join(packageRoot(), 'loadtest/bench/noopModel.py'),
      },
    };
    for (const [name, module] of Object.entries(modules)) await deployModule(product, name, module);
    const result = await predictBench(side(product, 'python'), side(product, 'javascript'), options);
    const errors = result.product.errors + result.baseline.errors;
    const answered = result.product.requestsPerSecond * (1 - result.product.defaultShare);
    const what = `a module that answers at once, ${CLIENTS} clients: Python`;
    return [
      {
        title: `a module that answers at once, miss, ${CLIENTS} connections (${generator})`,
        sides: [result.product, result.baseline],
        checks: [
          { what, figure: answered, bound: 'atLeast', floor: FEWEST_PER_SECOND, unit: '/s', errors },
          {
            what: `${what}, share of JavaScript`,
            figure: result.throughputRatio,
            bound: 'atLeast',
            floor: 0.7,
            unit: 'x',
            errors,
          },
        ],
      },
    ];
  } finally {
    await product.stop();
  }
}

function side(server: ProductProcess, name: string): BenchSide {
  const common = { url: server.urlOf(name), connections: CLIENTS, inputLength: INPUT_LENGTH };
  return {
    server,
    title: name,
    load: (seconds, salt) => load(generator, { ...common, unique: true, countDefaults: true, seconds, salt }),
  };
}
