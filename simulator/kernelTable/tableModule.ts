import { createHash } from 'node:crypto';
import { plainCosts, type CostDocument, type DeviceProfile, type PlainKernel } from '../gpu/index.js';
import type { DriverCommand } from '../driver/index.js';

import type { KernelRow } from './kernelTable.js';
import { fullSmBlock, type RowWorks } from './rowWork.js';

type LaunchArgs = Omit<Extract<DriverCommand, { op: 'launch' }>['args'], 'module'>;

/** One launch of a pass. */
export interface TableLaunch {
  /** Share of its launches that are idempotent: 0 and 1 decide. */
  readonly idempotent: number;
  readonly args: LaunchArgs;
  /** In place of `args` where it is not; the same where no launch differs. */
  readonly refusedArgs: LaunchArgs;
}

/** A table as a node in timing fidelity takes it. */
export interface TableModule {
  /** A module with an empty kernel for each kind of row. */
  readonly ptx: string;
  readonly file: string;
  readonly costs: CostDocument;
  /** In the table's order; equal rows share an object. */
  readonly launches: readonly TableLaunch[];
}

/** What a kernel of the module is made of. */
interface Kind {
  readonly args: LaunchArgs;
  readonly row: KernelRow;
  readonly isIdempotent: boolean;
  readonly place: string;
}

const NO_PARAMETERS = new Uint8Array(0);

/** @param card on which the table will be replayed @throws KernelTableError */
export function tableModule(
  rows: readonly KernelRow[],
  path: string,
  works: RowWorks,
  card: DeviceProfile,
): TableModule {
  const { threads } = fullSmBlock(card);
  const dynamicSharedBytes = card.limits.sharedPerBlockBytes;
  const kinds = new Map<string, Kind>();
  const argsOf = (row: KernelRow, isIdempotent: boolean, index: number): LaunchArgs => {
    const key = JSON.stringify([row, isIdempotent]);
    const known = kinds.get(key);
    if (known !== undefined) return known.args;
    const args: LaunchArgs = {
      kernel: `${identifier(row.name)}_${index + 1}${isIdempotent ? '' : '_refused'}`,
      grid: [row.sms, 1, 1],
      block: [threads, 1, 1],
      dynamicSharedBytes,
      params: NO_PARAMETERS,
    };
    kinds.set(key, { args, row, isIdempotent, place: `${path}: row ${index + 1}` });
    return args;
  };
  const launches = rows.map((row, index): TableLaunch => {
    const { idempotent = 0 } = row;
    const args = argsOf(row, idempotent > 0, index);
    return { idempotent, args, refusedArgs: idempotent < 1 ? argsOf(row, false, index) : args };
  });
  const ptx = [
    `.version 8.0\n.target sm_70\n.address_size 64`,
    ...[...kinds.values()].map(({ args }) => `.visible .entry ${args.kernel}()\n{\n  ret;\n}`),
    '',
  ].join('\n');
  const module = createHash('sha256').update(path).update('\0').update(ptx).digest('hex');
  const kernels = [...kinds.values()].map(({ args, row, isIdempotent, place }): PlainKernel => ({
    module,
    file: path,
    kernel: args.kernel,
    shape: { grid: [row.sms, 1, 1], block: [threads, 1, 1], dynamicSharedBytes },
    work: works.of(row, place),
    verdict: verdictOf(row, isIdempotent),
    contextBytes: row.contextBytes,
  }));
  return {
    ptx,
    file: path,
    costs: plainCosts(card.name, kernels),
    launches,
  };
}

function verdictOf(
  { idempotent, isIdempotentKernel }: KernelRow,
  isIdempotent: boolean,
): PlainKernel['verdict'] {
  if (isIdempotent) return { idempotent: true, of: isIdempotentKernel === true ? 'kernel' : 'launch' };
  // What exactly stood in the way the table does not say, only that something did; or nothing at all.
  return { idempotent: false, of: 'launch', ...(idempotent === undefined ? { cause: 'untold' } : {}) };
}

/** A name that PTX allows, from the end of a C++ name, where it differs from others. */
function identifier(name: string): string {
  const plain = name.replace(/[<(].*$/, '').replace(/^.*(::|\s)/, '');
  const safe = plain.replace(/[^A-Za-z0-9_]/g, '_');
  return /^[A-Za-z]/.test(safe) ? safe : `k_${safe}`;
}
