import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../time/index.js';
import { FAKE_PTX, FakeExecutor } from './tests/fakeExecutor.js';
import { Session, pointerParams } from './tests/session.js';
import { GpuNode, type GpuNodeOptions } from './index.js';

const LAUNCHES = 10;

/** Two contexts whose streams hold a chain of launches each, `between` two of them. @returns contexts as their launches end */
function order(options: Partial<GpuNodeOptions>, between: 'nothing' | 'event' | 'fill' | 'copy'): number[] {
  const clock = new VirtualClock();
  const node = new GpuNode(clock, {
    gpus: ['h200'],
    executor: () => new FakeExecutor(() => 20_000),
    ...options,
  });
  const ends: { atNs: number; context: number }[] = [];
  const sessions = [1, 2].map(() => {
    const session = new Session(node, clock).open();
    const module = session.handle('moduleLoad', { ptx: FAKE_PTX, file: 'fake.ptx' });
    const address = session.handle('malloc', { bytes: 1 << 20 });
    session.call('eventCreate', { event: 1 });
    return { session, module, address };
  });
  for (const { session, module, address } of sessions) {
    for (let number = 0; number < LAUNCHES; number++) {
      const args = { module, kernel: 'add', grid: [4, 1, 1], block: [32, 1, 1] } as const;
      session.send('launch', { ...args, dynamicSharedBytes: 0, params: pointerParams(address, 1) });
      if (between === 'event') session.send('eventRecord', { event: 1 });
      if (between === 'fill') session.send('memset', { address, value: 0, bytes: 64 });
      if (between === 'copy') session.send('memcpyDeviceToHost', { address, bytes: 1 << 20, pinned: true });
    }
  }
  clock.run();
  for (const { session } of sessions) {
    for (const { op, timeNs, context, failure } of session.completions) {
      expect(failure).toBe(undefined);
      if (op === 'launch') ends.push({ atNs: timeNs, context });
    }
  }
  return ends.sort((a, b) => a.atNs - b.atNs).map(({ context }) => context);
}

function turns(contexts: readonly number[]): number {
  return contexts.filter((context, index) => context !== contexts[index - 1]).length;
}

describe.each([
  ['contexts that take turns', { contexts: 'timeSliced' as const }],
  ['the policy timeSlice', { scheduling: 'timeSlice' }],
])('under %s', (_name, options) => {
  it.each(['nothing', 'event', 'fill'] as const)('a stream goes on with %s between launches', (between) => {
    const contexts = order(options, between);
    expect(contexts).toHaveLength(2 * LAUNCHES);
    expect(turns(contexts)).toBe(2);
  });

  it('a context that waits for a copy gives its turn away', () => {
    expect(turns(order(options, 'copy'))).toBeGreaterThan(LAUNCHES);
  });
});
