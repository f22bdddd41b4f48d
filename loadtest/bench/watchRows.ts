import { createServer, get, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { commandFile } from '../../services/cli/index.js';
import { chooseGenerator, load } from './loadGenerator.js';
import { predictBench, type BenchSide } from './predictBench.js';
import type { Bench, Measured, Row } from './rows.js';
import { startWindjammer, type ServerProcess } from './serverProcess.js';

const INPUT_LENGTH = 8;
const CONNECTIONS = 64;
const TRACED_SHARE = '0.01';
const SCRAPE_MS = 1000;

/** What watching costs: metrics scraped each second, 1 % of the requests traced and the dashboard open, against a server that nobody watches. */
export const WATCH_ROWS: readonly Row[] = [{ name: 'watching', run: watching }];

async function watching({ options }: Bench): Promise<readonly Measured[]> {
  const generator = chooseGenerator();
  const collector = await startCollector();
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const sampling = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: TRACED_SHARE };
  try {
    const watched = await startWindjammer(
      commandFile(),
      'noop',
      ['--otlp-endpoint', endpoint],
      undefined,
      sampling,
    );
    try {
      const alone = await startWindjammer(commandFile(), 'noop');
      try {
        const side = (server: ServerProcess, title: string): BenchSide => ({
          server,
          title,
          load: (seconds, salt) =>
            load(generator, {
              url: server.url,
              inputLength: INPUT_LENGTH,
              connections: CONNECTIONS,
              unique: true,
              seconds,
              salt,
            }),
        });
        const plain = side(watched, 'watched');
        const seen: BenchSide = {
          ...plain,
          load: (seconds, salt) => underWatch(watched, () => plain.load(seconds, salt)),
        };
        const { product, baseline, throughputRatio } = await predictBench(
          seen,
          side(alone, 'not watched'),
          options,
        );
        const title = `noop, scraped each second, 1 % traced, dashboard open (${generator})`;
        const errors = product.errors + baseline.errors;
        const check = {
          what: `${title}: throughput of one that is not`,
          figure: throughputRatio,
          floor: 0.95,
        };
        return [
          { title, sides: [product, baseline], checks: [{ ...check, bound: 'atLeast', unit: 'x', errors }] },
        ];
      } finally {
        await alone.stop();
      }
    } finally {
      await watched.stop();
    }
  } finally {
    collector.close();
    collector.closeAllConnections();
  }
}

/** Scrapes as Prometheus does, and keeps the dashboard's feed open, as long as the work takes. */
async function underWatch<T>(server: ServerProcess, work: () => Promise<T>): Promise<T> {
  const { origin } = new URL(server.url);
  let failure: Error | undefined;
  const read = (path: string) =>
    get(`${origin}${path}`, (answer) => answer.resume()).on('error', (error) => (failure ??= error));
  const feed = read('/dashboard/feed');
  const timer = setInterval(() => read('/metrics'), SCRAPE_MS);
  try {
    const result = await work();
    // A watch that broke has cost nothing.
    if (failure !== undefined) throw failure;
    return result;
  } finally {
    clearInterval(timer);
    feed.destroy();
  }
}

/** Takes spans and forgets them. */
function startCollector(): Promise<Server> {
  const server = createServer((request, response) => {
    // A message without any field is no bytes.
    request.resume().once('end', () => response.setHeader('content-type', 'application/x-protobuf').end());
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}
