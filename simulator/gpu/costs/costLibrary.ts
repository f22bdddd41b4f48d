import type { Dim3, LaunchShape } from '../../executor/index.js';
import type { LaunchVerdict } from '../../scheduling/index.js';
import { CostError } from './costError.js';
import { readProfile, readWork, type CostDocument, type CostVariant } from './costDocument.js';
import type { BlockCounts, LaunchCost } from './launchCost.js';

/** A launch as costs are kept for it. */
export interface CostKey {
  /** SHA-256 of the module. */
  readonly module: string;
  readonly kernel: string;
  readonly shape: LaunchShape;
  /** Argument bytes in hexadecimal, pointers zeroed; asked for only where it matters. */
  readonly scalars: () => string;
}

interface Variant {
  readonly grid: Dim3;
  readonly scalars: string;
  readonly cost: LaunchCost;
  /** Warp instructions a block. */
  readonly perBlock: number;
}

interface Family {
  readonly variants: Variant[];
  tellsVerdicts: boolean;
  /** Its blocks do the same in every variant, so that a variant stands for grids that were not recorded. */
  isUniform: boolean;
  readonly scaled: Map<string, LaunchCost>;
}

/** Blocks of a family that lie apart by less do the same. */
const SAME_BLOCK = 0.1;

/** Costs by module, kernel, block shape and dynamic shared memory; among those by grid and arguments. */
export class CostLibrary {
  private readonly families = new Map<string, Family>();

  constructor(documents: readonly CostDocument[]) {
    for (const document of documents) this.add(document);
  }

  add({ kernels }: CostDocument): void {
    for (const { module, kernel, block, dynamicSharedBytes, variants } of kernels) {
      const key = familyKey(module, kernel, block, dynamicSharedBytes);
      let family = this.families.get(key);
      if (family === undefined) this.families.set(key, (family = emptyFamily()));
      family.variants.push(...variants.map(readVariant));
      family.tellsVerdicts ||= variants.some((variant) => variant.verdict !== undefined);
      const each = family.variants.map(({ perBlock }) => perBlock);
      family.isUniform = Math.max(...each) <= Math.min(...each) * (1 + SAME_BLOCK);
      family.scaled.clear();
    }
  }

  /** @throws CostError `unknownCost`, which names the kernel and what was recorded of it. */
  find({ module, kernel, shape, scalars }: CostKey): LaunchCost {
    const { grid, block, dynamicSharedBytes } = shape;
    const family = this.families.get(familyKey(module, kernel, block, dynamicSharedBytes));
    if (family === undefined) throw this.unknown(module, kernel, shape);
    const { variants } = family;
    if (variants.length === 1 && sameGrid(variants[0].grid, grid)) return variants[0].cost;
    const alike = variants.filter((variant) => sameGrid(variant.grid, grid));
    if (alike.length > 0) {
      const arguments_ = scalars();
      const exact = alike.find((variant) => variant.scalars === arguments_);
      if (exact !== undefined) return exact.cost;
    }
    if (!family.isUniform) throw dependsOnMore(kernel, shape, variants);
    return alike.length > 0 ? alike[0].cost : this.scaled(family, grid);
  }

  /** Of launches of kernels without code, whether they may be killed, where the costs say so. */
  verdictOf(key: CostKey): LaunchVerdict | undefined {
    const { block, dynamicSharedBytes } = key.shape;
    const family = this.families.get(familyKey(key.module, key.kernel, block, dynamicSharedBytes));
    if (family?.tellsVerdicts !== true) return undefined;
    const cost = this.find(key);
    return cost.kind === 'fixed' ? cost.verdict : undefined;
  }

  /** A recorded launch whose blocks do the same, stretched to another number of blocks. */
  private scaled(family: Family, grid: Dim3): LaunchCost {
    const key = grid.join();
    const known = family.scaled.get(key);
    if (known !== undefined) return known;
    const blocks = blocksOf(grid);
    const nearest = family.variants.reduce((best, variant) =>
      apart(blocksOf(variant.grid), blocks) < apart(blocksOf(best.grid), blocks) ? variant : best,
    );
    const { cost } = nearest;
    const factor = blocks / blocksOf(nearest.grid);
    const ends = cost.ends.map((end) => Math.round(end * factor));
    const made = { ...cost, ends };
    family.scaled.set(key, made);
    return made;
  }

  private unknown(module: string, kernel: string, { block, dynamicSharedBytes }: LaunchShape): CostError {
    const others = [...this.families.keys()]
      .map((key) => key.split(SEPARATOR))
      .filter(([otherModule, otherKernel]) => otherModule === module && otherKernel === kernel)
      .map(([, , otherBlock, otherShared]) => `[${otherBlock}] with ${otherShared} bytes`);
    const recorded =
      others.length > 0
        ? `recorded are blocks of ${others.join('; ')}`
        : 'nothing of it was recorded; record a functional run of this very module (`gpu run SPEC --record-costs FILE`)';
    return new CostError(
      'unknownCost',
      `kernel: no cost of '${kernel}' with blocks of [${block.join()}] and ${dynamicSharedBytes} bytes of dynamic shared memory; ${recorded}`,
    );
  }
}

function emptyFamily(): Family {
  return { variants: [], tellsVerdicts: false, isUniform: true, scaled: new Map() };
}

const SEPARATOR = '|';

function familyKey(module: string, kernel: string, block: Dim3, dynamicSharedBytes: number): string {
  return `${module}|${kernel}|${block[0]},${block[1]},${block[2]}|${dynamicSharedBytes}`;
}

function readVariant({ grid, scalars, blocks, profile, work, ...others }: CostVariant): Variant {
  const ends: number[] = [];
  const counts: BlockCounts[] = [];
  let end = 0;
  let warps = 0;
  for (const [run, warpInstructions, threadInstructions] of blocks) {
    ends.push((end += run));
    counts.push({ warpInstructions, threadInstructions });
    warps += run * warpInstructions;
  }
  const perBlock = warps / end;
  if (profile !== undefined) {
    return {
      grid,
      scalars,
      perBlock,
      cost: { kind: 'profiled', profile: readProfile(profile), ends, counts },
    };
  }
  if (work === undefined) throw new CostError('invalidCosts', "a variant has either 'profile' or 'work'");
  return { grid, scalars, perBlock, cost: { kind: 'fixed', work: readWork(work), ends, counts, ...others } };
}

function dependsOnMore(kernel: string, { grid }: LaunchShape, variants: readonly Variant[]): CostError {
  const recorded = [...new Set(variants.map((variant) => `[${variant.grid.join()}]`))].join(', ');
  return new CostError(
    'unknownCost',
    `grid: [${grid.join()}] of '${kernel}' with these arguments was not recorded, and what its blocks do differs among the ` +
      `launches that were (grids ${recorded}), so that none can stand for it; record it`,
  );
}

function sameGrid(a: Dim3, b: Dim3): boolean {
  return a[0] === b[0] && a[1] === b[1] && a[2] === b[2];
}

function blocksOf(grid: Dim3): number {
  return grid[0] * grid[1] * grid[2];
}

function apart(a: number, b: number): number {
  return Math.abs(Math.log(a / b));
}
