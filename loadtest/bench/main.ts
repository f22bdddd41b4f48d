/**
 * `npm run bench`: what serving costs, against a bare node:http server in the same run.
 * Prints a table, or with --json one JSON document.
 */
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { chooseGenerator } from './loadGenerator.js';
import { predictBench, type PredictBenchResult } from './predictBench.js';
import { startBareServer, startWindjammer } from './serverProcess.js';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const seconds = Number(process.env['BENCH_SECONDS'] ?? 6);
const generator = chooseGenerator();
const baseline = await startBareServer(here('./bareServer.js'));
const product = await startWindjammer(here('../../services/cli/main.js'), 'noop');
try {
  const common = { generator, legSeconds: seconds, warmUpSeconds: 3, inputLength: 8, connections: 64 };
  const miss = await predictBench(product, baseline, { ...common, unique: true });
  print('noop, unique inputs (cache miss)', miss);
} finally {
  await Promise.all([product.stop(), baseline.stop()]);
}

function print(title: string, result: PredictBenchResult): void {
  if (process.argv.includes('--json')) {
    process.stdout.write(
      `${JSON.stringify({ title, node: process.version, cores: cpus().length, ...result })}\n`,
    );
    return;
  }
  const { options, product: a, baseline: b } = result;
  process.stdout.write(
    `${title}: ${options.connections} connections, ${options.inputLength} doubles, ${options.generator}, ` +
      `A-B-B-A of ${options.legSeconds} s, Node ${process.version}, ${cpus().length} cores\n`,
  );
  const row = (cells: readonly string[]) =>
    process.stdout.write(`  ${cells.map((cell) => cell.padStart(16)).join('')}\n`);
  row(['', 'requests/s', 'CPU us/request', 'p50 ms', 'p99 ms', 'errors']);
  for (const side of [a, b]) {
    row([
      side.name,
      side.requestsPerSecond.toFixed(0),
      side.cpuUsPerRequest.toFixed(1),
      side.p50Ms.toFixed(2),
      side.p99Ms.toFixed(2),
      String(side.errors),
    ]);
  }
  row(['ratio', result.throughputRatio.toFixed(2), result.cpuRatio.toFixed(2), '', '', '']);
}
