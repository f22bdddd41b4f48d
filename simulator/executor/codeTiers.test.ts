import { describe, expect, it } from 'vitest';
import type { CodeForm } from './compiler/index.js';
import { CodeTiers } from './runtime/codeTiers.js';
import type { ReadyKernel } from './runtime/kernelCache.js';
import { LaunchBench } from './tests/launchBench.js';

/** Lanes below 7 of each warp go another way. */
const PARTS = `.version 9.0
.target sm_90
.address_size 64
.visible .entry k() {
.reg .pred %p<2>;
.reg .b32 %r<4>;
mov.u32 %r1, %laneid;
setp.lt.u32 %p1, %r1, 7;
@%p1 bra L;
add.u32 %r1, %r1, 1;
L: ret;
}`;

const { launch } = new LaunchBench().place(PARTS);
/** Enough to judge by. */
const MANY = 1_000_000;
const groupsOf = ({ form }: { form: CodeForm }): number | undefined => form.groups;

/** @param coming groups of the code that another thread is making; all else is there */
function tiers(coming: ReadonlySet<number> = new Set()): CodeTiers {
  const made = new Map<string, ReadyKernel>();
  const get = (_module: unknown, _fn: unknown, form: CodeForm): ReadyKernel => {
    const key = String(form.groups);
    const kernel =
      made.get(key) ?? ({ compiled: { mayGoTogether: true, groups: form.groups } } as ReadyKernel);
    made.set(key, kernel);
    return kernel;
  };
  const isToCome = (_module: unknown, _fn: unknown, { groups = 0 }: CodeForm): boolean => coming.has(groups);
  const hasHere = (_fn: unknown, { groups = 0 }: CodeForm): boolean => !coming.has(groups);
  return new CodeTiers({ get, has: (_module, fn, form) => hasHere(fn, form), hasHere, isToCome }, {});
}

/** Runs that waste so much of their lanes, in the code that is chosen. */
function run(
  choice: CodeTiers,
  waste: { readonly apart?: number; readonly idle?: number },
  all = MANY,
): void {
  const { apart = 0, idle = 0 } = waste;
  choice.countUse(choice.first(launch), launch, { all, apart: apart * all, idle: idle * all });
}

describe('the code that a kernel runs in', () => {
  it('is that for wide chunks while few lanes leave them', () => {
    const choice = tiers();
    run(choice, { apart: 0.1, idle: 0.04 });
    expect(groupsOf(choice.first(launch))).toBe(8);
  });

  it.each([{ apart: 0.3 }, { idle: 0.9 }])(
    'is that for narrow chunks once wide ones waste much: %o',
    (waste) => {
      const choice = tiers();
      run(choice, waste, 1000);
      expect(groupsOf(choice.first(launch))).toBe(8);
      run(choice, waste);
      expect(groupsOf(choice.first(launch))).toBe(1);
      run(choice, { idle: 0.1 });
      expect(groupsOf(choice.first(launch))).toBe(1);
    },
  );

  it('is that for single lanes once narrow chunks waste much, too', () => {
    const choice = tiers();
    run(choice, { idle: 0.9 });
    run(choice, { idle: 0.6 });
    expect(groupsOf(choice.first(launch))).toBe(0);
    expect(choice.first(launch).enough).toBeUndefined();
  });

  it('is that for wide chunks again when narrow ones waste as much', () => {
    const choice = tiers();
    run(choice, { apart: 0.3 });
    run(choice, { apart: 0.29 });
    expect(groupsOf(choice.first(launch))).toBe(8);
    run(choice, { apart: 0.4 });
    expect(groupsOf(choice.first(launch))).toBe(8);
  });

  it('stays what it is while another thread makes what is better, and is judged by that', () => {
    const coming = new Set([1]);
    const choice = tiers(coming);
    run(choice, { idle: 0.9 });
    for (let time = 0; time < 3; time++) {
      expect(groupsOf(choice.first(launch))).toBe(8);
      run(choice, { idle: 0.9 });
    }
    coming.delete(1);
    expect(groupsOf(choice.first(launch))).toBe(1);
    run(choice, { idle: 0.1 });
    expect(groupsOf(choice.first(launch))).toBe(1);
    coming.add(0);
    run(choice, { idle: 0.9 }, 4 * MANY);
    expect(groupsOf(choice.first(launch))).toBe(8);
    coming.delete(0);
    expect(groupsOf(choice.first(launch))).toBe(0);
  });
});
