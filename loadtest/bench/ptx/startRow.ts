import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { quantile } from '../../../simulator/statistics/index.js';
import type { StartTimes } from './startTimes.js';

const ROUNDS = 3;

export interface StartRow {
  readonly programs: number;
  readonly firstMedianMs: number;
  readonly firstP95Ms: number;
  readonly firstCpuMedianMs: number;
  readonly steadyMedianMs: number;
  /** The first results of a process that has run nothing before. */
  readonly coldMedianMs: number;
  readonly times: readonly StartTimes[];
}

/** Each program's median over processes, then the median and the 95th percentile over programs. */
export async function startRow(): Promise<StartRow> {
  const warm: StartTimes[] = [];
  for (let round = 0; round < ROUNDS; round++) warm.push(...(await start<StartTimes>('warm')));
  const names = await start<string>('list');
  const times = names.map((name): StartTimes => {
    const own = warm.filter((each) => each.name === name);
    const middle = (key: 'firstMs' | 'firstCpuMs' | 'steadyMs') =>
      quantile(
        own.map((each) => each[key]),
        0.5,
      );
    return {
      name,
      instructions: own[0]?.instructions ?? 0,
      firstMs: middle('firstMs'),
      firstCpuMs: middle('firstCpuMs'),
      steadyMs: middle('steadyMs'),
    };
  });
  const cold: StartTimes[] = [];
  for (const name of names) cold.push(...(await start<StartTimes>('cold', name)));
  const first = times.map(({ firstMs }) => firstMs);
  return {
    programs: names.length,
    firstMedianMs: quantile(first, 0.5),
    firstP95Ms: quantile(first, 0.95),
    firstCpuMedianMs: quantile(
      times.map(({ firstCpuMs }) => firstCpuMs),
      0.5,
    ),
    steadyMedianMs: quantile(
      times.map(({ steadyMs }) => steadyMs),
      0.5,
    ),
    coldMedianMs: quantile(
      cold.map(({ firstMs }) => firstMs),
      0.5,
    ),
    times,
  };
}

async function start<T>(...args: string[]): Promise<T[]> {
  const script = fileURLToPath(new URL('startProcess.js', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...args]);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);
}
