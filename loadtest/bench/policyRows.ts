import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { packageRoot } from '../../simulator/files/index.js';
import { commandFile } from '../../services/cli/index.js';
import { WindjammerClient } from '../../services/client/index.js';
import { chooseGenerator, load } from './loadGenerator.js';
import { predictBench, type BenchSide } from './predictBench.js';
import type { Bench, Measured, Row } from './rows.js';
import { startWindjammer, type ProductProcess } from './serverProcess.js';

const CLIENTS = 64;
const MODELS = ['a', 'b', 'c', 'd'];
const INPUT_LENGTH = 8;
const FILE = join(packageRoot(), 'docs/examples/policies/softmax.mjs');

const generator = chooseGenerator();

/** A policy from a file, in a process of its own, beside one of the server's that draws as much. */
export const POLICY_ROWS: readonly Row[] = [{ name: 'policyFile', run }];

async function run({ options }: Bench): Promise<readonly Measured[]> {
  const product = await startWindjammer(commandFile(), 'file', ['--no-defaults']);
  try {
    const { management } = new WindjammerClient({ managementUrl: product.managementUrl });
    for (const model of MODELS)
      await management.addModel({
        model_name: model,
        model_version: '1',
        input_type: 'doubles',
        container_name: 'windjammer/constant',
        output: model,
      });
    const application = {
      input_type: 'doubles',
      default_output: '-',
      latency_slo_micros: 1_000_000,
    } as const;
    await management.addApplication({ ...application, name: 'exp3', policy: { name: 'exp3' } });
    await management.addApplication({
      ...application,
      name: 'file',
      policy: { name: 'file' },
      policy_file: { name: basename(FILE), content: readFileSync(FILE, 'utf8') },
    });
    for (const name of ['exp3', 'file']) await management.addLinks(name, MODELS);
    const measured = [];
    for (const connections of [CLIENTS, 1]) {
      const side = (name: string) => sideOf(product, name, connections);
      const {
        product: own,
        baseline,
        throughputRatio,
      } = await predictBench(side('file'), side('exp3'), options);
      const errors = own.errors + baseline.errors;
      const fallbacks = await fallbacksOf(product);
      const clients = connections === 1 ? 'one connection' : `${connections} connections`;
      const title = `a policy from a file, four constants, miss, ${clients} (${generator}; ${fallbacks} queries so far without it)`;
      const what = `a policy from a file, ${clients}`;
      measured.push({
        title,
        sides: [own, baseline],
        checks: [
          {
            what: `${what}, throughput of exp3's`,
            figure: throughputRatio,
            bound: 'atLeast',
            floor: connections === 1 ? 0.2 : 0.4,
            unit: 'x',
            errors,
          } as const,
        ],
      });
    }
    return measured;
  } finally {
    await product.stop();
  }
}

function sideOf(server: ProductProcess, name: string, connections: number): BenchSide {
  const common = { url: server.urlOf(name), connections, inputLength: INPUT_LENGTH };
  return {
    server,
    title: name,
    load: (seconds, salt) => load(generator, { ...common, unique: true, countDefaults: true, seconds, salt }),
  };
}

async function fallbacksOf(product: ProductProcess): Promise<number> {
  const text = await (await fetch(product.urlOf('file').replace('/file/predict', '/metrics'))).text();
  return Number(/^windjammer_policy_fallbacks_total\{application="file"\} (\d+)/m.exec(text)?.[1] ?? 0);
}
