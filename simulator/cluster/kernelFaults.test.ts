import { describe, expect, it } from 'vitest';
import type { FaultCode } from '../executor/index.js';
import { VirtualClock } from '../time/index.js';
import { GpuNode } from './index.js';
import { Session, pointerParams } from './tests/session.js';

const THREADS = 64;
const BLOCKS = 150;
/** Block and thread that misbehave; all others do as they should. */
const BLOCK = 5;
const THREAD = 37;

/** A kernel of a pointer and a number in which one thread does something else than the others. */
function kernelText(mistake: string, declarations = ''): string {
  return `.version 9.0
.target sm_90
.address_size 64
.const .align 4 .u32 fixed = 7;
.visible .entry bad(.param .u64 p, .param .u32 n)
{
.reg .pred %p<4>;
.reg .b32 %r<8>;
.reg .b64 %rd<8>;
${declarations}
ld.param.u64 %rd1, [p];
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %tid.x;
setp.ne.u32 %p1, %r1, ${BLOCK};
@%p1 bra END;
setp.ne.u32 %p2, %r2, ${THREAD};
${mistake}
END:
ret;
}
`;
}

/** Each thread writes n + its index: what the bystanders run. */
const fill = `.version 9.0
.target sm_90
.address_size 64
.visible .entry fill(.param .u64 p, .param .u32 n)
{
.reg .b32 %r<8>;
.reg .b64 %rd<4>;
ld.param.u64 %rd1, [p];
ld.param.u32 %r1, [n];
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %ntid.x;
mov.u32 %r4, %tid.x;
mad.lo.s32 %r5, %r2, %r3, %r4;
mul.wide.u32 %rd2, %r5, 4;
add.s64 %rd3, %rd1, %rd2;
add.s32 %r6, %r5, %r1;
st.global.u32 [%rd3], %r6;
ret;
}
`;

interface Mistake {
  readonly name: string;
  readonly code: FaultCode;
  readonly text: string;
  /** Part of the line at fault. */
  readonly at: string;
  /** The pointer that the kernel is given: of a buffer of 256 bytes, of one that was freed, or null. */
  readonly pointer: 'buffer' | 'freed' | 'null';
  /** Address told, counted from the pointer; or an offset of shared or local memory. */
  readonly address?: number;
  /** A fault of several threads may be told for any of them. */
  readonly isOfMany?: boolean;
}

const mistakes: readonly Mistake[] = [
  {
    name: 'a null pointer',
    code: 'illegalAddress',
    text: kernelText('@!%p2 st.global.u32 [%rd1], %r2;'),
    at: 'st.global',
    pointer: 'null',
    address: 0,
  },
  {
    name: 'one byte past the end',
    code: 'illegalAddress',
    text: kernelText('@!%p2 ld.global.u8 %r3, [%rd1+256];'),
    at: 'ld.global',
    pointer: 'buffer',
    address: 256,
  },
  {
    name: 'a misaligned address',
    code: 'misalignedAddress',
    text: kernelText('@!%p2 ld.global.u32 %r3, [%rd1+6];'),
    at: 'ld.global',
    pointer: 'buffer',
    address: 6,
  },
  {
    name: 'freed memory',
    code: 'illegalAddress',
    text: kernelText('@!%p2 atom.global.add.u32 %r3, [%rd1+8], 1;'),
    at: 'atom.global',
    pointer: 'freed',
    address: 8,
  },
  {
    name: 'a write to constant memory',
    code: 'writeToReadOnly',
    text: kernelText('mov.u64 %rd2, fixed;\ncvta.const.u64 %rd3, %rd2;\n@!%p2 st.u32 [%rd3], %r2;'),
    at: 'st.u32',
    pointer: 'buffer',
  },
  {
    name: 'shared memory past its end',
    code: 'sharedOutOfBounds',
    text: kernelText('@!%p2 st.shared.u32 [s+128], %r2;', '.shared .align 4 .b8 s[128];'),
    at: 'st.shared',
    pointer: 'buffer',
    address: 128,
  },
  {
    name: 'local memory past its end',
    code: 'localOutOfBounds',
    text: kernelText('mov.u64 %rd2, l;\n@!%p2 st.local.u32 [%rd2+64], %r2;', '.local .align 4 .b8 l[64];'),
    at: 'st.local',
    pointer: 'buffer',
    address: 64,
  },
  {
    name: 'a barrier in divergent code',
    code: 'divergentBarrier',
    text: kernelText('@!%p2 bra SKIP;\nbar.sync 0;\nSKIP:\nst.global.u32 [%rd1], %r2;'),
    at: 'bar.sync',
    pointer: 'buffer',
    isOfMany: true,
  },
  {
    name: 'an endless loop',
    code: 'fuelExhausted',
    text: kernelText('LOOP:\nadd.s32 %r3, %r3, 1;\n@!%p2 bra LOOP;'),
    at: 'bra LOOP',
    pointer: 'buffer',
  },
  {
    name: 'a trap',
    code: 'trap',
    text: kernelText('@!%p2 trap;'),
    at: 'trap',
    pointer: 'buffer',
  },
];

function lineOf(text: string, part: string): number {
  return text.slice(0, text.indexOf(part)).split('\n').length;
}

function launch(module: number, kernel: string, blocks: number, params: Uint8Array) {
  return {
    module,
    kernel,
    grid: [blocks, 1, 1] as const,
    block: [THREADS, 1, 1] as const,
    dynamicSharedBytes: 0,
    params,
  };
}

/** A context in the middle of a long kernel, which it checks in the end. */
class Bystander {
  readonly session: Session;
  private readonly address: number;
  private readonly module: number;
  private readonly stream: number;
  private ticket = 0;

  constructor(node: GpuNode, clock: VirtualClock, gpu: number) {
    this.session = new Session(node, clock).open(gpu);
    this.module = this.session.handle('moduleLoad', { ptx: fill, file: 'fill.ptx' });
    this.address = this.session.handle('malloc', { bytes: BLOCKS * THREADS * 4 });
    this.stream = this.session.handle('streamCreate', { priority: 0 });
  }

  start(value: number): void {
    const params = pointerParams(this.address, value);
    this.ticket = this.session.send('launch', launch(this.module, 'fill', BLOCKS, params), this.stream);
  }

  get isDone(): boolean {
    return this.session.find(this.ticket) !== undefined;
  }

  expectAll(value: number): void {
    expect(this.session.find(this.ticket)?.failure).toBeUndefined();
    const { result } = this.session.call('memcpyDeviceToHost', {
      address: this.address,
      bytes: BLOCKS * THREADS * 4,
      pinned: true,
    });
    const words = new Int32Array(result?.bytes?.slice().buffer ?? new ArrayBuffer(0));
    expect(words).toEqual(Int32Array.from({ length: BLOCKS * THREADS }, (_, index) => index + value));
  }
}

describe('a kernel fault ends its context and nothing else', () => {
  it.each(mistakes)('$name', ({ code, text, at, pointer, address, isOfMany }) => {
    const clock = new VirtualClock();
    const node = new GpuNode(clock, {
      gpus: ['h200', 'h200'],
      backingBytes: 64 * 2 ** 20,
      fuelPerBlock: 100_000,
    });
    const bystanders = [new Bystander(node, clock, 0), new Bystander(node, clock, 1)];
    const session = new Session(node, clock).open(0);
    const module = session.handle('moduleLoad', { ptx: text, file: 'bad.ptx' });
    const buffer = session.handle('malloc', { bytes: 256 });
    const given = pointer === 'null' ? 0 : session.handle('malloc', { bytes: 256 });
    if (pointer === 'freed') session.call('free', { address: given });
    const other = session.handle('streamCreate', { priority: 0 });

    bystanders.forEach((bystander, index) => bystander.start(1000 * index));
    const bad = session.send('launch', launch(module, 'bad', 8, pointerParams(given, 0)));
    const behind = session.send('memset', { address: buffer, value: 1, bytes: 256 });
    while (session.find(bad) === undefined && clock.step());

    // It names where.
    const failure = session.find(bad)?.failure;
    expect(failure?.code).toBe('kernelFault');
    const line = lineOf(text, at);
    expect(failure?.fault).toMatchObject({
      code,
      kernel: 'bad',
      block: [BLOCK, 0, 0],
      ptxFile: 'bad.ptx',
      ptxLine: line,
      ...(isOfMany === true ? {} : { thread: [THREAD, 0, 0] }),
    });
    for (const part of ['bad', `bad.ptx:${line}`, `block (${BLOCK}, 0, 0)`, 'thread (']) {
      expect(failure?.message).toContain(part);
    }
    if (address !== undefined) {
      const base = at.includes('shared') || at.includes('local') ? 0 : given;
      expect(failure?.fault?.address).toBe(base + address);
      expect(failure?.message).toContain(`0x${(base + address).toString(16)}`);
    }

    // Its context is lost, on every stream of it.
    clock.run();
    expect(session.find(behind)?.failure?.code).toBe('contextFaulted');
    const later = session.call('launch', launch(module, 'bad', 1, pointerParams(buffer, 0)), other);
    expect(later.failure?.code).toBe('contextFaulted');
    expect(later.failure?.message).toContain(`bad.ptx:${line}`);
    expect(session.call('malloc', { bytes: 4 }).failure?.code).toBe('contextFaulted');

    // The others end as if nothing had been, on the same GPU and on the next.
    bystanders.forEach((bystander, index) => bystander.expectAll(1000 * index));
    expect(session.call('contextDestroy', {}).failure).toBeUndefined();

    // The node goes on: the same GPU takes a new context and new work, beside the ones that it had.
    const fresh = new Bystander(node, clock, 0);
    fresh.start(7);
    bystanders[0]?.start(9);
    clock.run();
    fresh.expectAll(7);
    bystanders[0]?.expectAll(9);
  });

  it('finds the bystanders in the middle of their work', () => {
    const clock = new VirtualClock();
    const node = new GpuNode(clock, { gpus: ['h200'], backingBytes: 64 * 2 ** 20, fuelPerBlock: 100_000 });
    const bystander = new Bystander(node, clock, 0);
    const session = new Session(node, clock).open(0);
    const module = session.handle('moduleLoad', { ptx: mistakes[0]?.text ?? '', file: 'bad.ptx' });
    const bad = session.send('launch', launch(module, 'bad', 8, pointerParams(0, 0)));
    bystander.start(3);
    while (session.find(bad) === undefined && clock.step());
    expect(session.find(bad)?.failure?.code).toBe('kernelFault');
    expect(bystander.isDone).toBe(false);
    clock.run();
    bystander.expectAll(3);
  });
});
