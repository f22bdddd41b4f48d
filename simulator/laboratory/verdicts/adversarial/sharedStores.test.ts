import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AllocationMap, analyzeKernel } from '../../../idempotency/index.js';
import { validatorInMode } from '../../validatorModes/index.js';
import { parseModule } from '../../../ptx/index.js';
import { judgePlaced, OracleBench } from '../oracles/index.js';

const file = 'sharedStores.ptx';
const ir = parseModule(readFileSync(new URL(file, import.meta.url), 'utf8'), file);
const bench = new OracleBench();
const [IN, OUT, ARENA_BYTES] = [0, 4096, 8192];

const row = [64, 1, 1] as const;
const rows = [16, 4, 1] as const;

describe('stores to shared memory by several threads', () => {
  it.each([
    ['racesOnOne', row, false],
    ['racesOnCondition', row, false],
    ['racesByNeighbours', row, false],
    ['racesOfTwo', row, false],
    ['racesByStride', row, false],
    ['racesByRows', rows, false],
    ['sameForAll', row, true],
    ['eachItsOwn', row, true],
    ['eachOfSeveralRows', rows, true],
    ['firstLanes', row, true],
    ['firstLanes', rows, false],
  ] as const)('%s in blocks of %j', (entry, block, expected) => {
    const summary = analyzeKernel(ir, entry);
    const words = Uint32Array.from({ length: ARENA_BYTES / 4 }, (_, at) => (at * 7) % 23);
    const parameters = ir.functions.find(({ name }) => name === entry)?.parameters ?? [];
    const pointers = parameters.filter(({ bytes }) => bytes === 8).length;
    const args = parameters.map(({ bytes }, index) => {
      const isOut = index === pointers - 1;
      const at = [{ at: 0, allocation: 0, offset: isOut ? OUT : IN }];
      return { bytes: new Uint8Array(bytes).fill(bytes === 4 ? 1 : 0), pointers: bytes === 8 ? at : [] };
    });
    const shape = { grid: [2, 1, 1], block, dynamicSharedBytes: 0 } as const;
    const allocations = [{ bytes: new Uint8Array(words.buffer) }];
    bench.with({ ir, entry, shape, allocations, args }, (placed) => {
      const { module, params } = placed.launch;
      const base = placed.addresses[0] ?? 0;
      const memory = new AllocationMap([{ virtualAddress: base, bytes: ARENA_BYTES }]);
      const launch = { params, shape, symbols: module.symbols, allocations: memory };
      const validator = validatorInMode(summary);
      const told = validator.explain(launch);
      const judgement = judgePlaced(placed, { kills: 24 });
      if (judgement.kind === 'fault') throw new Error(judgement.fault.message);
      if (told.idempotent) expect(judgement.idempotent).toBe(true);
      if (expected) expect(told.text).not.toMatch(/two runs may see differently|rows/);
      else expect(told.text).toMatch(/two runs may see differently|rows/);
    });
  });

  it('kills tell that such races matter', () => {
    const shape = { grid: [2, 1, 1], block: row, dynamicSharedBytes: 0 } as const;
    const args = [{ bytes: new Uint8Array(8), pointers: [{ at: 0, allocation: 0, offset: OUT }] }];
    const instance = {
      ir,
      entry: 'racesOnOne',
      shape,
      allocations: [{ bytes: new Uint8Array(ARENA_BYTES) }],
      args,
    };
    bench.with(instance, (placed) => {
      const seeds = Array.from({ length: 12 }, (_, index) => index + 1);
      const all = seeds.map((seed) => judgePlaced(placed, { kills: 32, seed }));
      expect(all.some((each) => each.kind === 'judged' && !each.idempotent)).toBe(true);
    });
  });
});
