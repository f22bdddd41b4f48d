import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../time/index.js';
import { HostNetwork, wireBytes } from './hostNetwork.js';

function network(latencyNs = 1000) {
  const clock = new VirtualClock();
  const hosts = ['a', 'b', 'c'];
  const net = new HostNetwork({ clock, name: 'net', hosts, bitsPerSecond: 8e9, latencyNs });
  const arrivals: [string, number][] = [];
  const receiver = { onMessage: (message: string) => void arrivals.push([message, clock.nowNs()]) };
  return { clock, net, arrivals, receiver };
}

describe('host network', () => {
  it('takes a message its bytes on the wire and the way', () => {
    const { clock, net, arrivals, receiver } = network();
    net.connect('a', 'b', receiver).send('m', 2896);
    clock.run();
    // One byte a nanosecond; two segments.
    expect(wireBytes(2896)).toBe(2896 + 180);
    expect(arrivals).toEqual([['m', 3076 + 1000]]);
    expect(net.sentBytes('a')).toBe(3076);
    expect(net.receivedBytes('b')).toBe(3076);
    expect(net.receivedBytes('a')).toBe(0);
  });

  it('keeps the order of a connection and does not wait for arrivals', () => {
    const { clock, net, arrivals, receiver } = network();
    const line = net.connect('a', 'b', receiver);
    line.send('first', 910);
    line.send('second', 10);
    clock.run();
    expect(arrivals).toEqual([
      ['first', 2000],
      ['second', 2100],
    ]);
  });

  it('shares a card between connections, and counts bytes while they move', () => {
    const { clock, net, arrivals, receiver } = network(0);
    net.connect('a', 'b', receiver).send('to b', 1358);
    net.connect('a', 'c', receiver).send('to c', 1358);
    net.connect('c', 'b', receiver).send('', 0);
    clock.run(1448);
    expect(net.sentBytes('a')).toBeCloseTo(1448, 6);
    expect(net.receivedBytes('c')).toBeCloseTo(724, 6);
    clock.run();
    expect(arrivals.map(([message]) => message)).toEqual(['', 'to b', 'to c']);
    expect(arrivals[2][1]).toBeCloseTo(2896, 6);
    expect(net.sentBytes('a')).toBeCloseTo(2896, 6);
  });

  it('runs both directions of a card at full rate together', () => {
    const { clock, net, arrivals, receiver } = network(0);
    net.connect('a', 'b', receiver).send('there', 1358);
    net.connect('b', 'a', receiver).send('back', 1358);
    clock.run();
    for (const [, atNs] of arrivals) expect(atNs).toBeCloseTo(1448, 6);
  });

  it('refuses what it has not', () => {
    const { net, receiver, clock } = network();
    expect(() => net.connect('a', 'x', receiver)).toThrow("no host 'x'");
    const options = { clock, name: 'other', hosts: ['a'], latencyNs: 0 };
    expect(() => new HostNetwork({ ...options, bitsPerSecond: 0 })).toThrow('bitsPerSecond');
  });
});
