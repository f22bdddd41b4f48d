/**
 * `npm run bench [-- http websocket]`: what serving costs, against servers with nothing in them in the same run. Prints
 * tables, or with --json one JSON document a table.
 */
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { chooseGenerator, load, loadWebSockets } from './loadGenerator.js';
import { predictBench, type BenchSide, type PredictBenchResult } from './predictBench.js';
import { startBareServer, startWindjammer, type ServerProcess } from './serverProcess.js';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const options = { legSeconds: Number(process.env['BENCH_SECONDS'] ?? 6), warmUpSeconds: 3 };
const chosen = ['http', 'websocket'].filter((name) => process.argv.includes(name));
const wanted = (name: string) => chosen.length === 0 || chosen.includes(name);
const generator = chooseGenerator();
const inputLength = 8;
const HTTP_CONNECTIONS = 64;
const WEB_SOCKETS = { connections: 16, inFlight: 8 };

const servers: ServerProcess[] = [];
try {
  const product = await startWindjammer(here('../cli/main.js'), 'noop');
  servers.push(product);
  const bare = await startBareServer(here('./bareServer.js'));
  servers.push(bare);
  if (wanted('http')) {
    const title = `HTTP, ${HTTP_CONNECTIONS} connections (${generator})`;
    print(title, await predictBench(overHttp(product, 'windjammer'), overHttp(bare, bare.name), options));
  }
  if (wanted('websocket')) {
    const echo = await startBareServer(here('./echoServer.js'), 'bare ws echo');
    servers.push(echo);
    const { connections, inFlight } = WEB_SOCKETS;
    const title = `WebSocket, binary, ${connections} connections x ${inFlight} in flight`;
    const side = overWebSockets(product, 'windjammer ws');
    print(`${title}, against bare node:http`, await predictBench(side, overHttp(bare, bare.name), options));
    print(
      `${title}, against a bare echo`,
      await predictBench(side, overWebSockets(echo, echo.name), options),
    );
  }
} finally {
  await Promise.all(servers.map((server) => server.stop()));
}

function overHttp(server: ServerProcess, title: string): BenchSide {
  const { url } = server;
  const common = { url, connections: HTTP_CONNECTIONS, inputLength, unique: true };
  return { server, title, load: (seconds, salt) => load(generator, { ...common, seconds, salt }) };
}

function overWebSockets(server: ServerProcess, title: string): BenchSide {
  const common = { entry: here('./webSocketLoad.js'), url: server.webSocketUrl, inputLength, ...WEB_SOCKETS };
  return { server, title, load: (seconds, salt) => loadWebSockets({ ...common, seconds, salt }) };
}

function print(title: string, result: PredictBenchResult): void {
  if (process.argv.includes('--json')) {
    process.stdout.write(
      `${JSON.stringify({ title, node: process.version, cores: cpus().length, ...result })}\n`,
    );
    return;
  }
  const { product: a, baseline: b } = result;
  process.stdout.write(
    `noop, unique inputs (cache miss), ${inputLength} doubles: ${title}\n` +
      `  A-B-B-A of ${options.legSeconds} s, Node ${process.version}, ${cpus().length} cores\n`,
  );
  const row = (cells: readonly string[]) =>
    process.stdout.write(`  ${cells.map((cell) => cell.padStart(16)).join('')}\n`);
  row(['', 'answers/s', 'CPU us/answer', 'p50 ms', 'p99 ms', 'errors']);
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
