import { commandFile } from '../../services/cli/index.js';
import { chooseGenerator, load, loadWebSockets, type LoadOptions } from './loadGenerator.js';
import { predictBench, type BenchSide } from './predictBench.js';
import type { Bench, Measured, Row } from './rows.js';
import {
  startBareServer,
  startWindjammer,
  type ProductProcess,
  type ServerProcess,
} from './serverProcess.js';

const INPUT_LENGTH = 8;
const CONNECTIONS = 64;
const WEB_SOCKETS = { connections: 16, inFlight: 8 };
const APPLICATION = 'noop';

const generator = chooseGenerator();

/** Overhead of serving: a constant as the model, against servers with nothing in them. */
export const SERVING_ROWS: readonly Row[] = [
  { name: 'http', run: (bench) => beside(bench, 'bareServer.js', http) },
  { name: 'hit', run: (bench) => beside(bench, 'bareServer.js', hit) },
  { name: 'latency', run: (bench) => beside(bench, 'bareServer.js', latency) },
  { name: 'websocket', run: (bench) => beside(bench, 'echoServer.js', webSocket) },
  { name: 'adaptive', run: adaptive },
];

async function beside(
  bench: Bench,
  bareEntry: string,
  run: (bench: Bench, product: ProductProcess, bare: ServerProcess) => Promise<Measured>,
): Promise<readonly Measured[]> {
  const product = await startWindjammer(commandFile(), APPLICATION);
  try {
    const name = bareEntry === 'echoServer.js' ? 'bare ws echo' : 'bare node:http';
    const bare = await startBareServer(bench.file(bareEntry), name);
    try {
      return [await run(bench, product, bare)];
    } finally {
      await bare.stop();
    }
  } finally {
    await product.stop();
  }
}

async function http({ options }: Bench, product: ProductProcess, bare: ServerProcess): Promise<Measured> {
  const title = `noop, miss, ${CONNECTIONS} connections (${generator})`;
  const wanted = { connections: CONNECTIONS, unique: true };
  const result = await predictBench(overHttp(product, wanted), overHttp(bare, wanted), options);
  return throughput(title, 'of bare node:http', 0.5, result);
}

async function hit({ options }: Bench, product: ProductProcess, bare: ServerProcess): Promise<Measured> {
  const title = `noop, hit, ${CONNECTIONS} connections (${generator})`;
  const wanted = { connections: CONNECTIONS, unique: false };
  const result = await predictBench(overHttp(product, wanted), overHttp(bare, wanted), options);
  return throughput(title, 'of bare node:http', 0.6, result);
}

async function latency({ options }: Bench, product: ProductProcess, bare: ServerProcess): Promise<Measured> {
  const title = `noop, miss, one connection (${generator})`;
  const wanted = { connections: 1, unique: true };
  const result = await predictBench(overHttp(product, wanted), overHttp(bare, wanted), options);
  return medians(title, "over bare node:http's", 2.5, result);
}

async function webSocket(
  { options, file }: Bench,
  product: ProductProcess,
  echo: ServerProcess,
): Promise<Measured> {
  const { connections, inFlight } = WEB_SOCKETS;
  const over = (server: ServerProcess): BenchSide => {
    const common = { entry: file('webSocketLoad.js'), url: server.webSocketUrl, inputLength: INPUT_LENGTH };
    return {
      server,
      title: server.name,
      load: (seconds, salt) => loadWebSockets({ ...common, ...WEB_SOCKETS, seconds, salt }),
    };
  };
  const title = `WebSocket, binary, miss, ${connections} x ${inFlight} in flight`;
  return throughput(title, 'of a bare ws echo', 0.5, await predictBench(over(product), over(echo), options));
}

/** A model that answers at once gains nothing from batches: what adapts their size must not cost a lone client time. */
async function adaptive({ options }: Bench): Promise<readonly Measured[]> {
  const product = await startWindjammer(commandFile(), APPLICATION);
  try {
    await product.admin('add_app', {
      name: 'fixed',
      input_type: 'doubles',
      default_output: '-1',
      latency_slo_micros: 100_000,
    });
    await product.admin('add_model', {
      model_name: 'fixed',
      model_version: '1',
      input_type: 'doubles',
      container_name: 'windjammer/constant',
      output: '0',
      batch_size: 1,
    });
    await product.admin('add_model_links', { app_name: 'fixed', model_names: ['fixed'] });
    const wanted = { connections: 1, unique: true };
    const result = await predictBench(
      { ...overHttp(product, wanted), title: 'aimd' },
      { ...overHttp(product, { ...wanted, url: product.urlOf('fixed') }), title: 'fixed, 1' },
      options,
    );
    return [medians(`instant model, one connection (${generator})`, 'adaptive over fixed', 1.2, result)];
  } finally {
    await product.stop();
  }
}

type Wanted = Pick<LoadOptions, 'connections' | 'unique'> & { readonly url?: string };

function overHttp(server: ServerProcess, wanted: Wanted): BenchSide {
  const common = { url: server.url, inputLength: INPUT_LENGTH, ...wanted };
  return {
    server,
    title: server.name,
    load: (seconds, salt) => load(generator, { ...common, seconds, salt }),
  };
}

type Result = Awaited<ReturnType<typeof predictBench>>;

function throughput(title: string, against: string, floor: number, result: Result): Measured {
  const what = `${title}: share ${against}`;
  return measured(title, result, { what, figure: result.throughputRatio, bound: 'atLeast', floor });
}

function medians(title: string, against: string, floor: number, result: Result): Measured {
  const what = `${title}: p50 ${against}`;
  return measured(title, result, { what, figure: result.p50Ratio, bound: 'atMost', floor });
}

function measured(
  title: string,
  { product, baseline }: Result,
  check: Pick<Measured['checks'][number], 'what' | 'figure' | 'bound' | 'floor'>,
): Measured {
  const errors = product.errors + baseline.errors;
  return { title, sides: [product, baseline], checks: [{ ...check, unit: 'x', errors }] };
}
