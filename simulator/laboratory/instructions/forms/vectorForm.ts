/**
 * Type of an operand of a probed instruction: a PTX type, or one of a narrower meaning that says which operands are worth
 * giving (`field`: a position or length of `bfe`, `flag`: 0 or 1 in 32 bits, `nth`: an offset of `fns`, `angle`: an f32
 * that is no NaN's neighbour but an angle).
 */
export type VectorType = string;

/** One instruction form that is held to a real card's results. */
export interface VectorForm {
  /** The instruction without operands, or what tells several uses of it apart; the key of its results. */
  readonly name: string;
  readonly sources: readonly VectorType[];
  readonly results: readonly VectorType[];
  /** Lines of PTX over `%s0 …` (sources), `%d0 …` (results) and `[cell]`, where they are not just the instruction. */
  readonly body?: readonly string[];
}

/** `u32 <- u32 u32`. */
export function form(name: string, signature: string, ...body: string[]): VectorForm {
  const [results = '', sources = ''] = signature.split('<-').map((side) => side.trim());
  return {
    name,
    sources: sources === '' ? [] : sources.split(' '),
    results: results.split(' '),
    ...(body.length === 0 ? {} : { body }),
  };
}

const widths: Readonly<Record<string, number>> = {
  pred: 1,
  field: 32,
  flag: 32,
  nth: 32,
  count: 32,
  angle: 32,
  e4m3x2: 16,
  e5m2x2: 16,
  u16x2: 32,
  s16x2: 32,
  f16x2: 32,
  bf16x2: 32,
  bf16: 16,
  tf32: 32,
};

export function vectorBits(type: VectorType): number {
  return widths[type] ?? Number(/\d+$/.exec(type)?.[0] ?? 32);
}

/** Bits of the register that holds it. */
export function vectorRegisterBits(type: VectorType): number {
  return type === 'pred' ? 1 : Math.max(vectorBits(type), 16);
}
