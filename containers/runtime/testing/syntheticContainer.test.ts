import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../simulator/time/index.js';
import { InProcessChannel } from '../inProcessChannel.js';
import { SyntheticContainer, type SyntheticService } from './syntheticContainer.js';
import { FrontendDouble, floats } from '../tests/frontendDouble.js';

const SERVICE: SyntheticService = {
  fixedNs: 1000,
  itemNs: 10,
  output: '7',
  inputType: 'floats',
  maxBatchSize: 100,
};

function start(service: SyntheticService): { clock: VirtualClock; frontend: FrontendDouble } {
  const clock = new VirtualClock();
  const channel = new InProcessChannel(clock, 'channel');
  const identity = { model: 'synthetic', version: '1', replica: '0' };
  channel.connect(new SyntheticContainer(clock, 'container', identity, service, channel));
  const frontend = new FrontendDouble(channel);
  clock.run();
  return { clock, frontend };
}

const batchOf = (size: number): Uint8Array[] => Array.from({ length: size }, () => floats(0));

describe('a synthetic container', () => {
  it('takes its fixed time and its time an item, one batch after the other', () => {
    const { clock, frontend } = start(SERVICE);
    const first = frontend.ask(batchOf(3));
    const second = frontend.ask(batchOf(1));
    clock.run();
    expect(frontend.kinds()).toEqual(['hello', 'result', 'result']);
    expect(frontend.outcomes(first)).toEqual(['7', '7', '7']);
    expect(frontend.result(first)?.serviceNs).toBe(1030);
    expect(frontend.result(second)?.serviceNs).toBe(1030 + 1010);
    expect(clock.nowNs()).toBe(2040);
  });

  it('answers each item by its own bytes when it is given a function', () => {
    const { clock, frontend } = start({ ...SERVICE, output: ({ bytes }) => `${bytes.length}` });
    const batch = frontend.ask([floats(1, 2), floats(3)]);
    clock.run();
    expect(frontend.outcomes(batch)).toEqual(['8', '4']);
  });

  it('leaves out what is cancelled before it begins', () => {
    const { clock, frontend } = start(SERVICE);
    const first = frontend.ask(batchOf(2));
    const second = frontend.ask(batchOf(2));
    frontend.channel.send({ kind: 'cancel', batchId: first, itemIds: [0] });
    frontend.channel.send({ kind: 'cancel', batchId: second, itemIds: [0] });
    clock.run();
    expect(frontend.outcomes(first)).toEqual(['7', '7']);
    expect(frontend.outcomes(second)).toEqual(['cancelled', '7']);
    expect(clock.nowNs()).toBe(1020 + 1010);
  });

  it('jitters by seed and batch, the same every time', () => {
    const times = (seed: number): (number | undefined)[] => {
      const { clock, frontend } = start({ ...SERVICE, jitter: { share: 0.2, seed } });
      return [1, 2, 3, 4].map(() => {
        const batch = frontend.ask(batchOf(10));
        clock.run();
        return frontend.result(batch)?.serviceNs;
      });
    };
    const once = times(5);
    expect(times(5)).toEqual(once);
    expect(times(6)).not.toEqual(once);
    expect(new Set(once).size).toBe(4);
    for (const serviceNs of once) {
      expect(serviceNs).toBeGreaterThanOrEqual(1100 * 0.8 - 1);
      expect(serviceNs).toBeLessThanOrEqual(1100 * 1.2 + 1);
    }
  });

  it('forgets its batches when it is closed', () => {
    const { clock, frontend } = start(SERVICE);
    frontend.ask(batchOf(1));
    frontend.channel.close();
    clock.run();
    expect(frontend.kinds()).toEqual(['hello']);
  });
});
