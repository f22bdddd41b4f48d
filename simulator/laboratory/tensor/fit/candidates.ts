import {
  type ChainModel,
  type FusedModel,
  type IntegerModel,
  type ScalarModel,
  type TileForm,
  doubleChain,
  exactIntegers,
  fittedModel,
  mostFractionBits,
  published,
} from '../../../tensor/index.js';

/** Every combination of values of some parameters, the first value of each being the likeliest. */
function* combinations<T extends object>(
  base: T,
  choices: { readonly [K in keyof T]?: readonly T[K][] },
): Generator<T> {
  const keys = Object.keys(choices) as (keyof T)[];
  const [key, ...rest] = keys;
  if (key === undefined) {
    yield base;
    return;
  }
  const { [key]: values = [], ...others } = choices;
  for (const value of values) {
    const next = { ...base, [key]: value };
    if (rest.length === 0) yield next;
    else yield* combinations(next, others as { readonly [K in keyof T]?: readonly T[K][] });
  }
}

/** Models that differ in how terms are read, grouped, aligned, cut and rounded: what ordinary numbers show. */
export function structures(form: TileForm): Generator<FusedModel> {
  const fitted = fittedModel(form);
  const base = fitted.kind === 'fused' ? fitted : published.h100;
  const count = form.a.columns;
  const isEighth = form.a.type === 'e4m3' || form.a.type === 'e5m2';
  const lengths = [base.blockLength, 16, 8, 4, 32, 2, 1, 64].filter(
    (length, index, all) => length <= count && all.indexOf(length) === index,
  );
  const bits = [base.fractionBits, ...Array.from({ length: 30 }, (_, index) => 10 + index), mostFractionBits];
  const models: Generator<FusedModel> = combinations<FusedModel>(base, {
    subnormalInputs: ['kept', 'flushed'],
    tf32: form.a.type === 'tf32' ? ['truncated', 'nearest'] : ['truncated'],
    eighths: isEighth ? [base.eighths, base.eighths === 'own' ? 'halves' : 'own'] : ['own'],
    zeroProducts: ['ignored', 'counted'],
    blockLength: lengths.length === 0 ? [count] : lengths,
    accumulator: ['fused', 'after', 'end'],
    fractionBits: [...new Set(bits)],
    dealing: ['neighbours', 'turns', 'pairs', 'fours'],
    blockOrder: ['ascending', 'descending'],
    alignment: ['unnormalised', 'normalised'],
    cut: ['truncate', 'floor', 'nearest'],
    rounding: base.rounding === 'rz' ? ['rz', 'rn'] : ['rn', 'rz'],
    resultBits: form.d.type === 'f16' ? [23] : [23, 13],
    between: form.d.type === 'f16' ? ['result', 'f32'] : ['result'],
    narrowing: form.d.type === 'f16' && form.c.type === 'f32' ? ['after', 'atOnce'] : ['atOnce'],
  });
  return distinct(models, count);
}

/** Leaves out those that differ only in how one block is dealt. */
function* distinct(models: Iterable<FusedModel>, count: number): Generator<FusedModel> {
  for (const model of models) {
    const isOne = model.blockLength >= count;
    const length = Math.min(count, model.blockLength);
    if (
      isOne &&
      (model.dealing !== 'neighbours' || model.blockOrder !== 'ascending' || model.between === 'f32')
    )
      continue;
    const run = { neighbours: 0, turns: 1, pairs: 2, fours: 4 }[model.dealing];
    if (run > 0 && run >= length) continue;
    yield model;
  }
}

/** The same structure with every rule for what is no ordinary result. */
export function rules(structure: FusedModel): Generator<FusedModel> {
  return combinations<FusedModel>(structure, {
    nan: ['allOnes', 'quiet'],
    zeroSign: ['positive', 'allNegative'],
    overflow: ['infinity', 'largest'],
    subnormalResults: ['kept', 'flushed'],
  });
}

export function chains(form: TileForm): Generator<ChainModel> {
  const count = form.a.columns;
  return combinations<ChainModel>(doubleChain, {
    blockLength: [1, 4, 2, 8, 16].filter((length) => length <= count),
    order: ['ascending', 'descending'],
    accumulator: ['first', 'end'],
    nan: ['payload', 'negativeQuiet', 'quiet', 'allOnes'],
  });
}

/** f16 by multiply-adds of f32. */
export function scalars(form: TileForm): Generator<ScalarModel> {
  const fitted = fittedModel(form);
  const base: ScalarModel =
    fitted.kind === 'scalar' ? fitted : { kind: 'scalar', blockLength: 4, start: 'nought' };
  return combinations<ScalarModel>(base, { blockLength: [4, 2, 1], start: ['nought', 'product'] });
}

export function integers(form: TileForm): Generator<IntegerModel> {
  const lengths = [4, 8, 16, 32, 64].filter((length) => length < form.a.columns);
  return combinations<IntegerModel>(exactIntegers, {
    clamping: form.satfinite ? ['end', 'blocks'] : ['end'],
    blockLength: form.satfinite ? [form.a.columns, ...lengths] : [form.a.columns],
  });
}
