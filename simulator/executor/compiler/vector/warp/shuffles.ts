import type { IrInstruction, IrOperand } from '../../../../ptx/index.js';
import { WARP_SIZE } from '../../area/index.js';
import { WARP_GROUPS, type WarpValues } from './warpValues.js';

/** From which lane each lane takes its value, and whether that lies within bounds. */
interface Sources {
  readonly lanes: readonly number[];
  readonly valid: readonly boolean[];
}

/** The sources of a shuffle whose distance and bounds are immediates. */
function knownSources({ modifiers, sources }: IrInstruction): Sources | undefined {
  const [, by, clamp] = sources;
  if (by?.kind !== 'integer' || clamp?.kind !== 'integer') return undefined;
  const distance = by.low & 31;
  const segment = (clamp.low >>> 8) & 31;
  const bound = clamp.low & 31;
  const lanes: number[] = [];
  const valid: boolean[] = [];
  for (let lane = 0; lane < WARP_SIZE; lane++) {
    const last = (lane & segment) | (bound & ~segment);
    const source = sourceOf(modifiers, lane, distance, segment);
    const isValid = modifiers.includes('up') ? source >= last : source <= last;
    lanes.push(isValid ? source : lane);
    valid.push(isValid);
  }
  return { lanes, valid };
}

function sourceOf(modifiers: readonly string[], lane: number, distance: number, segment: number): number {
  if (modifiers.includes('up')) return lane - distance;
  if (modifiers.includes('down')) return lane + distance;
  if (modifiers.includes('bfly')) return lane ^ distance;
  return (lane & segment) | (distance & ~segment);
}

export function emitShuffle(values: WarpValues, instruction: IrInstruction): void {
  const known = knownSources(instruction);
  if (known !== undefined) emitKnown(values, instruction, known);
  else emitGathered(values, instruction);
}

function emitKnown(values: WarpValues, { sources: [value] }: IrInstruction, { lanes, valid }: Sources): void {
  const { f } = values;
  const [first = 0] = lanes;
  if (lanes.every((lane) => lane === first)) {
    values.use(value, 'b32', first >> 2);
    f.simdLane('i32x4ExtractLane', first & 3);
    values.giveUniform('value');
  } else {
    const held = groupsOf(values, value);
    for (let group = 0; group < WARP_GROUPS; group++) {
      pushPermuted(values, held, lanes.slice(4 * group, 4 * group + 4));
      values.give('value', group);
    }
  }
  for (let group = 0; group < WARP_GROUPS; group++) {
    const of = (lane: number): number => (valid[4 * group + lane] === true ? -1 : 0);
    f.v128(of(0), of(1), of(2), of(3));
    values.give('predicate', group);
  }
}

/** Reads all lanes before any is given its result. */
function groupsOf(values: WarpValues, value: IrOperand | undefined): number[] {
  return Array.from({ length: WARP_GROUPS }, (_, group) => {
    const local = values.temporary(`shuffled ${group}`, 'v128');
    values.use(value, 'b32', group);
    values.f.set(local);
    return local;
  });
}

/** Pushes four lanes of those that the locals hold. */
function pushPermuted({ f }: WarpValues, held: readonly number[], lanes: readonly number[]): void {
  const groups = [...new Set(lanes.map((lane) => lane >> 2))];
  const [first = 0] = groups;
  f.get(held[first] ?? 0);
  const isInPlace = lanes.every((lane, index) => lane >> 2 !== first || (lane & 3) === index);
  if (groups.length === 1 && isInPlace) return;
  const rest = groups.length === 1 ? [first] : groups.slice(1);
  rest.forEach((group, step) => {
    f.get(held[group] ?? 0);
    const words = lanes.map((lane, index) => {
      if (lane >> 2 === group && groups.length > 1) return 4 + (lane & 3);
      return step === 0 && lane >> 2 === first ? lane & 3 : index;
    });
    const [a = 0, b = 0, c = 0, d = 0] = words;
    f.shuffleWords(a, b, c, d);
  });
}

/** Sources that only the run knows: each lane's value is loaded from where they lie side by side. */
function emitGathered(values: WarpValues, { modifiers, sources }: IrInstruction): void {
  const { f } = values;
  const [value, by, clamp] = sources;
  const local = (name: string): number => values.temporary(`shuffle ${name}`, 'v128');
  const [lane, distance, segment, last, source, valid, taken] = [
    local('lane'),
    local('distance'),
    local('segment'),
    local('last'),
    local('source'),
    local('valid'),
    local('taken'),
  ];
  const place = values.place(value, 'b32');
  const results: number[] = [];
  const valids: number[] = [];
  const push31 = (): void => {
    f.i32(31).simd('i32x4Splat').simd('v128And');
  };
  for (let group = 0; group < WARP_GROUPS; group++) {
    f.v128(4 * group, 4 * group + 1, 4 * group + 2, 4 * group + 3).set(lane);
    values.use(by, 'b32', group);
    push31();
    f.set(distance);
    values.use(clamp, 'b32', group);
    f.i32(8).simd('i32x4ShrU');
    push31();
    f.set(segment).get(lane).get(segment).simd('v128And');
    values.use(clamp, 'b32', group);
    push31();
    f.get(segment).simd('v128AndNot').simd('v128Or').set(last);
    if (modifiers.includes('up'))
      f.get(lane).get(distance).simd('i32x4Sub').tee(source).get(last).simd('i32x4GeS');
    else {
      if (modifiers.includes('down')) f.get(lane).get(distance).simd('i32x4Add');
      else if (modifiers.includes('bfly')) f.get(lane).get(distance).simd('v128Xor');
      else {
        f.get(lane).get(segment).simd('v128And');
        f.get(distance).get(segment).simd('v128AndNot').simd('v128Or');
      }
      f.tee(source).get(last).simd('i32x4LeS');
    }
    f.set(valid).get(source).get(lane).get(valid).simd('v128Bitselect');
    f.i32(2).simd('i32x4Shl').get(place.base).simd('i32x4Splat').simd('i32x4Add').set(source);
    f.v128(0, 0, 0, 0).set(taken);
    for (let each = 0; each < 4; each++) {
      f.get(source).simdLane('i32x4ExtractLane', each).get(taken);
      f.simdMemoryLane('v128Load32Lane', place.offset, each).set(taken);
    }
    const result = values.temporary(`shuffled ${group}`, 'v128');
    f.get(taken).set(result);
    results.push(result);
    const kept = values.temporary(`valid ${group}`, 'v128');
    f.get(valid).set(kept);
    valids.push(kept);
  }
  results.forEach((result, group) => {
    f.get(result);
    values.give('value', group);
  });
  valids.forEach((kept, group) => {
    f.get(kept);
    values.give('predicate', group);
  });
}
