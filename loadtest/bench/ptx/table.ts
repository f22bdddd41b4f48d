import type { Check } from '../check.js';
import type { Toolchain } from './compiler.js';
import type { KernelRow } from './kernelRow.js';
import type { Distribution } from './statistics.js';

export function heading({ compiler, flags, cpu, node }: Toolchain): string {
  return `C: ${compiler}, gcc ${flags}; ${cpu}; Node ${node}; one thread each\n`;
}

const COLUMNS = [
  'first ms',
  'steady ms',
  'C ms',
  'C / ours',
  'floor',
  'aim',
  'of least',
  'Minstr/s',
  'outputs',
];
const NAME_WIDTH = 26;

export function kernelHeading(): string {
  return line('', COLUMNS);
}

export function kernelLine(row: KernelRow): string {
  const { differing, beyond, count, holds } = row.outputs;
  const outputs = differing === 0 ? 'equal' : holds ? 'within bound' : `${beyond} of ${count} WRONG`;
  return line(row.name, [
    row.firstMs.toFixed(0),
    spread(row.oursMs),
    spread(row.twinMs),
    row.ratio.toFixed(2),
    row.floor.toFixed(1),
    row.aim.toFixed(1),
    row.leastRatio.toFixed(2),
    (row.threadInstructionsPerSecond / 1e6).toFixed(0),
    outputs,
  ]);
}

export function kernelCheck(row: KernelRow): Check {
  const errors = row.outputs.holds ? 0 : row.outputs.beyond;
  return { what: row.name, figure: row.ratio, bound: 'atLeast', floor: row.floor, unit: 'of C', errors };
}

function spread({ median, spread: share }: Distribution): string {
  return `${median.toFixed(1)} ±${(100 * share).toFixed(0)} %`;
}

function line(name: string, cells: readonly string[]): string {
  return `  ${name.padEnd(NAME_WIDTH)}${cells.map((cell) => cell.padStart(13)).join('')}\n`;
}
