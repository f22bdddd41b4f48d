import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KeyedDraw } from '../../../selection/index.js';

export const TRACE_KINDS = ['poisson', 'bursty', 'azure'] as const;
export type TraceKind = (typeof TRACE_KINDS)[number];

/** A trace, as `--trace` and `--scale` take it. */
export interface AgreementTrace {
  readonly spec: string;
  readonly scale: number;
}

const FUNCTIONS = 40;
const ZIPF = 1.1;
const MINUTE_SECONDS = 60;
const BURST_VARIATION = 4;

/** A trace of so many queries a second on average. */
export function traceOf(
  kind: TraceKind,
  rate: number,
  seconds: number,
  seed: number,
  folder: string,
): AgreementTrace {
  switch (kind) {
    case 'poisson':
      return { spec: `poisson:${rate}`, scale: 1 };
    case 'bursty':
      return { spec: `bursty:${rate},${BURST_VARIATION}`, scale: 1 };
    case 'azure': {
      const spec = join(folder, `azure-${rate}.csv`);
      writeFileSync(spec, functionsTable(rate, seconds, seed));
      return { spec, scale: MINUTE_SECONDS };
    }
  }
}

/** Calls in the form of Azure Functions 2019, a second of the run for each of its minutes: functions by Zipf's law, a rate that drifts. */
function functionsTable(rate: number, seconds: number, seed: number): string {
  const weights = Array.from({ length: FUNCTIONS }, (_, at) => (at + 1) ** -ZIPF);
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  const draw = new KeyedDraw(seed);
  const minutes = Array.from({ length: seconds }, (_, at) => at + 1);
  const rows = weights.map((weight, at) => {
    const counts = minutes.map((minute) => {
      const drift = 1 + 0.5 * Math.sin((2 * Math.PI * minute) / seconds);
      return poissonCount((rate * drift * weight) / all, draw.of(`function ${at}, minute ${minute}`));
    });
    return [
      `owner${at % 7}`,
      `app${at % 20}`,
      `function${at}`,
      at % 3 === 2 ? 'timer' : 'http',
      ...counts,
    ].join(',');
  });
  return `${[['HashOwner', 'HashApp', 'HashFunction', 'Trigger', ...minutes].join(','), ...rows].join('\n')}\n`;
}

/** Knuth's way: as many uniform draws as it takes for their product to fall below e^-mean. */
function poissonCount(mean: number, draw: () => number): number {
  let count = 0;
  for (let left = mean; ; count++) {
    left += Math.log(1 - draw());
    if (left < 0) return count;
  }
}
