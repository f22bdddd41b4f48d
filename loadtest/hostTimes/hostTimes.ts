import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import { readJsonFile } from '../../simulator/files/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { LoadError } from '../trace/index.js';

const time = z.number().min(0).max(1e6);

const hostTimesSchema = z.strictObject({
  format: z.literal(1),
  /** What was measured, for people. */
  host: z.string(),
  /** Of one query: what keeps the frontend's thread busy, and what else it waits for on its way there and back. */
  frontend: z.strictObject({ queryUs: time, elementNs: time, wayUs: time, wayElementNs: time }),
  /** By name of a kernel model: `[items, ms]`, from sending a batch until its results are there. */
  models: z.record(
    z.string(),
    z
      .array(z.tuple([z.int().min(1), time]))
      .min(1)
      .refine(
        (sizes) => sizes.every(([size], at) => at === 0 || size > sizes[at - 1][0]),
        'sizes of batches go up, each one once',
      ),
  ),
});

const FIX = '--host-times measure:FILE writes one';

export type HostTimes = z.infer<typeof hostTimesSchema>;

/** @throws LoadError naming the file and what is wrong with it */
export function readHostTimes(path: string): HostTimes {
  let value: unknown;
  try {
    value = readJsonFile(path);
  } catch (cause) {
    throw new LoadError('--host-times', `${path}: ${reasonOf(cause)}; ${FIX}`, { cause });
  }
  const { data, error } = hostTimesSchema.safeParse(value);
  if (data !== undefined) return data;
  const [{ path: field, message }] = error.issues;
  const where = field.length === 0 ? '' : `${field.join('.')}: `;
  throw new LoadError('--host-times', `${path}: ${where}${message}; ${FIX}`);
}

/** @throws LoadError */
export function writeHostTimes(path: string, times: HostTimes): void {
  try {
    writeFileSync(path, `${JSON.stringify(times, undefined, 2)}\n`);
  } catch (cause) {
    throw new LoadError('--host-times', `${path}: ${reasonOf(cause)}`, { cause });
  }
}

/** What a batch of so many items takes: between sizes that were measured on the line between them, beyond them as much more an item. */
export function batchNs(measured: HostTimes['models'][string], items: number): number {
  const after = measured.findIndex(([size]) => size >= items);
  const high = after < 0 ? measured.length - 1 : Math.max(1, after);
  const [size, ms] = measured[Math.min(high, measured.length - 1)];
  if (measured.length === 1) return (ms * 1e6 * items) / size;
  const [smaller, less] = measured[high - 1];
  return Math.max(0, less + ((ms - less) * (items - smaller)) / (size - smaller)) * 1e6;
}

/** What a query of so many elements spends elsewhere on its way there and back. */
export function wayNs({ frontend }: HostTimes, elements: number): number {
  return frontend.wayUs * 1000 + frontend.wayElementNs * elements;
}

/** What a query of so many elements keeps the frontend busy. */
export function queryNs({ frontend }: HostTimes, elements: number): number {
  return frontend.queryUs * 1000 + frontend.elementNs * elements;
}
