import { profileNamed } from '../../../simulator/gpu/index.js';
import {
  TABLE_STATISTICS,
  parseKernelTable,
  replayTables,
  tableLike,
  type KernelRow,
} from '../../../simulator/kernelTable/index.js';
import { readFileSync } from 'node:fs';

export interface SharingRow {
  readonly tables: string;
  readonly device: string;
  readonly launches: number;
  /** Launches a second of CPU time, all of the process counted. */
  readonly launchesPerCpuSecond: number;
  readonly smUtilisation: number;
  /** Of the heap after a collection: at the end of a run over that at the end of one a quarter as long. */
  readonly heapGrowthBytes: number;
}

const SEED = 1;

/**
 * Four clients on one card, two a table, each a closed loop. @param paths of a ResNet-50's and a BERT's table; without them
 * tables with the published statistics of Orion's
 */
export function sharingRow(launches: number, device: string, paths?: readonly [string, string]): SharingRow {
  const tables: (readonly KernelRow[])[] =
    paths === undefined
      ? [tableLike(TABLE_STATISTICS.resnet50, SEED), tableLike(TABLE_STATISTICS.bert, SEED)]
      : paths.map((path) => parseKernelTable(readFileSync(path, 'utf8'), path));
  const names = paths ?? ['resnet50-like', 'bert-like'];
  const run = (count: number) =>
    replayTables({
      tables: [0, 1, 0, 1].map((table) => ({ path: names[table], rows: tables[table] })),
      card: profileNamed(device),
      measuredOn: profileNamed('v100'),
      launches: count,
      stopwatch: cpuSeconds,
    });
  run(Math.ceil(launches / 4));
  const before = heapBytes();
  const report = run(launches);
  return {
    tables: names.join(' + '),
    device,
    launches: report.launches,
    launchesPerCpuSecond: report.launchesPerHostSecond,
    smUtilisation: report.smUtilisation,
    heapGrowthBytes: heapBytes() - before,
  };
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function heapBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
