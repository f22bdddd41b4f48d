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
  /** Share of its launches that are idempotent, 0 to 1; undefined: nobody told, which counts as none. */
  readonly idempotent?: number;
  /** All launches of the kernel are, whatever their arguments. */
  readonly isIdempotentKernel?: boolean;
  /** What its blocks hold on one SM, which a preemption copies out; undefined: all that an SM has for one block of them. */
  readonly contextBytes?: number;
}

const COLUMNS = ['Name', 'Profile', 'Memory_footprint', 'SM_usage', 'Duration'] as const;
/** May follow, in any order. */
const MORE_COLUMNS = ['Idempotent', 'Context_bytes'] as const;
const BOUNDS: ReadonlyMap<string, KernelClass> = new Map([
  ['1', 'compute'],
  ['0', 'memory'],
  ['-1', 'unknown'],
]);
const LONGEST_NS = 1e12;
const MOST_SMS = 1e6;
/** Registers and shared memory of any card's SM are less. */
const MOST_CONTEXT_BYTES = 1e9;
/** A row takes some 2 KiB while it is replayed. */
const MOST_ROWS = 500_000;

/**
 * Reads a table of launches in their order: a header, then `name,profile,memory footprint,SMs,duration in ns` a line.
 * Names may hold commas. Columns `Idempotent` (a share from 0 to 1, or `kernel`) and `Context_bytes` may follow, and be empty.
 * @param path for errors @throws KernelTableError with file, line and column
 */
export function parseKernelTable(text: string, path: string): KernelRow[] {
  const lines = text.split(/\r?\n/);
  const more = readHeader(lines[0], path);
  const rows: KernelRow[] = [];
  for (let index = 1; index < lines.length; index++) {
    if (lines[index].trim() === '') continue;
    if (rows.length === MOST_ROWS) {
      throw new KernelTableError(
        'invalidTable',
        `${path}:${index + 1}: more than ${MOST_ROWS} rows; give a part of the table, which is replayed again and again`,
      );
    }
    rows.push(readRow(lines[index], more, `${path}:${index + 1}`));
  }
  if (rows.length === 0) throw new KernelTableError('invalidTable', `${path}: no kernels below the header`);
  return rows;
}

type MoreColumn = (typeof MORE_COLUMNS)[number];

/** @returns the columns that follow the ones that each table has */
function readHeader(line: string, path: string): readonly MoreColumn[] {
  const names = line.split(',').map((name) => name.trim());
  const more: MoreColumn[] = [];
  for (const name of names.slice(COLUMNS.length)) {
    const known = MORE_COLUMNS.find((column) => column === name);
    if (known === undefined || more.includes(known)) break;
    more.push(known);
  }
  if (names.join() === [...COLUMNS, ...more].join()) return more;
  throw new KernelTableError(
    'invalidTable',
    `${path}:1: '${line.slice(0, 120)}' is not the header '${COLUMNS.join()}', ` +
      `behind which ${MORE_COLUMNS.map((column) => `'${column}'`).join(' and ')} may stand`,
  );
}

function readRow(line: string, more: readonly MoreColumn[], place: string): KernelRow {
  const fields = line.split(',');
  const columns = [...COLUMNS, ...more];
  if (fields.length < columns.length) {
    throw new KernelTableError(
      'invalidTable',
      `${place}: ${fields.length} columns; each line has ${columns.length}: ${columns.join()}`,
    );
  }
  const told = fields.splice(fields.length - more.length).map((field) => field.trim());
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
    ...more.reduce<Partial<KernelRow>>(
      (row, column, index) => ({ ...row, ...readMore(place, column, told[index]) }),
      {},
    ),
  };
}

/** An empty field tells nothing. */
function readMore(place: string, column: MoreColumn, text: string): Partial<KernelRow> {
  if (text === '') return {};
  if (column === 'Context_bytes') {
    return { contextBytes: number(place, column, text, 0, MOST_CONTEXT_BYTES) };
  }
  if (text === 'kernel') return { idempotent: 1, isIdempotentKernel: true };
  const share = /^\d*\.?\d+$/.test(text) ? Number(text) : NaN;
  if (share >= 0 && share <= 1) return { idempotent: share };
  throw wrong(
    place,
    column,
    text,
    "the share of its launches that are, from 0 to 1, or 'kernel' where all are whatever their arguments",
  );
}

function number(place: string, column: string, text: string, least: number, most: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  throw wrong(place, column, text, `a whole number from ${least} to ${most}`);
}

function wrong(place: string, column: string, text: string, expected: string): KernelTableError {
  return new KernelTableError('invalidTable', `${place}: column ${column}: '${text}' is not ${expected}`);
}
