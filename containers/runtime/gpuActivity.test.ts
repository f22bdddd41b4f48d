import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../simulator/time/index.js';
import { ruleBreaks, type Trace } from '../../simulator/timeline/tests/traceRules.js';
import { packageRoot } from '../../simulator/files/index.js';
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

describe('the timeline of a node in virtual time', () => {
  it('is the same text twice, and names contexts after their replicas', () => {
    const texts = [0, 1].map(() => {
      const clock = new VirtualClock();
      const node = new VirtualNode({ clock });
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
      let text = '';
      let ends = 0;
      const sink = { onText: (piece: string) => (text += piece), onEnd: () => (ends += 1) };
      expect(node.record(1e6, sink)).toBe('begun');
      expect(node.record(1e6, sink)).toBe('recording');
      frontend.ask([floats(1, 2), floats(3, 4)]);
      clock.run();
      node.stopRecording();
      expect(ends).toBe(1);
      expect(node.report().spans[0].latest.contexts[0].owner?.model).toBe('scale');
      node.close(() => undefined);
      expect(node.record(1e6, sink)).toBe('down');
      return text;
    });
    expect(texts[0]).toBe(texts[1]);
    const trace = JSON.parse(texts[0]) as Trace;
    expect(ruleBreaks(trace)).toEqual([]);
    expect(texts[0]).toContain('scale 1, replica 0');
  });
});
