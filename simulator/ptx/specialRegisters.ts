import { integerLiteral } from './literals.js';
import type { IrOperand } from './ir.js';

const triples = [
  'tid',
  'ntid',
  'ctaid',
  'nctaid',
  'clusterid',
  'nclusterid',
  'cluster_ctaid',
  'cluster_nctaid',
];

const words = [
  'laneid',
  'warpid',
  'nwarpid',
  'smid',
  'nsmid',
  'cluster_ctarank',
  'cluster_nctarank',
  'lanemask_eq',
  'lanemask_le',
  'lanemask_lt',
  'lanemask_ge',
  'lanemask_gt',
  'clock',
  'clock_hi',
  'globaltimer_lo',
  'globaltimer_hi',
  'reserved_smem_offset_begin',
  'reserved_smem_offset_end',
  'reserved_smem_offset_cap',
  'reserved_smem_offset_0',
  'reserved_smem_offset_1',
  'total_smem_size',
  'aggr_smem_size',
  'dynamic_smem_size',
  ...triples.flatMap((name) => ['x', 'y', 'z', 'w'].map((axis) => `${name}.${axis}`)),
  ...Array.from({ length: 32 }, (_, index) => `envreg${index}`),
  ...Array.from({ length: 8 }, (_, index) => `pm${index}`),
];

const longWords = [
  'clock64',
  'globaltimer',
  'gridid',
  'current_graph_exec',
  ...Array.from({ length: 8 }, (_, index) => `pm${index}_64`),
];

const bits = new Map<string, number>([
  ...words.map((name) => [name, 32] as const),
  ...longWords.map((name) => [name, 64] as const),
  ['is_explicit_cluster', 1],
]);

/** Whether PTX has a special register of this name (without the percent sign): `tid.x`, `laneid`; or a triple, `tid`. */
export function isSpecialRegister(name: string): boolean {
  return bits.has(name) || triples.includes(name);
}

/** Whether this is a special register of several components, such as `tid`. */
export function isSpecialTriple(name: string): boolean {
  return triples.includes(name);
}

/** Width of a special register: 32, 64, or 1 for a predicate; undefined when there is none of this name. */
export function specialRegisterBits(name: string): number | undefined {
  return bits.get(name);
}

/** Shared memory that the driver keeps back for libraries (the barriers of cooperative groups): a variable here. */
export const reservedSharedMemory = { name: '__reserved_shared_memory', bytes: 1024, align: 16 };

/**
 * What a special register reads as, where that follows from what every launch here is: no performance monitor, no graph, a fourth component of 0. Undefined when it depends on the
 * launch or the thread.
 */
export function fixedSpecialRegister(name: string): IrOperand | undefined {
  const [base = '', axis] = name.split('.');
  if (axis === 'w') return integerLiteral(0n);
  switch (base) {
    case 'aggr_smem_size':
      return { kind: 'special', name: 'total_smem_size' };
    case 'current_graph_exec':
      return integerLiteral(0n);
    default:
      if (base.startsWith('reserved_smem_offset_')) {
        const isEnd = /_(end|cap)$/.test(base);
        return {
          kind: 'symbol',
          name: reservedSharedMemory.name,
          offset: isEnd ? reservedSharedMemory.bytes : 0,
        };
      }
      return /^pm\d/.test(base) ? integerLiteral(0n) : undefined;
  }
}
