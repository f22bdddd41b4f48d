import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GatedSession } from './tests/gatedSession.js';

const ptx = readFileSync(new URL('../laboratory/textures/programs/tableLookup.ptx', import.meta.url), 'utf8');
const count = 64;

function opened() {
  const { session } = new GatedSession();
  const module = session.handle('moduleLoad', { ptx, file: 'tableLookup.ptx' });
  const [table, x, out] = [33, count, count].map((floats) => session.handle('malloc', { bytes: 4 * floats }));
  const resource = { kind: 'array', address: table ?? 0, type: 'f32', channels: 1, width: 33 } as const;
  const launch = (object: number): unknown => {
    const params = new Uint8Array(28);
    const view = new DataView(params.buffer);
    [object, x ?? 0, out ?? 0].forEach((each, index) => {
      view.setBigUint64(8 * index, BigInt(each), true);
    });
    view.setInt32(24, count, true);
    const shape = { grid: [1, 1, 1], block: [count, 1, 1], dynamicSharedBytes: 0 } as const;
    return session.call('launch', { module, kernel: 'tabulated', ...shape, params }).failure;
  };
  return { session, resource, table: table ?? 0, launch };
}

describe('texture objects of the driver', () => {
  it('are made, used by a kernel, and destroyed', () => {
    const { session, resource, launch } = opened();
    const object = session.handle('objectCreate', { resource, sampler: { filter: 'linear' } });
    expect(launch(object)).toBeUndefined();
    expect(session.call('objectDestroy', { object }).failure).toBeUndefined();
    expect(launch(object)).toMatchObject({
      code: 'kernelFault',
      message: expect.stringContaining('is of no texture and no surface that is there') as string,
    });
  });

  it('whose memory has been freed end the launch', () => {
    const { session, resource, table, launch } = opened();
    const object = session.handle('objectCreate', { resource, sampler: {} });
    session.call('free', { address: table });
    expect(launch(object)).toMatchObject({
      message: expect.stringContaining('are not mapped any more') as string,
    });
  });

  it.each([
    [{ width: 34 }, 'invalidValue', 'resource.address: 136 bytes are read'],
    [{ address: 4096 }, 'invalidValue', 'where nothing is allocated'],
    [{ type: 'f64' as 'f32' }, 'invalidValue', 'resource.type: one of u8'],
    [{ width: NaN }, 'invalidValue', 'resource.width: a whole number'],
  ])('refuse %j', (fields, code, message) => {
    const { session, resource } = opened();
    expect(
      session.call('objectCreate', { resource: { ...resource, ...fields }, sampler: {} }).failure,
    ).toMatchObject({
      code,
      message: expect.stringContaining(message) as string,
    });
  });

  it.each([NaN, 0, 12])('refuse to destroy %s', (object) => {
    expect(opened().session.call('objectDestroy', { object }).failure?.code).toBe('invalidHandle');
  });

  it('refuse to destroy what is an allocation, or to free what is an object', () => {
    const { session, resource, table } = opened();
    const object = session.handle('objectCreate', { resource, sampler: {} });
    expect(session.call('objectDestroy', { object: table }).failure?.code).toBe('invalidHandle');
    expect(session.call('free', { address: object }).failure?.code).toBe('invalidHandle');
  });
});
