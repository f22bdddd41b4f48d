import {
  type ElementType,
  type Layout,
  type Operand,
  inMemory,
  shape,
  wmmaCarried,
  wmmaMatrix,
} from '../../../tensor/index.js';

/** What a move takes or leaves: registers of every lane, or words of memory. */
export interface MoveArea {
  readonly kind: 'registers' | 'memory' | 'rows';
  /** Registers a lane, or 32-bit words of memory; `rows` is one register with a lane's byte offset. */
  readonly count: number;
  readonly register: 'b32' | 'f32' | 'f64';
}

/** A form that carries a matrix between memory and fragments, or among lanes, and computes nothing. */
export interface MoveForm {
  readonly name: string;
  readonly kind: 'ldmatrix' | 'stmatrix' | 'movmatrix' | 'wmma.load' | 'wmma.store';
  /** In the order in which a probe's words have them. */
  readonly inputs: readonly MoveArea[];
  readonly output: MoveArea;
  readonly space: 'generic' | 'global' | 'shared';
  /** Leading dimension that the form is given, in elements. */
  readonly stride?: number;
  readonly matrix?: MovedMatrix;
}

/** A matrix of a `wmma` product that is carried to or from memory. */
export interface MovedMatrix {
  readonly type: ElementType;
  readonly fragment: 'a' | 'b' | 'c' | 'd';
  /** The product's shape. */
  readonly text: string;
  readonly layout: Layout;
}

/** The matrix as it lies in memory. */
export function matrixImage({ type, fragment, text, layout }: MovedMatrix): Operand {
  const { m, n, k } = shape(text);
  const [rows, columns] = { a: [m, k], b: [k, n], c: [m, n], d: [m, n] }[fragment];
  return inMemory({ type, rows, columns }, layout);
}

/** Rows of 16 bytes in the shared memory of an `ldmatrix` or `stmatrix` probe; each lane points to one of them. */
export const sharedRows = 64;
const sharedImage: MoveArea = { kind: 'memory', count: sharedRows * 4, register: 'b32' };
const rows: MoveArea = { kind: 'rows', count: 1, register: 'b32' };

function registers(count: number, register: MoveArea['register'] = 'b32'): MoveArea {
  return { kind: 'registers', count, register };
}

interface MatrixShape {
  readonly shape: string;
  readonly type: string;
  readonly transposed: readonly string[];
  /** Registers of `.x1`. */
  readonly registers: number;
}

const matrixShapes: readonly MatrixShape[] = [
  { shape: 'm8n8', type: 'b16', transposed: ['', '.trans'], registers: 1 },
  { shape: 'm8n8', type: 'b8', transposed: ['', '.trans'], registers: 1 },
  { shape: 'm16n8', type: 'b8', transposed: ['', '.trans'], registers: 1 },
  { shape: 'm16n16', type: 'b8', transposed: ['', '.trans'], registers: 2 },
  { shape: 'm8n16', type: 'b8x16.b6x16_p32', transposed: ['', '.trans'], registers: 1 },
  { shape: 'm8n16', type: 'b8x16.b4x16_p64', transposed: ['', '.trans'], registers: 1 },
];

function sharedMatrixForms(): MoveForm[] {
  return matrixShapes.flatMap(({ shape: extents, type, transposed, registers: each }) =>
    transposed.flatMap((trans) =>
      [1, 2, 4].flatMap((count) =>
        ['.shared', '.shared::cta', ''].flatMap((space): MoveForm[] => {
          const suffix = `sync.aligned.${extents}.x${count}${trans}${space}.${type}`;
          const kept = registers(count * each);
          const where = space === '' ? 'generic' : 'shared';
          return [
            {
              name: `ldmatrix.${suffix}`,
              kind: 'ldmatrix',
              inputs: [sharedImage, rows],
              output: kept,
              space: where,
            },
            {
              name: `stmatrix.${suffix}`,
              kind: 'stmatrix',
              inputs: [sharedImage, rows, kept],
              output: sharedImage,
              space: where,
            },
          ];
        }),
      ),
    ),
  );
}

const spaces = ['global', 'shared', 'generic'] as const;
function wmmaMoves(text: string, fragment: 'a' | 'b' | 'c' | 'd', type: ElementType): MoveForm[] {
  const count = wmmaMatrix(text, fragment, type)?.registers ?? 0;
  const register = type === 'f32' ? 'f32' : type === 'f64' ? 'f64' : 'b32';
  const isNarrow = ['s4', 'u4', 'b1'].includes(type);
  // Matrices of less than a byte an element have one order each.
  const orders: readonly Layout[] = isNarrow ? [fragment === 'a' ? 'row' : 'col'] : ['row', 'col'];
  return orders.flatMap((layout) => {
    const matrix = matrixImage({ type, fragment, text, layout });
    const memory: MoveArea = {
      kind: 'memory',
      count: (matrix.units * matrix.unitBits) / 32,
      register: 'b32',
    };
    const kept = registers(count, register);
    const natural = layout === 'row' ? matrix.columns : matrix.rows;
    const leading = matrix.image?.leading ?? natural;
    const strides = leading === natural ? [leading, undefined] : [leading];
    return spaces.flatMap((space) =>
      strides.map((stride): MoveForm => {
        const where = space === 'generic' ? '' : `.${space}`;
        const verb = fragment === 'd' ? 'wmma.store.d' : `wmma.load.${fragment}`;
        return {
          name: `${verb}.sync.aligned.${layout}.${text}${where}.${type}${stride === undefined ? '' : ', stride'}`,
          kind: fragment === 'd' ? 'wmma.store' : 'wmma.load',
          inputs: fragment === 'd' ? [memory, kept] : [memory],
          output: fragment === 'd' ? memory : kept,
          space,
          matrix: { type, fragment, text, layout },
          ...(stride === undefined ? {} : { stride }),
        };
      }),
    );
  });
}

function wmmaMoveForms(): MoveForm[] {
  const carry = (fragments: readonly ('a' | 'b' | 'c' | 'd')[], which: 1 | 2): MoveForm[] =>
    wmmaCarried.flatMap((carried) =>
      carried[which].flatMap((type) =>
        fragments.flatMap((fragment) => wmmaMoves(carried[0], fragment, type)),
      ),
    );
  return [...carry(['a', 'b'], 1), ...carry(['c', 'd'], 2)];
}

/** Every form of `ldmatrix`, `stmatrix`, `movmatrix`, `wmma.load` and `wmma.store`, those of other targets too. */
export const attemptedMoveForms: readonly MoveForm[] = [
  ...sharedMatrixForms(),
  {
    name: 'movmatrix.sync.aligned.m8n8.trans.b16',
    kind: 'movmatrix',
    inputs: [registers(1)],
    output: registers(1),
    space: 'generic',
  },
  ...wmmaMoveForms(),
];
