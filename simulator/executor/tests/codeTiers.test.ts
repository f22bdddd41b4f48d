import { describe, expect, it } from 'vitest';
import type { CodeForm } from '../compiler/index.js';
import { CodeTiers } from '../runtime/codeTiers.js';
import type { ReadyKernel } from '../runtime/kernelCache.js';
import { LaunchBench } from './launchBench.js';

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
const groupsOf = ({ form }: { form: CodeForm }): number | undefined => form.groups;

/** Kernels that are there in every form. */
function tiers(): CodeTiers {
  const made = new Map<string, ReadyKernel>();
  const get = (_module: unknown, _fn: unknown, form: CodeForm): ReadyKernel => {
    const key = String(form.groups);
    const kernel = made.get(key) ?? ({ compiled: { mayGoTogether: true } } as ReadyKernel);
    made.set(key, kernel);
    return kernel;
  };
  return new CodeTiers({ get, has: () => true, hasHere: () => true }, {});
}

describe('the code that a kernel runs in', () => {
  it('is that for lanes together while they stay together', () => {
    const choice = tiers();
    choice.countPasses(choice.first(launch), launch.kernel, { all: 30_000, apart: 9_000 });
    expect(groupsOf(choice.first(launch))).toBe(8);
  });

  it('is that for single lanes once many have parted', () => {
    const choice = tiers();
    choice.countPasses(choice.first(launch), launch.kernel, { all: 9_000, apart: 9_000 });
    expect(groupsOf(choice.first(launch))).toBe(8);
    choice.countPasses(choice.first(launch), launch.kernel, { all: 9_000, apart: 0 });
    expect(groupsOf(choice.first(launch))).toBe(0);
    expect(choice.first(launch).enough).toBeUndefined();
  });
});
