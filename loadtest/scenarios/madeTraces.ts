import { appendFileSync, writeFileSync } from 'node:fs';
import { KeyedDraw } from '../../selection/index.js';
import { openTrace } from '../trace/index.js';
import { FUNCTIONS, functionName } from './scenarios.js';

/** Streams of arrivals that go into one trace. */
interface Stream {
  readonly application: string;
  /** A process, as `--trace` takes it. */
  readonly trace: string;
}

const CALLS_A_SECOND = 300;
const ZIPF = 1.1;

/** Streams of traces that no single process makes. */
export const MADE_TRACES: Readonly<Record<string, () => readonly Stream[]>> = {
  functions: () => {
    const weights = Array.from({ length: FUNCTIONS }, (_, at) => (at + 1) ** -ZIPF);
    const all = weights.reduce((sum, weight) => sum + weight, 0);
    return weights.map((weight, at) => {
      const rate = (CALLS_A_SECOND * weight) / all;
      // Of three functions one is called by a timer, as in the published traces.
      return { application: functionName(at), trace: `${at % 3 === 2 ? 'uniform' : 'poisson'}:${rate}` };
    });
  },
  clients: () => [
    { application: 'periodic', trace: 'uniform:40' },
    { application: 'poisson', trace: 'poisson:40' },
    { application: 'bursty', trace: 'bursty:40,6' },
  ],
};

/** Writes streams as one trace file, sorted by time. */
export function writeTrace(path: string, streams: readonly Stream[], seconds: number, seed: number): void {
  const rows: { readonly atNs: number; readonly application: string }[] = [];
  const draw = new KeyedDraw(seed);
  streams.forEach(({ application, trace: spec }, at) => {
    const streamSeed = Math.floor(draw.of(`stream ${at}`)() * 2 ** 31);
    const trace = openTrace({ spec, seed: streamSeed, scale: 1 });
    for (
      let arrival = trace.next();
      arrival !== undefined && arrival.atNs < seconds * 1e9;
      arrival = trace.next()
    ) {
      rows.push({ atNs: arrival.atNs, application });
    }
    trace.close();
  });
  rows.sort((a, b) => a.atNs - b.atNs);
  writeFileSync(path, 'time_us,application\n');
  appendFileSync(
    path,
    rows.map(({ atNs, application }) => `${(atNs / 1000).toFixed(3)},${application}\n`).join(''),
  );
}
