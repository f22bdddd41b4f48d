import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../simulator/time/index.js';
import { packageRoot } from '../models/index.js';
import { FrontendDouble, floats } from './tests/frontendDouble.js';
import { VirtualNode } from './virtualNode.js';

describe('the activity of a node’s GPUs', () => {
  it('is counted while it is watched, and changes nothing that is simulated', () => {
    const hashes = [false, true].map((watched) => {
      const clock = new VirtualClock();
      const node = new VirtualNode({ clock });
      node.watchGpus(watched);
      const frontend = new FrontendDouble(
        node.start({
          model: 'scale',
          version: '1',
          replica: '0',
          inputType: 'floats',
          path: join(packageRoot(), 'containers/runtime/tests/scaleModel'),
        }),
      );
      clock.run();
      frontend.ask([floats(1, 2), floats(3, 4)]);
      clock.run();
      const { gpus } = node.report();
      if (watched) {
        const [{ profile, busyNs, blockNs, asOfNs }] = gpus;
        expect(profile).toContain('h200');
        expect(busyNs).toHaveLength(132);
        expect(asOfNs).toBe(clock.nowNs());
        const busiest = Math.max(...busyNs);
        expect(busiest).toBeGreaterThan(0);
        expect(busiest).toBeLessThan(clock.nowNs());
        blockNs.forEach((sum, sm) => expect(sum).toBeGreaterThanOrEqual(busyNs[sm]));
        node.watchGpus(false);
        expect(node.report().gpus).toEqual([]);
      } else expect(gpus).toEqual([]);
      return node.gpuNode.hash();
    });
    expect(hashes[0]).toBe(hashes[1]);
  });
});
