import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import { readJsonFile } from '../../simulator/files/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { LoadError } from '../trace/index.js';

/** Of the times that were measured, the shares at or below which those that are written lie. */
export const SHARES = [
  0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 1,
];

const time = z.number().min(0).max(1e6);
const times = z
  .array(time)
  .length(SHARES.length)
  .refine((all) => all.every((one, at) => at === 0 || one >= all[at - 1]), {
    error: `${SHARES.length} times that do not fall`,
  });
/** After so long in which there was nothing to do: caches and threads have gone cold, the more the longer. */
const byPause = z.array(z.strictObject({ pauseMs: time, ms: times })).min(1);

const hostTimesSchema = z.strictObject({
  format: z.literal(2),
  /** What was measured, for people. */
  host: z.string(),
  /** Which times are written. */
  shares: z.array(z.number()).refine((all) => all.join() === SHARES.join(), { error: SHARES.join(', ') }),
  frontend: z.strictObject({
    /** What a query keeps the thread busy that asks and hears the answer, and a byte of its input as JSON; both while they are at it. */
    clientUs: time,
    clientByteNs: time,
    /** The same of the frontend's thread. */
    queryUs: time,
    byteNs: time,
    /** What else it waits for on its way there and back, by what came before it; and a byte. */
    way: byPause,
    wayByteNs: time,
  }),
  /** On the way to a process beside the frontend and back, beside what it does there. */
  process: byPause,
  /** By name of a kernel model, and by size of the batch: from sending it until its results are there. */
  models: z.record(
    z.string(),
    z
      .array(z.strictObject({ items: z.int().min(1), times: byPause }))
      .min(1)
      .refine(
        (sizes) => sizes.every(({ items }, at) => at === 0 || items > sizes[at - 1].items),
        'sizes of batches go up, each one once',
      ),
  ),
});

const FIX = '--host-times measure:FILE writes one';

export type HostTimes = z.infer<typeof hostTimesSchema>;
export type TimesByPause = HostTimes['process'];

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
    writeFileSync(path, `${JSON.stringify(times, undefined, 1)}\n`);
  } catch (cause) {
    throw new LoadError('--host-times', `${path}: ${reasonOf(cause)}`, { cause });
  }
}

/** The times that are written, of all that were measured. @param measured in any order, one at least */
export function timesOf(measured: readonly number[]): number[] {
  const sorted = [...measured].sort((a, b) => a - b);
  return SHARES.map((share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]);
}
