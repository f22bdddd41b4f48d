import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../../random/index.js';
import type { LaneShape } from '../shapes/index.js';
import { roundsOf } from '../../../../laboratory/testSample/index.js';
import { AccessBench, type AccessOutcome } from '../../../../laboratory/twins/index.js';

const SEEDS = roundsOf(700, 250);

const UNIFORM: LaneShape = { kind: 'uniform' };
const VARYING: LaneShape = { kind: 'varying' };

/** Suffix of the access and type of the register. */
const types = [
  ['u8', 'u16'],
  ['s8', 'u32'],
  ['s8', 's64'],
  ['u16', 'u16'],
  ['s16', 'u32'],
  ['u32', 'u32'],
  ['b32', 'f32'],
  ['f32', 'f32'],
  ['s32', 's64'],
  ['u64', 'u64'],
  ['f64', 'f64'],
  ['b64', 'f64'],
] as const;

const atomicTypes = [
  ['u32', 'u32'],
  ['s32', 'u32'],
  ['b32', 'u32'],
  ['u64', 'u64'],
  ['s64', 's64'],
  ['b64', 'u64'],
] as const;

const bytesOf = (type: string): number => Number(type.slice(1)) / 8;

const SHARED = 256;
const OWN = 48;
const declared = `.shared .align 16 .b8 tile[${SHARED}];\n.local .align 16 .b8 own[${OWN}];`;

/** How `base + index · 8` is written. */
const preludes = [
  'mul.wide.s32 %product, %index, 8;\nadd.s64 %address, %base, %product;',
  'mul.wide.u32 %product, %index, 8;\nadd.u64 %address, %product, %base;',
  'mad.wide.s32 %address, %index, 8, %base;',
  'cvt.s64.s32 %product, %index;\nshl.b64 %product, %product, 3;\nadd.s64 %address, %base, %product;',
  'cvt.u64.u32 %product, %index;\nshl.b64 %address, %product, 3;\nadd.s64 %address, %base, %address;',
  'mul.wide.s32 %product, %index, 8;\nadd.s64 %address, %base, %product;\nadd.u32 %index, %index, 1;',
] as const;

interface Made {
  readonly bench: AccessBench;
  readonly text: string;
  run(how: 'scalar' | 'vector', times: number): AccessOutcome;
}

/** One random access: its text, its registers and the memory that it is aimed at. */
function makeCase(seed: number): Made {
  const random = new SeededRandom(seed);
  const isAtomic = random.chance(0.2);
  const groups = random.pick([1, 2, 4, 8]);
  const lanes = groups * 4;
  const [type, held] = random.pick<readonly [string, string]>(isAtomic ? atomicTypes : types);
  const count = isAtomic ? 1 : bytesOf(type) === 8 ? random.pick([1, 1, 2]) : random.pick([1, 1, 2, 4]);
  const bytes = bytesOf(type) * count;
  const where = random.pick(
    isAtomic
      ? ['global', 'shared', 'generic']
      : ['global', 'global', 'const', 'shared', 'local', 'generic', 'generic'],
  );
  const isStore = isAtomic || (where !== 'const' && random.chance(0.5));
  const kind = random.pick([
    'uniform',
    'neighbours',
    'neighbours',
    'strided',
    'varying',
    'varying',
    'indexed',
  ]);
  const isIndexed = kind === 'indexed' && (where === 'global' || where === 'generic' || where === 'const');
  const isNarrow = (where === 'shared' || where === 'local') && random.chance(0.7);
  const isMasked = random.chance(0.4);
  const stride =
    kind === 'neighbours' ? bytes : random.pick([-2, -1, 2, 3, 5]) * bytes + (random.chance(0.1) ? 1 : 0);
  const offset = random.pick([0, 0, bytes, -bytes, 3 * bytes]);
  const isSame = random.chance(0.3);
  const shape: LaneShape =
    kind === 'uniform'
      ? UNIFORM
      : kind === 'varying' || kind === 'indexed'
        ? VARYING
        : { kind: 'affine', stride };
  const values = Array.from({ length: count }, (_, index) => `%v${index}`);
  const value = count === 1 ? '%v0' : `{${values.join(', ')}}`;
  const space = where === 'generic' ? '' : `.${where}`;
  const suffix = `${space}${count === 1 ? '' : `.v${count}`}.${type}`;
  const target = `[%address${offset === 0 ? '' : `+${offset}`}]`;
  const operation = random.pick(type.startsWith('b') ? ['and', 'or', 'xor'] : ['add', 'min', 'max']);
  const atomic = random.chance(0.5)
    ? `red${space}.${operation}.${type} ${target}, ${value};`
    : `atom${space}.${operation}.${type} _, ${target}, ${value};`;
  const text =
    (isMasked ? '@%active ' : '') +
    (isAtomic ? atomic : isStore ? `st${suffix} ${target}, ${value};` : `ld${suffix} ${value}, ${target};`);
  const bench = new AccessBench({
    declarations:
      `.reg .pred %active;\n.reg .${isNarrow ? 'u32' : 'u64'} %address;\n.reg .${held} %v<4>;\n` +
      '.reg .u64 %base, %product;\n.reg .u32 %index;\n' +
      (where === 'generic' && random.chance(0.5) ? '' : declared),
    instruction: isIndexed ? `${random.pick(preludes)}\n${text}` : text,
    groups,
    joinsNeighbours: random.chance(0.9),
    shapes: {
      '%address': shape,
      '%active': VARYING,
      '%base': UNIFORM,
      ...Object.fromEntries(values.map((name) => [name, isStore && isSame ? UNIFORM : VARYING])),
    },
  });
  const { space: memory } = bench;
  const segments = [
    memory.map(64, 'readWrite'),
    memory.map(random.pick([16, 60, 256]), random.chance(0.3) ? 'read' : 'readWrite'),
    memory.map(1024, 'readWrite'),
  ];
  for (const { virtualAddress, bytes: extent } of segments) {
    const view = memory.view(virtualAddress, extent);
    for (let at = 0; at < extent; at++) view[at] = random.below(256);
  }
  for (let at = 0; at < 4096; at++) bench.fill(at, random.below(256));
  const windows = where === 'generic' ? 2 ** 32 : 0;
  const spot = (): { base: number; extent: number } => {
    if (where === 'shared' || (where === 'generic' && random.chance(0.2)))
      return { base: windows, extent: SHARED };
    if (where === 'local' || (where === 'generic' && random.chance(0.2)))
      return { base: 2 * windows, extent: OWN };
    const segment = random.pick(segments);
    return { base: segment.virtualAddress, extent: segment.bytes };
  };
  const somewhere = (): number => {
    const { base, extent } = spot();
    // Mostly inside and aligned; sometimes over an edge, sometimes off the grid, sometimes nowhere.
    const last = Math.floor(extent / bytes);
    const place =
      base + bytes * random.between(random.chance(0.1) ? -2 : 0, last + (random.chance(0.1) ? 1 : -1));
    if (random.chance(0.01)) return place + 1;
    return random.chance(0.01) ? random.below(64) : place;
  };
  const home = spot();
  const own = segments.find(({ virtualAddress }) => virtualAddress === home.base) ?? random.pick(segments);
  const isAllowed = own.bytes >= bytes && (!isStore || own.permission === 'readWrite');
  if (isAllowed && random.chance(0.7)) bench.warm(own, bytes);
  const reach = kind === 'uniform' || kind === 'varying' || kind === 'indexed' ? 0 : stride * (lanes - 1);
  const room = Math.max(0, home.extent - Math.abs(reach) - bytes);
  const first =
    home.base +
    (reach < 0 ? -reach : 0) +
    bytes *
      random.between(random.chance(0.15) ? -1 : 0, Math.floor(room / bytes) + (random.chance(0.15) ? 1 : 0));
  // Bases off the segment on either side, some of them off the grid.
  const origin = home.base + 8 * random.between(-40, 40) + (random.chance(0.05) ? 4 : 0);
  const isScattered = random.chance(0.3);
  // One lane of otherwise allowed ones just outside.
  const edgeLane = random.chance(0.4) ? random.below(lanes) : -1;
  for (let lane = 0; lane < lanes; lane++) {
    const places = Math.floor(home.extent / bytes);
    const place = lane === edgeLane ? random.pick([-1, places]) : random.below(Math.max(1, places));
    const inHome = home.base + bytes * place;
    const address =
      kind === 'uniform'
        ? first
        : kind === 'varying' || kind === 'indexed'
          ? isScattered
            ? somewhere()
            : inHome
          : first + lane * stride;
    bench.setRegister('%address', lane, BigInt(address - offset));
    if (isIndexed) {
      const scaled = Math.floor((address - offset - origin) / 8);
      bench.setRegister('%index', lane, BigInt.asUintN(32, BigInt(scaled)));
      bench.setRegister('%base', lane, BigInt(origin));
    }
    const all = random.chance(0.5);
    bench.setRegister('%active', lane, all || random.chance(0.5) ? 1n : 0n);
    for (const name of values) {
      const bits = (BigInt(random.word() >>> 0) << 32n) | BigInt(random.word() >>> 0);
      const value = random.chance(0.1) ? 0x7f812345_7f812345n : bits;
      bench.setRegister(name, lane, held === 'u16' ? value & 0xffffn : value);
    }
    if (isStore && isSame) for (const name of values) bench.copyRegister(name, lane);
  }
  return {
    bench,
    text: `${text} ${kind} ${stride} x${lanes}`,
    run: (how, times) => {
      const outcome = bench.run(how, times);
      // Where a lane faults, those before it may or may not have changed memory.
      return isAtomic && outcome.fault !== undefined ? { ...outcome, memory: [] } : outcome;
    },
  };
}

describe('VectorMemoryEmitter', () => {
  it('moves, counts and faults as lane after lane does', () => {
    let vectors = 0;
    let faults = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const made = makeCase(seed);
      if (!made.bench.isVector) continue;
      vectors += 1;
      // Twice: the second time the cached segment is there.
      for (const times of [1, 2]) {
        const expected = made.run('scalar', times);
        if (expected.fault !== undefined) faults += 1;
        expect({ seed, text: made.text, ...made.run('vector', times) }).toEqual({
          seed,
          text: made.text,
          ...expected,
        });
      }
    }
    expect(vectors).toBeGreaterThan(0.7 * SEEDS);
    expect(faults).toBeGreaterThan(0.15 * SEEDS);
  });
});
