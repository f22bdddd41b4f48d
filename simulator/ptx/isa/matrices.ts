import { form, since } from './form.js';
import { effects, row, syntax, UNTAINTED } from './parts.js';
import type { Row, Taint } from './row.js';

type Told = Pick<Row, 'forms' | 'cost' | 'taint' | 'syntax'> & Partial<Pick<Row, 'formless' | 'counted'>>;

function matrix<const E extends Row['effects']>(of: E, told: Told) {
  return row(of, {
    counted: 'warp',
    ...told,
    registers: 'exchange',
    isUniform: false,
    nanBits: 'kept',
    pointers: 'none',
    watch: 'exchange',
    heldBy: 'tensor',
  });
}

/** Lanes of a warp learn what others have. */
function told(name: string): Taint {
  return { kind: 'exchange', name, isOpenWithoutSync: false };
}

/** Lanes hold matrices between them: a product's and a turned matrix's lanes give each other what they have. */
const product = { ...effects.exchange, isAligned: true } as const;

const shape = 'm\\d+n\\d+k\\d+';
const order = 'row|col';
const elements = 's[48]|u[48]|e4m3|e5m2|b1';
const product32 = `sync|aligned|${shape}|${order}|satfinite|${elements}|and|xor|popc`;
const directed = 'rn|rz|rm|rp';
const sparse = 'sp|sp::ordered_metadata';

/**
 * Products of matrices that lie in the registers of a warp, and what carries such matrices. Which shapes and types there are
 * `simulator/tensor` says; the forms here say what operands they have.
 */
export const matrices = {
  mma: matrix(product, {
    forms: [
      ...since(
        '6.4',
        70,
        form('(?:f16|f32|bf16|tf32|s32|s8|u8)(?:\\..*)?', product32, 'vb32 <- vb32 vb32 vb32', 'sync', shape),
      ),
      ...since(
        '7.0',
        80,
        form(
          'f64\\.f64\\.f64\\.f64',
          `sync|aligned|${shape}|${order}|${directed}`,
          'vf64 <- vf64 vf64 vf64',
          'sync',
          shape,
        ),
      ),
      ...since(
        '7.1',
        80,
        form(
          '(?:f16|f32|s32)(?:\\..*)?',
          `${product32}|${sparse}`,
          'vb32 <- vb32 vb32 vb32 b32 i',
          'sync',
          shape,
          sparse,
        ),
      ),
    ],
    syntax: syntax({ rule: 'matrix', isBraced: true }),
    cost: 'matrix',
    taint: told('mma'),
  }),
  movmatrix: matrix(product, {
    forms: since(
      '7.8',
      75,
      form('b16', 'sync|aligned|m8n8|trans', 'b32 <- b32', 'sync', 'aligned', 'm8n8', 'trans'),
    ),
    syntax: syntax(),
    cost: 'shuffle',
    taint: told('movmatrix'),
  }),
  /** Where each lane's part of a row lies that another lane points to: what the lowering makes of `ldmatrix` and `stmatrix`. */
  matrixrows: matrix(product, {
    forms: [],
    formless: { kind: 'lowered', text: 'ldmatrix, stmatrix' },
    syntax: syntax(),
    cost: 'folded',
    taint: UNTAINTED,
  }),
  ldmatrix: matrix({ ...effects.matrix, reads: 'shared' } as const, {
    forms: since(
      '6.5',
      75,
      form(
        'b16',
        'sync|aligned|m8n8|x[124]|trans|shared|shared::cta',
        'vb32 <- a',
        'sync',
        'aligned',
        'm8n8',
        'x[124]',
      ),
    ),
    syntax: syntax({ rule: 'matrix', isBraced: true }),
    cost: 'load',
    taint: UNTAINTED,
  }),
  stmatrix: matrix({ ...effects.matrix, writes: 'shared' } as const, {
    forms: since(
      '7.8',
      90,
      form(
        'b16',
        'sync|aligned|m8n8|x[124]|trans|shared|shared::cta',
        '<- a vb32',
        'sync',
        'aligned',
        'm8n8',
        'x[124]',
      ),
    ),
    syntax: syntax({ writes: 'never', rule: 'matrix', isBraced: true }),
    cost: 'load',
    taint: UNTAINTED,
  }),
  wmma: matrix({ ...effects.matrix, reads: 'asWritten', writes: 'asWritten' } as const, {
    forms: [
      ...since(
        '6.0',
        70,
        form(
          'f16|bf16|tf32|s8|u8|s32|f32|',
          `load|[abc]|sync|aligned|${order}|${shape}|global|shared|shared::cta|${elements}`,
          'vb32 <- a {b32}',
          'load',
          'sync',
          shape,
        ),
        form(
          'f16|s32|f32',
          `store|d|sync|aligned|${order}|${shape}|global|shared|shared::cta`,
          '<- a vb32 {b32}',
          'store',
          'sync',
          shape,
        ),
        form('(?:f16|f32|s32)(?:\\..*)?', `mma|${product32}`, 'vb32 <- vb32 vb32 vb32', 'mma', 'sync', shape),
      ),
      ...since(
        '7.0',
        80,
        form(
          'f64',
          `load|[abc]|sync|aligned|${order}|${shape}|global|shared|shared::cta`,
          'vf64 <- a {b32}',
          'load',
          'sync',
          shape,
        ),
        form(
          'f64',
          `store|d|sync|aligned|${order}|${shape}|global|shared|shared::cta`,
          '<- a vf64 {b32}',
          'store',
          'sync',
          shape,
        ),
        form(
          'f64\\.f64\\.f64\\.f64',
          `mma|sync|aligned|${order}|${shape}|${directed}`,
          'vf64 <- vf64 vf64 vf64',
          'mma',
          'sync',
          shape,
        ),
      ),
    ],
    syntax: syntax({ writes: 'unlessStored', rule: 'matrix', isBraced: true }),
    cost: 'load',
    taint: told('wmma'),
  }),
};
