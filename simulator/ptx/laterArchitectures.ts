import type { IrInstruction } from './ir.js';

/** What a family of instructions is, the targets that ptxas of CUDA 13.0 takes it for, and what does the same here. */
export interface LaterFamily {
  /** Of opcode and modifiers, joined by their dots. */
  readonly spelling: RegExp;
  readonly example: string;
  readonly what: string;
  readonly targets: string;
  readonly instead: string;
}

const OLDER = 'compile for an older target (nvcc -arch=sm_90)';
const narrow = /\.(?:e2m1|e2m3|e3m2|ue8m0)(?:x[24])?\b/;

/** Instructions and forms that no card before sm_100 has; the first that fits counts. */
export const laterFamilies: readonly LaterFamily[] = [
  {
    spelling: /^tcgen05\b/,
    example: 'tcgen05.mma.cta_group::1.kind::f16',
    what: 'tensor memory',
    targets: 'sm_100a, sm_103a and sm_110a',
    instead: `${OLDER}, for which libraries use mma`,
  },
  {
    spelling: /^clusterlaunchcontrol\b/,
    example: 'clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128',
    what: 'taking over blocks that have not started',
    targets: 'sm_100 and later',
    instead:
      'go through the work in a loop over the grid, or take numbers of blocks from a counter by atom.add',
  },
  {
    spelling: /^mma\b.*\.(?:kind::|block_scale\b)|^mma\b.*\.(?:e2m1|e2m3|e3m2|ue8m0)\b/,
    example: 'mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.f32.ue8m0',
    what: 'products of matrices with scales, or of numbers of 4 and 6 bits',
    targets: 'sm_120a and sm_121a',
    instead: 'use mma of e4m3 or e5m2 without .kind, and scale the sums',
  },
  {
    spelling: /^(?:ldmatrix|stmatrix)\b.*\.(?:m16n16|m8n16|m16n8|b8)\b/,
    example: 'ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8',
    what: 'matrices of bytes',
    targets: 'sm_100a, sm_103a, sm_110a and sm_120a',
    instead: 'use .m8n8 with .b16',
  },
  {
    spelling: /^(?:add|sub|mul|fma)\b.*\.f32x2\b/,
    example: 'fma.rn.f32x2',
    what: 'arithmetic of two f32 at once',
    targets: 'sm_100 and later',
    instead: 'use two instructions of .f32',
  },
  {
    spelling: /^(?:add|sub|fma)\b.*\.f32\.(?:f16|bf16)\b/,
    example: 'add.rn.f32.f16',
    what: 'sums of f16 or bf16 and f32',
    targets: 'sm_100 and later',
    instead: 'convert with cvt.f32 first',
  },
  {
    spelling: /^redux\b.*\.f32\b/,
    example: 'redux.sync.min.f32',
    what: 'a reduction of f32 over a warp',
    targets: 'sm_100a and sm_103a',
    instead: 'use shfl.sync with min or max',
  },
  {
    spelling: /^cvt\.(?:.*\.)?rs\b/,
    example: 'cvt.rs.f16x2.f32',
    what: 'rounding by random bits',
    targets: 'sm_100a and sm_103a',
    instead: 'use .rn, or add the random bits before .rz',
  },
  {
    spelling: new RegExp(`^cvt\\b.*${narrow.source}`),
    example: 'cvt.rn.satfinite.e2m1x2.f32',
    what: 'numbers of 4 and 6 bits and scales without a mantissa',
    targets: 'sm_100a, sm_103a, sm_110a and sm_120a',
    instead: 'use e4m3x2 or e5m2x2, or a table of the values',
  },
  {
    spelling: /^(?:ld|st)\b.*\.v8\b|^(?:ld|st)\b.*\.v4\.[bfus]64\b/,
    example: 'ld.global.v8.f32',
    what: 'accesses of 256 bits',
    targets: 'sm_100 and later',
    instead: 'use two of 128 bits',
  },
  {
    spelling: /^cp\.async\.bulk\b.*\.(?:tile::(?:gather4|scatter4)|im2col::w\b|cta_group::\d|cp_mask)/,
    example: 'cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes',
    what: 'bulk copies that gather, scatter, mask bytes or are of two blocks',
    targets: 'sm_100 and later, some of them sm_100a alone',
    instead: 'use .tile, or copy rows by themselves',
  },
  {
    spelling: /^st\.bulk\b/,
    example: 'st.bulk.weak.shared::cta',
    what: 'a store of zeros of any length',
    targets: 'sm_100 and later',
    instead: 'use a loop of st.shared',
  },
  {
    spelling: /^(?:st|red)\.async\b.*\.mmio\b/,
    example: 'st.async.mmio.release.sys.global.u32',
    what: 'asynchronous stores to the memory of other devices',
    targets: 'sm_100 and later',
    instead: 'use st.mmio, or red with .release',
  },
  {
    spelling: /^fabric\b/,
    example: 'fabric.submit.commit_group',
    what: 'transfers over the fabric between GPUs',
    targets: 'sm_100 and later',
    instead: 'copy by st and ld, or from the host',
  },
];

/** Why no card here has this instruction, or undefined where one might. @param text opcode and modifiers, joined by dots */
export function ofLaterArchitectures(text: string): string | undefined {
  const found = laterFamilies.find(({ spelling }) => spelling.test(text));
  return found === undefined ? undefined : reasonOf(found);
}

function reasonOf({ what, targets, instead }: Omit<LaterFamily, 'spelling' | 'example'>): string {
  return `${what}: cards of ${targets} have it, none here; ${instead}`;
}

/** The same of an instruction whose operands tell: `min` and `max` of three numbers. */
export function countOfLaterArchitectures({
  opcode,
  types,
  sources,
}: Pick<IrInstruction, 'opcode' | 'types' | 'sources'>): string | undefined {
  if (!/^(?:min|max)$/.test(opcode) || types[0] !== 'f32' || sources.length !== 3) return undefined;
  const what = `${opcode} of three numbers`;
  return reasonOf({ what, targets: 'sm_100 and later', instead: 'use two instructions' });
}
