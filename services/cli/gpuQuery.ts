import type { GpuAnswer } from '../management/index.js';
import { CommandError } from './commandError.js';

const MIB = 1024 * 1024;

interface Field {
  /** Stands behind the name in the header and behind each value, as nvidia-smi has it. */
  readonly unit?: string;
  readonly read: (gpu: GpuAnswer) => string | number | undefined;
}

/** Names, units and meanings of nvidia-smi's `--query-gpu` where it has them. */
const FIELDS: Readonly<Record<string, Field>> = {
  timestamp: { read: () => timestamp(new Date()) },
  index: { read: ({ index }) => index },
  gpu: { read: ({ gpu }) => gpu },
  name: { read: ({ name }) => name },
  uuid: { read: ({ uuid }) => uuid },
  'utilization.gpu': { unit: '%', read: ({ utilization }) => whole(100 * utilization.gpu) },
  'utilization.memory': { unit: '%', read: ({ utilization }) => whole(100 * utilization.memory) },
  'memory.total': { unit: 'MiB', read: ({ memory }) => whole(memory.total_bytes / MIB) },
  'memory.used': { unit: 'MiB', read: ({ memory }) => usedMib(memory.used_bytes) },
  'memory.free': {
    unit: 'MiB',
    read: ({ memory }) => whole(memory.total_bytes / MIB) - usedMib(memory.used_bytes),
  },
  'memory.reserved': { unit: 'MiB', read: ({ memory }) => usedMib(memory.reserved_bytes) },
  'power.draw': { unit: 'W', read: ({ power }) => power.draw_watts.toFixed(2) },
  'power.limit': { unit: 'W', read: ({ power }) => power.limit_watts.toFixed(2) },
  'clocks.sm': { unit: 'MHz', read: (gpu) => whole(gpu.sm_clock_hz / 1e6) },
  'clocks.mem': { unit: 'MHz', read: (gpu) => whole(gpu.memory_clock_hz / 1e6) },
  node: { read: ({ node }) => node },
  profile: { read: ({ profile }) => profile },
  measured: { read: (gpu) => (gpu.is_measured ? 'Yes' : 'No') },
  dilation: { read: ({ dilation }) => (dilation === null ? undefined : dilation.toPrecision(3)) },
  'host.busy': {
    unit: '%',
    read: ({ host_busy: share }) => (share === null ? undefined : tenths(100 * share)),
  },
  'sm.active': { unit: '%', read: ({ utilization }) => tenths(100 * utilization.sm_active) },
  'sm.occupancy': { unit: '%', read: ({ utilization }) => tenths(100 * utilization.sm_occupancy) },
  'pipe.fp32': { unit: '%', read: ({ utilization }) => tenths(100 * utilization.fp32_pipe) },
  'pipe.fp64': { unit: '%', read: ({ utilization }) => tenths(100 * utilization.fp64_pipe) },
  'memory.bandwidth': { unit: 'MB/s', read: ({ memory }) => whole(memory.bytes_per_second / 1e6) },
  'pcie.rx': { unit: 'MB/s', read: ({ pcie }) => whole(pcie.to_device_bytes_per_second / 1e6) },
  'pcie.tx': { unit: 'MB/s', read: ({ pcie }) => whole(pcie.to_host_bytes_per_second / 1e6) },
  'energy.total': { unit: 'J', read: ({ power }) => power.energy_joules.toFixed(3) },
  'throttle.reason': { read: ({ power }) => power.throttle },
  launches: { read: ({ launches }) => launches },
  contexts: { read: ({ contexts }) => contexts.length },
};

export const QUERY_FIELDS: readonly string[] = Object.keys(FIELDS);

const FORMATS = ['csv', 'noheader', 'nounits'] as const;

/** Lines of values, in the manner of `nvidia-smi --query-gpu=… --format=csv`. */
export class GpuQuery {
  private readonly names: readonly string[];
  private readonly hasHeader: boolean;
  private readonly hasUnits: boolean;

  /** @throws CommandError on a field or a format that there is not */
  constructor(query: string, format = 'csv') {
    this.names = query.split(',').map((name) => name.trim());
    for (const name of this.names) {
      if (Object.hasOwn(FIELDS, name)) continue;
      const what = name === '' ? 'a field is empty' : `'${name}' is no field`;
      throw new CommandError(`--query: ${what}; there are: ${QUERY_FIELDS.join(', ')}`);
    }
    const formats = format.split(',').map((part) => part.trim());
    const isKnown = (part: string): boolean => FORMATS.some((known) => known === part);
    if (!formats.includes('csv') || !formats.every(isKnown)) {
      throw new CommandError(
        `--format: '${format}'; it is csv, with noheader and nounits behind it if wanted`,
      );
    }
    this.hasHeader = !formats.includes('noheader');
    this.hasUnits = !formats.includes('nounits');
  }

  /** Undefined when none is wanted. */
  header(): string | undefined {
    if (!this.hasHeader) return undefined;
    const titles = this.names.map((name) => {
      const { unit } = FIELDS[name];
      return unit === undefined ? name : `${name} [${unit}]`;
    });
    return titles.join(', ');
  }

  line(gpu: GpuAnswer): string {
    const values = this.names.map((name) => {
      const { unit, read } = FIELDS[name];
      const value = read(gpu);
      if (value === undefined) return '[N/A]';
      return unit === undefined || !this.hasUnits ? String(value) : `${value} ${unit}`;
    });
    return values.join(', ');
  }
}

function whole(value: number): number {
  return Math.round(value);
}

/** What is used shows, however little it is. */
function usedMib(bytes: number): number {
  return Math.ceil(bytes / MIB);
}

function tenths(value: number): string {
  return value.toFixed(1);
}

/** As nvidia-smi writes it. */
function timestamp(at: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${at.getFullYear()}/${two(at.getMonth() + 1)}/${two(at.getDate())}`;
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  return `${day} ${time}.${String(at.getMilliseconds()).padStart(3, '0')}`;
}
