import { describe, expect, it } from 'vitest';
import { blockOf, KnownDevice, launchOf } from './tests/knownLaunches.js';

const block = blockOf({ issue: 1000 }, 10_000);

/** Two launches one behind the other, watched by `watch`; @returns all that became of them. */
function run(watch: (device: KnownDevice) => void) {
  const device = new KnownDevice();
  watch(device);
  for (let at = 0; at < 2; at++) device.launchAt(at, launchOf(3000, block, { reportBlocks: false }));
  const endNs = device.finish();
  device.gpu.save();
  return { endNs, state: device.gpu.state };
}

describe('whoever watches a device', () => {
  it('changes nothing that is simulated', () => {
    const alone = run(() => undefined);
    expect(run(({ gpu }) => gpu.watchSms(true))).toEqual(alone);
    expect(
      run(({ gpu }) => gpu.observe({ onBlocksLeave: () => undefined, onSettled: () => undefined })),
    ).toEqual(alone);
  });

  it('is told of every block that leaves, and when what is resident stands', () => {
    let blocks = 0;
    const settledNs: number[] = [];
    const { endNs } = run(({ gpu }) =>
      gpu.observe({
        onBlocksLeave: (_launch, { count }, done) => (blocks += done * count),
        onSettled: (nowNs) => settledNs.push(nowNs),
      }),
    );
    expect(blocks).toBe(6000);
    expect(settledNs[0]).toBe(0);
    expect(settledNs.at(-1)).toBe(endNs);
  });

  it('hears no more once it is taken away, and gets no counts of SMs that it does not watch', () => {
    let told = 0;
    const device = new KnownDevice();
    device.gpu.observe({ onBlocksLeave: () => (told += 1), onSettled: () => (told += 1) });
    device.gpu.observe(undefined);
    expect(device.gpu.smCounts()).toBeUndefined();
    device.gpu.watchSms(true);
    device.gpu.launch(launchOf(132, block));
    const endNs = device.finish();
    const counts = device.gpu.smCounts();
    expect(counts?.asOfNs).toBe(endNs);
    expect(counts?.busyNs.every((ns) => Math.abs(ns - endNs) < 1)).toBe(true);
    device.gpu.watchSms(false);
    expect(device.gpu.smCounts()).toBeUndefined();
    expect(told).toBe(1);
  });
});
