/**
 * `npm run bench:gpu [-- sharing share] [--launches N] [--device CARD] [--tables RESNET.csv BERT.csv] [--again N] [--only TEXT] [--json]`:
 * launches a second of the host in timing fidelity, four clients on one card; and which part of functional launches goes into
 * keeping time.
 */
import { parseArgs } from 'node:util';
import { shareRows, type ShareRow } from './functionalShare.js';
import { sharingRow, type SharingRow } from './sharing.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    launches: { type: 'string', default: '100000' },
    device: { type: 'string', default: 'h200' },
    tables: { type: 'string', multiple: true },
    again: { type: 'string', default: '5' },
    only: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const wants = (part: string): boolean => positionals.length === 0 || positionals.includes(part);

if (wants('sharing')) {
  const [resnet50, bert] = values.tables ?? [];
  const row = sharingRow(
    Number(values.launches),
    values.device,
    resnet50 === undefined || bert === undefined ? undefined : [resnet50, bert],
  );
  process.stdout.write(values.json ? `${JSON.stringify(row)}\n` : sharingText(row));
}
if (wants('share')) {
  const rows = shareRows(process.cwd(), Number(values.again), values.only);
  process.stdout.write(values.json ? `${JSON.stringify(rows)}\n` : shareText(rows));
}

function sharingText(row: SharingRow): string {
  return (
    `four-way sharing, ${row.tables}, on ${row.device}: ${row.launches} launches, ` +
    `${Math.round(row.launchesPerCpuSecond)} a CPU second, SMs in use ${(row.smUtilisation * 100).toFixed(1)}%, ` +
    `heap grew by ${(row.heapGrowthBytes / 1e6).toFixed(2)} MB${globalThis.gc === undefined ? ' (not collected: node --expose-gc)' : ''}\n`
  );
}

function shareText(rows: readonly ShareRow[]): string {
  const percent = (share: number): string => `${(share * 100).toFixed(1)}%`.padStart(7);
  const us = (time: number): string => time.toFixed(0).padStart(9);
  const total = (time: (row: ShareRow) => number): number => rows.reduce((sum, row) => sum + time(row), 0);
  const all = {
    launch: 'all, by time',
    firstUs: total((row) => row.firstUs),
    againUs: total((row) => row.againUs),
    firstShare: total((row) => row.firstShare * row.firstUs) / total((row) => row.firstUs),
    againShare: total((row) => row.againShare * row.againUs) / total((row) => row.againUs),
  };
  const lines = [...rows, all].map(
    (row) =>
      `${row.launch.padEnd(72)}${us(row.firstUs)}${percent(row.firstShare)}${us(row.againUs)}${percent(row.againShare)}`,
  );
  const head = `${'launch (CPU microseconds; share that is not the kernel)'.padEnd(72)}${'first'.padStart(9)}${'share'.padStart(7)}${'again'.padStart(9)}${'share'.padStart(7)}`;
  return `${[head, ...lines].join('\n')}\n`;
}
