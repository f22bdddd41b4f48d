import { beforeEach, describe, expect, it } from 'vitest';
import { profileNamed, type DeviceProfile } from '../gpu/index.js';
import { VirtualClock } from '../time/index.js';
import { Session } from './tests/session.js';
import { GpuNode } from './index.js';

const HEAD = '.version 9.0\n.target sm_90\n.address_size 64\n';
const VARIABLES = `${HEAD}
.global .align 4 .b8 table[1000];
.const .align 4 .b8 scale[24];
.visible .entry plain() { ret; }`;
const ALLOCATES = `${HEAD}
.extern .func (.param .b64 place) malloc(.param .b64 bytes);
.visible .entry allocates() { .reg .b64 %p; call (%p), malloc, (16); ret; }`;
const PRINTS = `${HEAD}
.extern .func (.param .b32 count) vprintf(.param .b64 format, .param .b64 list);
.global .align 1 .b8 text[2] = {10, 0};
.visible .entry prints() { .reg .b64 %f; .reg .b32 %n; mov.u64 %f, text; call (%n), vprintf, (%f, 0); ret; }`;
const HEAP = 8 * 2 ** 20;
const FIFO = 2 ** 20;

describe("memory of a GPU that is nobody's allocation", () => {
  let clock: VirtualClock;
  const card = profileNamed('t4');
  const context = 40 * 32 * 32 * 1024;
  let node: GpuNode;
  const nodeOf = (profile: DeviceProfile): GpuNode =>
    new GpuNode((clock = new VirtualClock()), { gpus: [profile], backingBytes: 64 * 2 ** 20 });
  const used = (): number => node.reading(0).usedBytes;
  const load = (session: Session, ptx: string) => session.call('moduleLoad', { ptx, file: 'm.ptx' });

  beforeEach(() => {
    node = nodeOf(card);
  });

  it('is counted: contexts, module variables, one heap and one buffer of printf a context', () => {
    const session = new Session(node, clock).open();
    expect(used()).toBe(context);
    load(session, VARIABLES);
    expect(used()).toBe(context + 1024);
    load(session, ALLOCATES);
    load(session, ALLOCATES);
    expect(used()).toBe(context + 1024 + HEAP);
    load(session, PRINTS);
    load(session, PRINTS);
    expect(used()).toBe(context + 1024 + HEAP + 2 * 2 + FIFO);
    expect(node.reading(0).contexts[0].usedBytes).toBe(used());
    const other = new Session(node, clock).open();
    expect(used()).toBe(2 * context + 1024 + HEAP + 2 * 2 + FIFO);
    for (const each of [session, other]) each.call('contextDestroy', {});
    expect(used()).toBe(0);
  });

  it('is refused where there is no more, and what was refused takes none', () => {
    node = nodeOf({ ...card, memory: { ...card.memory, declaredBytes: context + 1024 + 100 } });
    const session = new Session(node, clock).open();
    expect(new Session(node, clock).call('contextCreate', { gpu: 0 }).failure).toMatchObject({
      code: 'outOfDeviceMemory',
      message: expect.stringContaining(
        `a context takes ${context} bytes, but GPU 0 (t4) has 1124 of its`,
      ) as string,
    });
    expect(load(session, VARIABLES).failure).toBeUndefined();
    expect(load(session, ALLOCATES).failure).toMatchObject({
      code: 'outOfDeviceMemory',
      message: expect.stringContaining(
        `m.ptx: variables, heap and printf buffer take ${HEAP} bytes`,
      ) as string,
    });
    expect(used()).toBe(context + 1024);
    expect(session.call('malloc', { bytes: 100 }).failure).toBeUndefined();
    expect(session.call('malloc', { bytes: 1 }).failure?.code).toBe('outOfDeviceMemory');
  });
});
