import { KernelTableError } from './kernelTableError.js';

/** What a kernel is bound by, as the table's maker measured it. */
export type KernelClass = 'compute' | 'memory' | 'unknown';

/** One launch of a table. */
export interface KernelRow {
  readonly name: string;
  readonly bound: KernelClass;
  readonly memoryFootprintBytes: number;
  /** SMs that its blocks fill, one after the other when the card has fewer. */
  readonly sms: number;
  /** Alone, from its first block's start to its last one's end. */
  readonly durationNs: number;
}

const COLUMNS = ['Name', 'Profile', 'Memory_footprint', 'SM_usage', 'Duration'] as const;
const BOUNDS: ReadonlyMap<string, KernelClass> = new Map([
  ['1', 'compute'],
  ['0', 'memory'],
  ['-1', 'unknown'],
]);
const LONGEST_NS = 1e12;
const MOST_SMS = 1e6;
/** A row takes some 2 KiB while it is replayed. */
const MOST_ROWS = 500_000;

/**
 * Reads a table of launches in their order: a header, then `name,profile,memory footprint,SMs,duration in ns` a line.
 * Names may hold commas. @param path for errors @throws KernelTableError with file, line and column
 */
export function parseKernelTable(text: string, path: string): KernelRow[] {
  const lines = text.split(/\r?\n/);
  const header = lines[0].split(',').map((name) => name.trim());
  if (header.join() !== COLUMNS.join()) {
    throw new KernelTableError(
      'invalidTable',
      `${path}:1: '${lines[0].slice(0, 100)}' is not the header '${COLUMNS.join()}'`,
    );
  }
  const rows: KernelRow[] = [];
  for (let index = 1; index < lines.length; index++) {
    if (lines[index].trim() === '') continue;
    if (rows.length === MOST_ROWS) {
      throw new KernelTableError(
        'invalidTable',
        `${path}:${index + 1}: more than ${MOST_ROWS} rows; give a part of the table, which is replayed again and again`,
      );
    }
    rows.push(readRow(lines[index], `${path}:${index + 1}`));
  }
  if (rows.length === 0) throw new KernelTableError('invalidTable', `${path}: no kernels below the header`);
  return rows;
}

function readRow(line: string, place: string): KernelRow {
  const fields = line.split(',');
  if (fields.length < COLUMNS.length) {
    throw new KernelTableError(
      'invalidTable',
      `${place}: ${fields.length} columns; each line has ${COLUMNS.length}: ${COLUMNS.join()}`,
    );
  }
  const [profile, footprint, sms, duration] = fields.slice(-4).map((field) => field.trim());
  const name = fields.slice(0, -4).join(',').trim();
  if (name === '') throw wrong(place, 'Name', name, 'a name');
  const bound = BOUNDS.get(profile);
  if (bound === undefined) throw wrong(place, 'Profile', profile, '1 (compute), 0 (memory) or -1 (unknown)');
  return {
    name,
    bound,
    memoryFootprintBytes: number(place, 'Memory_footprint', footprint, 0, Number.MAX_SAFE_INTEGER),
    sms: number(place, 'SM_usage', sms, 1, MOST_SMS),
    durationNs: number(place, 'Duration', duration, 1, LONGEST_NS),
  };
}

function number(place: string, column: string, text: string, least: number, most: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  throw wrong(place, column, text, `a whole number from ${least} to ${most}`);
}

function wrong(place: string, column: string, text: string, expected: string): KernelTableError {
  return new KernelTableError('invalidTable', `${place}: column ${column}: '${text}' is not ${expected}`);
}
