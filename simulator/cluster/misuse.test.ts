import { describe, expect, it } from 'vitest';
import { FakeExecutor } from './tests/fakeExecutor.js';
import { GatedSession } from './tests/gatedSession.js';
import type { Session } from './tests/session.js';

function open(): Session {
  return new GatedSession({ executor: () => new FakeExecutor(() => 100) }).session;
}

describe('numbers that are none', () => {
  it.each([NaN, Infinity, -1, 0, 1.5, 1e18])(
    'malloc of %s bytes is refused and costs no more than another',
    (bytes) => {
      const session = open();
      const before = session.call('malloc', { bytes: 16 }).timeNs;
      const refused = session.call('malloc', { bytes });
      expect(refused.failure).toMatchObject({
        code: 'invalidValue',
        message: expect.stringContaining('bytes: ') as string,
      });
      const after = session.call('malloc', { bytes: 16 });
      expect(after.failure).toBeUndefined();
      expect(after.timeNs - before).toBeLessThan(100_000);
    },
  );

  it.each([NaN, -1, 0.5, 1e18])(
    'a pageable copy of %s bytes is refused, and the next command runs',
    (bytes) => {
      const session = open();
      const address = session.handle('malloc', { bytes: 16 });
      const refused = session.call('memcpyDeviceToHost', { address, bytes, pinned: false });
      expect(refused.failure?.code).toBe('invalidValue');
      expect(session.call('memset', { address, value: 1, bytes: 16 }).failure).toBeUndefined();
    },
  );

  it('a copy of declared bytes that no card has is refused, and the next command runs', () => {
    const { session } = new GatedSession({ fidelity: 'timing' });
    const address = session.handle('malloc', { bytes: 16 });
    for (const declaredBytes of [NaN, -1, 1e18]) {
      const copy = { address, bytes: new Uint8Array(0), declaredBytes, pinned: false };
      expect(session.call('memcpyHostToDevice', copy).failure?.code).toBe('invalidValue');
    }
    expect(session.call('memset', { address, value: 1, bytes: 16 }).failure).toBeUndefined();
  });

  it.each([NaN, Infinity, -1, 1e16])('a host function of %s ns is refused', (hostNs) => {
    expect(open().call('hostFunction', { hostNs }).failure).toMatchObject({
      code: 'invalidValue',
      message: expect.stringContaining('hostNs: ') as string,
    });
  });
});

it('a capture goes with the stream that it was begun on', () => {
  const session = open();
  const origin = session.handle('streamCreate', { priority: 0 });
  const member = session.handle('streamCreate', { priority: 0 });
  session.call('streamBeginCapture', { mode: 'global' }, origin);
  session.call('eventRecord', { event: 1 }, origin);
  session.call('eventWait', { event: 1 }, member);
  expect(session.call('streamDestroy', {}, origin).failure).toBeUndefined();
  expect(session.call('streamCaptureStatus', {}, member).result?.capture).toBe('none');
  // Of a capture in global mode it would be refused.
  expect(session.call('malloc', { bytes: 16 }).failure).toBeUndefined();
  expect(session.call('eventQuery', { event: 1 }).failure).toBeUndefined();
});
