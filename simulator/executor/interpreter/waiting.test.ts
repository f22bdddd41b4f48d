import { describe, expect, it } from 'vitest';
import { parseModule } from '../../ptx/index.js';
import type { ExecutorLaunch, RunResult } from '../types.js';
import { FixtureBench } from './tests/fixtureBench.js';
import { ReferenceInterpreter } from './index.js';

const FUEL = 400_000;

function bench(body: string): FixtureBench {
  const text = `.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_out)
{
.reg .pred %p<4>;
.reg .b32 %r<8>;
.reg .b64 %q<4>;
.shared .align 16 .b8 s[512];
ld.param.u64 %q0, [k_out];
mov.u32 %r0, %tid.x;
mov.u32 %r1, %ctaid.x;
mul.wide.u32 %q1, %r0, 4;
add.u64 %q1, %q0, %q1;
${body}
ret;
}
`;
  return new FixtureBench(parseModule(text, 'k.ptx'));
}

function run(
  body: string,
  threads: number,
  options: { readonly blocks?: number; readonly cooperative?: boolean; readonly words?: number } = {},
): { readonly result: RunResult; readonly out: number[]; readonly launch: ExecutorLaunch } {
  const { blocks = 1, cooperative = false, words = threads } = options;
  const fixture = bench(body);
  const out = fixture.upload(new Int32Array(words));
  const launch = { ...fixture.launch('k', [blocks, 1, 1], [threads, 1, 1], [out]), cooperative };
  const result = new ReferenceInterpreter().run(launch, { lo: 0, hi: blocks }, 'observed', FUEL);
  return { result, out: fixture.ints(out, words), launch };
}

function codeOf(result: RunResult): string {
  return result.status === 'fault' ? result.fault.code : result.status;
}

const lanes = (count: number) => Array.from({ length: count }, (_, lane) => lane);

describe('barriers', () => {
  it('count and join the predicates of a block', () => {
    const { out } = run(
      `setp.lt.u32 %p0, %r0, 40;
bar.red.popc.u32 %r2, 3, 64, %p0;
bar.red.and.pred %p1, 0, %p0;
barrier.red.or.pred %p2, 0, !%p0;
selp.b32 %r3, 100, 0, %p1;
add.u32 %r2, %r2, %r3;
selp.b32 %r3, 1000, 0, %p2;
add.u32 %r2, %r2, %r3;
st.global.u32 [%q1], %r2;`,
      64,
    );
    expect(out).toEqual(Array<number>(64).fill(1040));
  });

  it('let one warp arrive and go on where another waits', () => {
    const { out } = run(
      `mov.u32 %r4, s;
mad.lo.u32 %r4, %r0, 4, %r4;
setp.ge.u32 %p0, %r0, 32;
@%p0 bra CONSUMER;
st.shared.u32 [%r4], %r0;
bar.arrive 2, 64;
ret;
CONSUMER:
bar.sync 2, 64;
ld.shared.u32 %r2, [%r4+-128];
st.global.u32 [%q1], %r2;`,
      64,
    );
    expect(out.slice(32)).toEqual(lanes(32));
  });

  it('that no number of threads can open are a deadlock', () => {
    const { result } = run('setp.ge.u32 %p0, %r0, 32;\n@%p0 ret;\nbar.sync 1, 64;', 64);
    expect(codeOf(result)).toBe('deadlock');
  });

  it('refuse a number or count that there is none of', () => {
    expect(codeOf(run('add.u32 %r2, %r0, 16;\nbar.sync %r2;', 32).result)).toBe('illegalInstruction');
    expect(codeOf(run('mov.u32 %r2, 33;\nbar.sync 1, %r2;', 64).result)).toBe('illegalInstruction');
  });
});

describe('threads that wait for others through memory', () => {
  it('spin for a lane of their own warp', () => {
    const { result, out } = run(
      `setp.eq.u32 %p0, %r0, 7;
@%p0 bra GIVE;
WAIT:
ld.volatile.global.u32 %r2, [%q0+128];
setp.eq.u32 %p1, %r2, 0;
@%p1 bra WAIT;
bra DONE;
GIVE:
mov.u32 %r2, 5;
st.volatile.global.u32 [%q0+128], %r2;
DONE:
st.global.u32 [%q1], %r2;`,
      32,
      { words: 33 },
    );
    expect(codeOf(result)).toBe('done');
    expect(out).toEqual(Array<number>(33).fill(5));
  });

  it.each([false, true])('spin for a later block (cooperative: %s)', (cooperative) => {
    const { result } = run(
      `setp.eq.u32 %p0, %r1, 3;
@%p0 st.volatile.global.u32 [%q0], %r1;
WAIT:
ld.volatile.global.u32 %r2, [%q0];
setp.ne.u32 %p1, %r2, 3;
@%p1 bra WAIT;`,
      1,
      { blocks: 4, cooperative },
    );
    expect(codeOf(result)).toBe('done');
  });

  it('end by their fuel when nobody comes', () => {
    const { result } = run(
      'WAIT:\nld.volatile.global.u32 %r2, [%q0];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra WAIT;',
      1,
    );
    expect(codeOf(result)).toBe('fuelExhausted');
  });
});

describe('single instructions', () => {
  it('branch by table, copy asynchronously, elect', () => {
    const { out } = run(
      `and.b32 %r2, %r0, 3;
T: .branchtargets A, B, A, C;
brx.idx %r2, T;
A: mov.u32 %r3, 10; bra END;
B: mov.u32 %r3, 20; bra END;
C: mov.u32 %r3, 30;
END:
elect.sync %r4|%p0, 0xffffffff;
@%p0 add.u32 %r3, %r3, 1;
st.global.u32 [%q1], %r3;
mov.u32 %r5, s;
mad.lo.u32 %r5, %r0, 4, %r5;
mov.u32 %r6, 2;
cp.async.ca.shared.global [%r5], [%q1], 4, %r6;
cp.async.wait_all;
ld.shared.u32 %r6, [%r5];
add.u32 %r3, %r3, %r6;
st.global.u32 [%q1], %r3;`,
      32,
    );
    expect(out).toEqual(
      lanes(32).map((lane) => 2 * ([10, 20, 10, 30][lane & 3] ?? 0) + (lane === 0 ? 2 : 0)),
    );
  });

  it('fault for an index outside the table', () => {
    expect(codeOf(run('T: .branchtargets A;\nmov.u32 %r2, 1;\nbrx.idx %r2, T;\nA:', 1).result)).toBe(
      'illegalInstruction',
    );
  });
});

describe('the journal', () => {
  const body = `ld.global.u32 %r2, [%q1];
add.u32 %r2, %r2, 3;
st.global.u32 [%q1], %r2;
atom.global.add.u32 %r3, [%q0], 1;
st.global.u32 [%q1+4], %r3;`;

  it('rolls back to what a run holds that stops there, at every position', () => {
    const fixture = bench(body);
    const length = 9;
    const total = 8 * 11;
    for (let position = 0; position <= total; position++) {
      const [whole, stopped] = [
        fixture.upload(new Int32Array(length)),
        fixture.upload(new Int32Array(length)),
      ];
      const launchOf = (address: number) => fixture.launch('k', [1, 1, 1], [8, 1, 1], [address]);
      const interpreter = new ReferenceInterpreter();
      const { journal } = interpreter.run(launchOf(whole), { lo: 0, hi: 1 }, 'observed', FUEL);
      expect(journal?.positions).toBe(total);
      journal?.rollBack(position);
      interpreter.runUntil(launchOf(stopped), { lo: 0, hi: 1 }, position, FUEL);
      expect(fixture.ints(whole, length), `position ${position}`).toEqual(fixture.ints(stopped, length));
      journal?.rollBack(0);
      expect(fixture.ints(whole, length)).toEqual(Array<number>(length).fill(0));
    }
  });
});
