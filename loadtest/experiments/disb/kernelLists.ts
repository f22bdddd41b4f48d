import type { DeviceProfile } from '../../../simulator/gpu/index.js';
import type { KernelRow } from '../../../simulator/kernelTable/index.js';
import type { Operation, OperationKind } from './network.js';
import { MEAN_ALONE_MS, networkModel, type NetworkModel } from './networks.js';
import type { OperationVerdict } from './operationVerdicts.js';
import { MODELS, type ModelName } from './ownWorkloads.js';

/** How kernels of one kind fill an SM. */
interface Filling {
  /** Elements that one SM's worth of blocks writes. */
  readonly outputs: number;
  /** Registers and shared memory of those blocks. */
  readonly contextBytes: number;
}

const KIB = 1024;
/** Two blocks of 256 threads with 96 registers and 16 KiB of tiles each, 32 x 32 outputs a block. */
const TILES: Filling = { outputs: 2048, contextBytes: 2 * (256 * 96 * 4 + 16 * KIB) };
/** 2048 threads with 24 registers, four outputs each. */
const FLAT: Filling = { outputs: 8192, contextBytes: 2048 * 24 * 4 };
/** 64 warps with 32 registers, an output each. */
const ROWS: Filling = { outputs: 64, contextBytes: 2048 * 32 * 4 };
const TILED: ReadonlySet<OperationKind> = new Set([
  'convolution',
  'pointwise',
  'matrixProduct',
  'attentionProduct',
]);

/** Shares of the card's peaks that kernels of networks reach, before the totals are held to what was measured. */
const COMPUTE_SHARE = 0.6;
const MEMORY_SHARE = 0.7;
/** A kernel that has next to nothing to do. */
const SHORTEST_NS = 2500;
const WARP_SIZE = 32;
const FLOPS_OF_FMA = 2;

/** Kernel lists of DISB's models on a card: one row an operation, held to what DISB measured of the models alone. */
export function kernelLists(
  card: DeviceProfile,
  verdicts: ReadonlyMap<OperationKind, OperationVerdict>,
): ReadonlyMap<ModelName, { readonly rows: readonly KernelRow[]; readonly model: NetworkModel }> {
  const drafts = MODELS.map((name) => {
    const model = networkModel(name);
    const rows = model.operations.map((operation) => rowOf(card, operation, verdicts.get(operation.kind)));
    return { name, model, rows, ns: totalNs(rows) };
  });
  // DISB tells three of the models alone, and the mean of all five: the other two share what is left as they do here.
  const told = drafts.filter(({ model }) => model.aloneMs !== undefined);
  const others = drafts.filter(({ model }) => model.aloneMs === undefined);
  const left = MEAN_ALONE_MS * drafts.length - told.reduce((sum, { model }) => sum + (model.aloneMs ?? 0), 0);
  const othersNs = others.reduce((sum, { ns }) => sum + ns, 0);
  return new Map(
    drafts.map(({ name, model, rows, ns }) => {
      const aloneMs = model.aloneMs ?? (left * ns) / othersNs;
      return [name, { model, rows: scaled(rows, aloneMs * 1e6) }] as const;
    }),
  );
}

function rowOf(
  card: DeviceProfile,
  { kind, flops, bytes, outputs }: Operation,
  verdict: OperationVerdict | undefined,
): KernelRow {
  const filling = TILED.has(kind) ? TILES : kind === 'dense' ? ROWS : FLAT;
  const sms = Math.max(1, Math.ceil(outputs / filling.outputs));
  const { timing, clockHz } = card;
  const filled = Math.min(1, sms / card.sms);
  const peak = card.sms * timing.float32PerCycle * WARP_SIZE * FLOPS_OF_FMA * clockHz;
  const computeNs = (flops * 1e9) / (peak * COMPUTE_SHARE * filled);
  const memoryNs = (bytes * 1e9) / (timing.dramBytesPerSecond * MEMORY_SHARE * Math.min(1, 4 * filled));
  const durationNs = Math.max(computeNs, memoryNs, SHORTEST_NS);
  return {
    name: kind,
    bound: durationNs === SHORTEST_NS ? 'unknown' : computeNs > memoryNs ? 'compute' : 'memory',
    memoryFootprintBytes: bytes,
    sms,
    durationNs,
    idempotent: verdict?.idempotent === true ? 1 : 0,
    isIdempotentKernel: verdict?.idempotent === true && verdict.isOfKernel,
    contextBytes: filling.contextBytes,
  };
}

function totalNs(rows: readonly KernelRow[]): number {
  return rows.reduce((sum, { durationNs }) => sum + durationNs, 0);
}

/** Kernels that have something to do take their parts of the time; the shortest stay as they are. */
function scaled(rows: readonly KernelRow[], wantedNs: number): KernelRow[] {
  let [low, high] = [0, 100];
  const at = (factor: number): KernelRow[] =>
    rows.map((row) => ({ ...row, durationNs: Math.round(Math.max(SHORTEST_NS, row.durationNs * factor)) }));
  for (let step = 0; step < 50; step++) {
    const middle = (low + high) / 2;
    if (totalNs(at(middle)) < wantedNs) low = middle;
    else high = middle;
  }
  return at(low);
}
