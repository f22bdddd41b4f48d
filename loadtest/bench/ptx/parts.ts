import type { Check } from '../check.js';
import { BENCH_KERNELS, partName } from './benchKernels.js';
import { digitsRow } from './digitsRow.js';
import { kernelRow, type KernelRow } from './kernelRow.js';
import { launchRow } from './launchRow.js';
import { startRow } from './startRow.js';
import { kernelCheck, kernelHeading, kernelLine } from './table.js';

/** What a part of the bench has found: lines to read, figures held to floors, and everything for `--json`. */
export interface PartResult {
  readonly text: string;
  readonly checks: readonly Check[];
  readonly data: unknown;
}

export interface Part {
  readonly name: string;
  run(options: PartOptions): Promise<PartResult> | PartResult;
}

export interface PartOptions {
  readonly root: string;
  readonly repeats: number;
  readonly flags: string;
}

/** Both sides of a kernel may run for so long. */
const MOST_MS = 6000;

const check = (what: string, figure: number, bound: Check['bound'], floor: number, unit: string): Check => ({
  what,
  figure,
  bound,
  floor,
  unit,
  errors: 0,
});

const kernelParts = BENCH_KERNELS.map((kernel, index): Part => ({
  name: partName(kernel),
  run: async (options) => {
    const row = await kernelRow(kernel, { ...options, mostMs: MOST_MS });
    return {
      text: (index === 0 ? kernelHeading() : '') + kernelLine(row),
      checks: [kernelCheck(row), ...rate(kernel.leastInstructionsPerSecond, row)],
      data: row,
    };
  },
}));

function rate(floor: number | undefined, row: KernelRow): Check[] {
  if (floor === undefined) return [];
  const figure = row.threadInstructionsPerSecond / 1e9;
  return [check(`${row.name}, PTX`, figure, 'atLeast', floor / 1e9, 'G thread-instructions/s')];
}

export const PARTS: readonly Part[] = [
  ...kernelParts,
  {
    name: 'start',
    run: async () => {
      const row = await startRow();
      const subject = `${row.programs} programs of >= 350 instructions`;
      return {
        text: `  PTX text to first result, ${subject}: ${row.coldMedianMs.toFixed(0)} ms in a fresh process, ${row.firstCpuMedianMs.toFixed(0)} ms of CPU time in one that serves\n`,
        checks: [
          check('PTX text to first result, median', row.firstMedianMs, 'atMost', 30, 'ms'),
          check('PTX text to first result, p95', row.firstP95Ms, 'atMost', 150, 'ms'),
          check('PTX text to steady speed, median', row.steadyMedianMs, 'atMost', 150, 'ms'),
        ],
        data: row,
      };
    },
  },
  {
    name: 'launch',
    run: ({ root }) => {
      const row = launchRow(root);
      return {
        text: '',
        checks: [
          check('64 threads, cached: executor', row.executorUs.median, 'atMost', 15, 'us'),
          check('64 threads, cached: driver', row.driverUs.median, 'atMost', 15, 'us'),
        ],
        data: row,
      };
    },
  },
  {
    name: 'digits',
    run: () => {
      const row = digitsRow();
      return {
        text: '',
        checks: [check('digits MLP, batch of 32', row.median, 'atMost', 4, 'ms of host time')],
        data: row,
      };
    },
  },
];
