import { join } from 'node:path';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { describe, expect, it, vi } from 'vitest';
import type { NodePreparation } from '../../../simulator/cluster/index.js';
import { packageRoot } from '../../../simulator/files/index.js';
import { BUILT_IN_MODELS, ModelError, builtInModelPath } from '../../models/index.js';
import { FUEL_PER_BLOCK } from './nodeLimits.js';
import { RehearsalNode } from './rehearsal.js';

const SCALE = {
  model: 'scale',
  version: '1',
  replica: '0',
  inputType: 'floats',
  path: join(packageRoot(), 'containers/runtime/tests/scaleModel'),
} as const;

/** As it arrives in another thread. */
function crossed<T>(value: T): T {
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(value);
  const arrived = receiveMessageOnPort(port2)?.message as T;
  port1.close();
  return arrived;
}

function rehearsed(...paths: string[]): NodePreparation {
  const rehearsal = new RehearsalNode('h200', FUEL_PER_BLOCK);
  for (const path of paths) {
    expect(rehearsal.rehearse({ ...SCALE, path }).downReason).toBeUndefined();
  }
  return rehearsal.preparation();
}

describe('a rehearsal', () => {
  it('works out what a start elsewhere takes over, and answers stay the same', async () => {
    const paths = [SCALE.path, ...BUILT_IN_MODELS.slice(-1).map(builtInModelPath)];
    const preparation = rehearsed(...paths);
    expect(preparation.kernels.length).toBeGreaterThanOrEqual(paths.length);
    const arrived = crossed(preparation);
    // The code of another thread, which knows nothing yet.
    vi.resetModules();
    const { RehearsalNode: Elsewhere } = await import('./rehearsal.js');
    const ptx = await import('../../../simulator/ptx/index.js');
    const compiled = vi.spyOn(WebAssembly, 'Module');
    const node = new Elsewhere('h200', FUEL_PER_BLOCK);
    node.takeOver(arrived);
    for (const path of paths) expect(node.rehearse({ ...SCALE, path }).downReason).toBeUndefined();
    const sizes = compiled.mock.calls.map(([bytes]) => bytes.byteLength);
    for (const { kernel } of arrived.kernels) expect(sizes).not.toContain(kernel.bytes.byteLength);
    const own = node.preparation();
    expect(own.kernels.map(({ key }) => key).sort()).toEqual(
      preparation.kernels.map(({ key }) => key).sort(),
    );
    for (const { key, module } of own.kernels)
      expect(module).toBe(arrived.kernels.find((kernel) => kernel.key === key)?.module);
    for (const ir of own.modules.values()) expect(ptx.lowerModule(ir)).toBe(ir);
    expect([...own.profiles]).toEqual([...preparation.profiles]);
  });

  it('makes code for blocks of any shape, and for launches that may be killed where there are such', () => {
    const forms = (isObserved: boolean): string[] => {
      const rehearsal = new RehearsalNode('h200', FUEL_PER_BLOCK);
      expect(rehearsal.rehearse(SCALE, isObserved).downReason).toBeUndefined();
      return rehearsal.preparation().kernels.map(({ key }) => key.split('-')[0]);
    };
    // Lanes together for the shape of its blocks, lane after lane for any other.
    expect(forms(false).sort()).toEqual(['0', '1']);
    expect(forms(true).sort()).toEqual(['0', '0o', '1']);
  });

  it('makes the code of its kernels in other forms, and of no others', () => {
    const rehearsal = new RehearsalNode('h200', FUEL_PER_BLOCK);
    expect(rehearsal.rehearse(SCALE).downReason).toBeUndefined();
    const [{ key } = { key: '' }] = rehearsal.preparation().kernels;
    const [, content = ''] = key.split(' ');
    const made = rehearsal.codeOf({ content, form: { groups: 0 } });
    expect(made?.kernel.groups).toBe(0);
    expect(made?.key).not.toBe(key);
    expect(rehearsal.codeOf({ content: 'of no kernel', form: {} })).toBeUndefined();
  });

  it('says why a model cannot start', () => {
    const rehearsal = new RehearsalNode('h200', FUEL_PER_BLOCK);
    expect(() => rehearsal.rehearse({ ...SCALE, path: '/nowhere' })).toThrow(ModelError);
    const wrong = rehearsal.rehearse({ ...SCALE, inputType: 'bytes' });
    expect(wrong.downReason).toContain('inputs[0].type: the model takes floats');
    expect(rehearsal.rehearse(SCALE).downReason).toBeUndefined();
  });
});
