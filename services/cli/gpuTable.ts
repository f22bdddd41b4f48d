import type { GpuAnswer, GpuContextAnswer } from '../management/index.js';

const MIB = 1024 * 1024;
/** Of the three columns of GPUs. */
const WIDTHS = [43, 28, 25] as const;
const INNER = WIDTHS[0] + WIDTHS[1] + WIDTHS[2] + 2;
/** Above it, times of a run say nothing about the card. */
const DILATION_LIMIT = 1.2;

/** GPUs and who uses them, in the manner of nvidia-smi. */
export function gpuTable(gpus: readonly GpuAnswer[], version: string, at: Date): string {
  const lines = [
    at.toString().replace(/ GMT.*$/, ''),
    rule('-'),
    full(` Windjammer ${version}`, 'simulated GPUs, shares and rates of simulated time '),
    columnRule('-'),
    columns([' GPU  Name', 'Node:Host-Busy '], ['', 'Memory-Usage '], [' GPU-Util', 'SM-Active ']),
    columns([' Clocks:SM/Mem', 'Pwr:Usage/Cap '], [' DRAM', 'PCIe:In/Out '], [' Occupancy', 'FP32/FP64 ']),
    columnRule('='),
    ...(gpus.length === 0
      ? [full('  No GPU is in use', ''), rule('-')]
      : gpus.flatMap((gpu) => [...gpuLines(gpu), columnRule('-')])),
    '',
    rule('-'),
    full(' Processes:', ''),
    full(processLine(PROCESS_HEADS), ''),
    rule('='),
    ...processLines(gpus),
    rule('-'),
    ...notes(gpus),
  ];
  return lines.join('\n');
}

function gpuLines(gpu: GpuAnswer): string[] {
  const { utilization, memory, pcie, power } = gpu;
  const clocks = `${megahertz(gpu.sm_clock_hz)}/${megahertz(gpu.memory_clock_hz)}`;
  const watts = `${Math.round(power.draw_watts)}W / ${Math.round(power.limit_watts)}W`;
  const busy = gpu.host_busy === null ? '-' : percent(gpu.host_busy);
  const used = `${mebibytes(memory.used_bytes)} / ${mebibytes(memory.total_bytes)}`;
  const bus = `${rate(pcie.to_device_bytes_per_second)}/${rate(pcie.to_host_bytes_per_second)}`;
  return [
    columns(
      [` ${String(gpu.index).padStart(3)}  ${short(gpu.name, 22)}`, `${short(gpu.node, 8)}: ${busy} `],
      ['', `${used} `],
      [` ${percent(utilization.gpu).padStart(8)}`, `${percent(utilization.sm_active)} `],
    ),
    columns(
      [` ${clocks}`, `${watts} `],
      [` ${rate(memory.bytes_per_second)}`, `${bus} `],
      [
        ` ${percent(utilization.sm_occupancy).padStart(9)}`,
        `${percent(utilization.fp32_pipe)}/${percent(utilization.fp64_pipe)} `,
      ],
    ),
  ];
}

const PROCESS_HEADS = [
  'GPU',
  'Context',
  'Model',
  'Version',
  'Replica',
  'SM',
  'GPU Memory',
  'Queued',
  'In flight',
] as const;
const PROCESS_WIDTHS: readonly number[] = [3, 7, 29, 9, 7, 6, 11, 7, 9];
/** Model and version, which are no numbers. */
const TEXT_COLUMNS: ReadonlySet<number> = new Set([2, 3]);

function processLine(cells: readonly string[]): string {
  const padded = cells.map((cell, column) => {
    const width = PROCESS_WIDTHS[column];
    const text = short(cell, width);
    return TEXT_COLUMNS.has(column) ? text.padEnd(width) : text.padStart(width);
  });
  return ` ${padded.join(' ')}`;
}

function processLines(gpus: readonly GpuAnswer[]): string[] {
  const lines = gpus.flatMap(({ index, contexts }) =>
    contexts.map((context) => full(processLine(processCells(index, context)), '')),
  );
  return lines.length > 0 ? lines : [full('  No replica runs on a GPU', '')];
}

function processCells(index: number, context: GpuContextAnswer): string[] {
  const { model_name: model, model_version: version, replica_id: replica } = context;
  return [
    String(index),
    String(context.context),
    model ?? '-',
    version ?? '-',
    replica ?? '-',
    percent(context.sm_share),
    mebibytes(context.used_bytes),
    count(context.queued_inputs),
    count(context.in_flight_inputs),
  ];
}

/** What a reader has to know not to take the numbers for something else. */
function notes(gpus: readonly GpuAnswer[]): string[] {
  const slow = new Map(gpus.map(({ node, dilation }) => [node, dilation]));
  const lines = [...slow].flatMap(([node, dilation]) =>
    dilation === null || dilation <= DILATION_LIMIT
      ? []
      : [
          `${node}: dilation ${dilation.toPrecision(3)}: the host takes so many times as long for a batch as the simulated card, which is idle`,
          '  meanwhile: its shares and rates do not say how busy a real one would be.',
        ],
  );
  for (const { index, profile, is_measured: isMeasured } of gpus) {
    if (!isMeasured)
      lines.push(`GPU ${index}: ${profile} is a card by public documents, nothing was measured on one.`);
  }
  return lines.length === 0 ? [] : ['', ...lines];
}

function rule(stroke: string): string {
  return `+${stroke.repeat(INNER)}+`;
}

function columnRule(stroke: string): string {
  return `+${WIDTHS.map((width) => stroke.repeat(width)).join('+')}+`;
}

type Cell = readonly [left: string, right: string];

function columns(...cells: readonly [Cell, Cell, Cell]): string {
  return `|${cells.map(([left, right], column) => spread(left, right, WIDTHS[column])).join('|')}|`;
}

function full(left: string, right: string): string {
  return `|${spread(left, right, INNER)}|`;
}

function spread(left: string, right: string, width: number): string {
  return left + ' '.repeat(Math.max(1, width - left.length - right.length)) + right;
}

function short(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 3)}...`;
}

/** Below a tenth of a percent it says so: something is there. */
function percent(share: number): string {
  const value = 100 * share;
  if (value > 0 && value < 0.1) return '<0.1%';
  return value < 10 ? `${value.toFixed(1)}%` : `${Math.round(value)}%`;
}

function megahertz(hertz: number): string {
  return `${Math.round(hertz / 1e6)}MHz`;
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / MIB)}MiB`;
}

function count(inputs: number | undefined): string {
  return inputs === undefined ? '-' : String(inputs);
}

function rate(bytesPerSecond: number): string {
  const units = ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s'];
  let value = bytesPerSecond;
  let unit = 0;
  for (; value >= 999.5 && unit < units.length - 1; unit++) value /= 1000;
  return `${value >= 99.5 || unit === 0 ? Math.round(value) : value.toPrecision(2)}${units[unit]}`;
}
