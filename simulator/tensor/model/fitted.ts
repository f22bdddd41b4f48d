import type { TileForm } from '../forms/index.js';
import type { Model } from './parameters.js';
import { doubleChain, exactIntegers, forHalfResults, published } from './published.js';

/** Forms that one unit computes in one way. */
export interface FittedFamily {
  /** What they are, and the instruction that the assembler makes of them. */
  readonly family: string;
  readonly includes: (form: TileForm) => boolean;
  readonly model: Model;
}

/** Where {@link fittedFamilies} were found: every tile that came back and every digest agreed. */
export const fittedOn = {
  card: 'NVIDIA H200',
  driver: '580.159.04',
  ptxas: 'release 13.0, V13.0.88',
} as const;

const isHalf = ({ d }: TileForm): boolean => d.type === 'f16';
const isEighth = ({ a }: TileForm): boolean => a.type === 'e4m3' || a.type === 'e5m2';
const isQuad = ({ shape: { m, n, k }, a }: TileForm): boolean =>
  m === 8 && n === 8 && k === 4 && a.type === 'f16';

const halves = published.h100;
const tf32 = published.h100Tf32;
const emulated = { ...published.h100, dealing: 'pairs', accumulator: 'end', eighths: 'halves' } as const;
const eighths = published.wgmmaEighths;

/** Families of floats in two: results of f32, and the same with results of f16. */
function both(
  family: string,
  includes: FittedFamily['includes'],
  model: typeof published.h100,
): FittedFamily[] {
  return [
    { family, includes: (form) => includes(form) && !isHalf(form), model },
    {
      family: `${family}, results of f16`,
      includes: (form) => includes(form) && isHalf(form),
      model: forHalfResults(model),
    },
  ];
}

/** What an H200 was found to do with every form; the first family that has a form says. */
export const fittedFamilies: readonly FittedFamily[] = [
  {
    family: 'f16 of m8n8k4, results of f16 (FFMA)',
    includes: (form) => isQuad(form) && isHalf(form),
    model: { kind: 'scalar', blockLength: 2, start: 'product' },
  },
  {
    family: 'f16 of m8n8k4 (FFMA)',
    includes: isQuad,
    model: { kind: 'scalar', blockLength: 4, start: 'nought' },
  },
  {
    family: 'f16, accumulators of f32 and results of f16 (HMMA, F2FP)',
    includes: (form) => form.a.type === 'f16' && isHalf(form) && form.c.type === 'f32',
    model: { ...halves, narrowing: 'after' },
  },
  ...both('f16 and bf16 (HMMA, HGMMA)', ({ a }) => a.type === 'f16' || a.type === 'bf16', halves),
  {
    family: 'tf32 of wmma (two of HMMA.1684)',
    includes: ({ a, kind }) => a.type === 'tf32' && kind === 'wmma',
    model: { ...tf32, blockLength: 4 },
  },
  { family: 'tf32 (HMMA, HGMMA)', includes: ({ a }) => a.type === 'tf32', model: tf32 },
  ...both('eighths of wgmma (QGMMA)', (form) => isEighth(form) && form.kind === 'wgmma', eighths),
  ...both(
    'eighths of m16n8k16 (F2FP, two of HMMA.1688, FADD)',
    (form) => isEighth(form) && form.a.columns === 16,
    { ...emulated, blockLength: 8 },
  ),
  ...both('eighths (F2FP, two of HMMA.16816, FADD)', isEighth, emulated),
  { family: 'f64 (DMMA)', includes: ({ a }) => a.type === 'f64', model: doubleChain },
  { family: 'integers and bits (IMMA, BMMA)', includes: ({ d }) => d.type === 's32', model: exactIntegers },
];

/**
 * What an H200 was found to do with a form.
 * @throws RangeError of a form of no family
 */
export function fittedModel(form: TileForm): Model {
  const found = fittedFamilies.find(({ includes }) => includes(form));
  if (found === undefined) throw new RangeError(`nothing was found of ${form.name}`);
  return found.model;
}
