import { createHash } from 'node:crypto';
import {
  COSTS_FORMAT,
  COSTS_VERSION,
  writtenWork,
  type CostDocument,
  type DeviceProfile,
  type KernelCosts,
} from '../gpu/index.js';
import type { DriverCommand } from '../driver/index.js';
import type { KernelRow } from './kernelTable.js';
import { fullSmBlock, type RowWorks } from './rowWork.js';

type LaunchArgs = Omit<Extract<DriverCommand, { op: 'launch' }>['args'], 'module'>;

/** A table as a node in timing fidelity takes it. */
export interface TableModule {
  /** A module with an empty kernel for each kind of row. */
  readonly ptx: string;
  readonly file: string;
  readonly costs: CostDocument;
  /** In the table's order; equal rows share an object. */
  readonly launches: readonly LaunchArgs[];
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
  const kinds = new Map<
    string,
    { readonly launch: LaunchArgs; readonly row: KernelRow; readonly place: string }
  >();
  const launches = rows.map((row, index) => {
    const key = `${row.name} ${row.bound} ${row.sms} ${row.durationNs}`;
    const kind = kinds.get(key);
    if (kind !== undefined) return kind.launch;
    const launch: LaunchArgs = {
      kernel: `${identifier(row.name)}_${index + 1}`,
      grid: [row.sms, 1, 1],
      block: [threads, 1, 1],
      dynamicSharedBytes,
      params: NO_PARAMETERS,
    };
    kinds.set(key, { launch, row, place: `${path}: row ${index + 1}` });
    return launch;
  });
  const ptx = [
    `.version 8.0\n.target sm_70\n.address_size 64`,
    ...[...kinds.values()].map(({ launch }) => `.visible .entry ${launch.kernel}()\n{\n  ret;\n}`),
    '',
  ].join('\n');
  const module = createHash('sha256').update(path).update('\0').update(ptx).digest('hex');
  const kernels = [...kinds.values()].map(({ launch, row, place }): KernelCosts => ({
    module,
    file: path,
    kernel: launch.kernel,
    block: [...launch.block],
    dynamicSharedBytes,
    registers: 0,
    sharedBytes: dynamicSharedBytes,
    variants: [
      {
        grid: [...launch.grid],
        scalars: '',
        blocks: [[row.sms, 0, 0]],
        work: writtenWork(works.of(row, place)),
      },
    ],
  }));
  return {
    ptx,
    file: path,
    costs: { format: COSTS_FORMAT, version: COSTS_VERSION, device: card.name, kernels },
    launches,
  };
}

/** A name that PTX allows, from the end of a C++ name, where it differs from others. */
function identifier(name: string): string {
  const plain = name.replace(/[<(].*$/, '').replace(/^.*(::|\s)/, '');
  const safe = plain.replace(/[^A-Za-z0-9_]/g, '_');
  return /^[A-Za-z]/.test(safe) ? safe : `k_${safe}`;
}
