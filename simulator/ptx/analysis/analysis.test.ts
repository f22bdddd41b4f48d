import { describe, expect, it } from 'vitest';
import {
  analyzeLiveness,
  analyzeLoops,
  dominates,
  dominators,
  parseModule,
  postDominators,
} from '../index.js';
import type { IrFunction } from '../index.js';

function parse(body: string): IrFunction {
  const text = `.version 9.0\n.target sm_90\n.address_size 64\n.entry k() { .reg .pred %p<9>; .reg .b32 %r<9>;\n${body}\n}`;
  const fn = parseModule(text, 'k.ptx').functions[0];
  if (fn === undefined || fn.refusal !== undefined) throw new Error('not a kernel');
  return fn;
}

const names = (fn: IrFunction, registers: readonly number[]) =>
  registers.map((each) => fn.registers[each]?.name).sort();

//          0 → 1 → 2 ⇄ 3, 2 → 4 and 1 → 4
const nested = `
  @%p0 bra DONE;
  OUTER: add.s32 %r0, %r0, 1;
  INNER: add.s32 %r1, %r1, %r0;
  @%p1 bra INNER;
  @%p2 bra OUTER;
  DONE: ret;`;

const irreducible = `
  @%p0 bra B;
  A: add.s32 %r0, %r0, 1;
  B: @%p1 bra A;
  ret;`;

/** Dominance by definition: `above` dominates `below` when removing it cuts `below` off. */
function dominatesByRemoval(fn: IrFunction, above: number, below: number): boolean {
  if (above === 0 || above === below) return true;
  const seen = new Set([0]);
  const work = [0];
  for (let block = work.pop(); block !== undefined; block = work.pop()) {
    for (const next of fn.blocks[block]?.successors ?? []) {
      if (next === above || seen.has(next)) continue;
      seen.add(next);
      work.push(next);
    }
  }
  return !seen.has(below);
}

describe('dominators', () => {
  it.each([nested, irreducible])('agree with their definition', (body) => {
    const fn = parse(body);
    const tree = dominators(fn);
    for (const { index: above } of fn.blocks) {
      for (const { index: below } of fn.blocks) {
        expect([above, below, dominates(tree, above, below)]).toEqual([
          above,
          below,
          dominatesByRemoval(fn, above, below),
        ]);
      }
    }
  });

  it('gives the join of an if as its post-dominator, and the exit where paths end apart', () => {
    const fn = parse('@%p0 bra ELSE; mov.u32 %r0, 1; bra JOIN; ELSE: mov.u32 %r0, 2; JOIN: @%p1 ret; exit;');
    const { immediate } = postDominators(fn);
    expect([...immediate]).toEqual([3, 3, 3, 5, 5, -1]);
  });

  it('gives every block of an endless loop a post-dominator', () => {
    const fn = parse('@%p0 bra OUT; L: mov.u32 %r0, 1; bra L; OUT: ret;');
    const { immediate } = postDominators(fn);
    expect([...immediate].slice(0, -1).every((block) => block >= 0)).toBe(true);
  });
});

describe('loops', () => {
  it('finds nested loops with their depth', () => {
    const { loops, isReducible, backEdges } = analyzeLoops(parse(nested));
    expect(isReducible).toBe(true);
    expect(backEdges).toEqual([
      [2, 2],
      [3, 1],
    ]);
    expect(loops.map(({ header, blocks, depth }) => [header, blocks, depth])).toEqual([
      [1, [1, 2, 3], 1],
      [2, [2], 2],
    ]);
  });

  it('tells an irreducible cycle', () => {
    const { isReducible, backEdges, retreatingEdges } = analyzeLoops(parse(irreducible));
    expect(isReducible).toBe(false);
    expect(backEdges).toEqual([]);
    expect(retreatingEdges).toHaveLength(1);
  });
});

describe('liveness', () => {
  it('keeps what a loop still reads alive around it', () => {
    const fn = parse(nested);
    const { liveIn, liveOut } = analyzeLiveness(fn);
    expect(names(fn, liveIn[2]?.members() ?? [])).toEqual(['%p1', '%p2', '%r0', '%r1']);
    expect(names(fn, liveOut[4]?.members() ?? [])).toEqual([]);
  });

  it('ends a life at a plain write, not at a guarded one', () => {
    const fn = parse('mov.u32 %r0, 1; @%p0 mov.u32 %r1, 2; add.s32 %r2, %r0, %r1;');
    const liveness = analyzeLiveness(fn);
    expect(names(fn, liveness.before(0).members())).toEqual(['%p0', '%r1']);
    expect(names(fn, liveness.before(2).members())).toEqual(['%r0', '%r1']);
    expect(liveness.pointsOf(0)).toHaveLength(5);
    expect(liveness.before(3).members()).toEqual([]);
  });
});
