import { expect, it } from 'vitest';
import { HostNetwork } from '../../../simulator/cluster/index.js';
import { VirtualClock } from '../../../simulator/time/index.js';
import type { ContainerFrame } from '../../protocol/index.js';
import { NetworkChannel } from './networkChannel.js';
import { SyntheticContainer } from './syntheticContainer.js';

const SERVICE = {
  fixedNs: 1000,
  itemNs: 0,
  inputType: 'bytes',
  maxBatchSize: 16,
  output: ({ bytes }: { bytes: Uint8Array }) => `${bytes[0]}`,
} as const;

function remote() {
  const clock = new VirtualClock();
  const hosts = ['frontend', 'node'];
  const network = new HostNetwork({ clock, name: 'net', hosts, bitsPerSecond: 1e9, latencyNs: 20_000 });
  const channel = new NetworkChannel(network, 'frontend', 'node');
  const identity = { model: 'm', version: '1', replica: '0' };
  channel.connect(new SyntheticContainer(clock, 'container', identity, SERVICE, channel));
  const frames: { frame: ContainerFrame; atNs: number }[] = [];
  channel.open({ onFrame: (frame) => frames.push({ frame, atNs: clock.nowNs() }) });
  clock.run();
  return { clock, network, channel, frames };
}

it('carries batches there and answers back, at the pace of the network', () => {
  const { clock, network, channel, frames } = remote();
  const sentNs = clock.nowNs();
  const sentBytes = network.sentBytes('frontend');
  const items = [7, 8].map((value, id) => ({ id, bytes: new Uint8Array(5000).fill(value), budgetNs: 1e9 }));
  channel.send({ kind: 'predict', batchId: 1, items });
  clock.run();
  expect(frames.map(({ frame }) => frame.kind)).toEqual(['hello', 'result']);
  expect(frames[1].frame).toMatchObject({
    batchId: 1,
    serviceNs: 1000,
    results: [{ output: '7' }, { output: '8' }],
  });
  const moved = network.sentBytes('frontend') - sentBytes;
  expect(moved).toBeGreaterThan(10_000);
  // Eight nanoseconds a byte there, the service, and twice the latency.
  expect(frames[1].atNs - sentNs).toBeGreaterThan(8 * moved + 1000 + 40_000);
});

it('is silent once it is closed, whatever is under way', () => {
  const { clock, channel, frames } = remote();
  channel.send({ kind: 'predict', batchId: 1, items: [{ id: 0, bytes: Uint8Array.of(1), budgetNs: 1e9 }] });
  channel.close();
  channel.send({ kind: 'cancel', batchId: 1, itemIds: [0] });
  clock.run();
  expect(frames.map(({ frame }) => frame.kind)).toEqual(['hello']);
});
