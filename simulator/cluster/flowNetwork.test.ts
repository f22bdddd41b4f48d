import { describe, expect, it } from 'vitest';
import { Agenda } from '../gpu/index.js';
import { VirtualClock } from '../time/index.js';
import { FlowNetwork, emptyFlows } from './flowNetwork.js';

function network(links: Record<string, number>): {
  clock: VirtualClock;
  flows: FlowNetwork;
  ends: Map<number, number>;
} {
  const clock = new VirtualClock();
  const agenda = new Agenda(clock, 'node');
  const ends = new Map<number, number>();
  agenda.attach('test', { onDue: (_kind, payload, nowNs) => ends.set(payload, nowNs) });
  return {
    clock,
    ends,
    flows: new FlowNetwork(agenda, 'links', new Map(Object.entries(links)), emptyFlows(0)),
  };
}

const flow = (payload: number, amount: number, mostPerNs: number, ...links: string[]) => ({
  amount,
  mostPerNs,
  uses: links.map((link) => ({ link, weight: 1 })),
  target: 'test',
  kind: 'end',
  payload,
});

describe('flow network', () => {
  it('moves a lone flow at its own rate', () => {
    const { clock, flows, ends } = network({ bus: 10 });
    flows.start(flow(1, 1000, 5, 'bus'));
    clock.run();
    expect(ends.get(1)).toBeCloseTo(200);
  });

  it('shares a full link and speeds up when a flow leaves', () => {
    const { clock, flows, ends } = network({ bus: 10 });
    flows.start(flow(1, 1000, 10, 'bus'));
    flows.start(flow(2, 500, 10, 'bus'));
    clock.run();
    expect(ends.get(2)).toBeCloseTo(100);
    expect(ends.get(1)).toBeCloseTo(150);
  });

  it('gives what one bottleneck leaves to the others', () => {
    const { clock, flows, ends } = network({ narrow: 2, wide: 10 });
    flows.start(flow(1, 200, 10, 'narrow', 'wide'));
    flows.start(flow(2, 800, 10, 'wide'));
    clock.run();
    expect(ends.get(1)).toBeCloseTo(100);
    expect(ends.get(2)).toBeCloseTo(100);
  });

  it('ends an empty flow at once', () => {
    const { clock, flows, ends } = network({ bus: 10 });
    flows.start(flow(1, 0, 10, 'bus'));
    clock.run();
    expect(ends.get(1)).toBe(0);
  });
});
