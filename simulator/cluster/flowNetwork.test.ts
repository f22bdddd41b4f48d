import { describe, expect, it } from 'vitest';
import { Agenda } from '../gpu/index.js';
import { SeededRandom } from '../random/index.js';
import { VirtualClock } from '../time/index.js';
import { FlowNetwork, emptyFlows } from './flowNetwork.js';

function network(
  links: Record<string, number>,
  startNs = 0,
): {
  clock: VirtualClock;
  flows: FlowNetwork;
  ends: Map<number, number>;
} {
  const clock = new VirtualClock(startNs);
  const agenda = new Agenda(clock, 'node');
  const ends = new Map<number, number>();
  agenda.attach('test', { onDue: (_kind, payload, nowNs) => ends.set(payload, nowNs) });
  return {
    clock,
    ends,
    flows: new FlowNetwork(agenda, 'links', new Map(Object.entries(links)), emptyFlows(startNs)),
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
  it.each([1 / 24, 0.25, 1, 30, 400, 4000])('ends what it moves after %d days, too', (days) => {
    const startNs = days * 86_400e9;
    const random = new SeededRandom(Math.ceil(days));
    const draw = () => random.share();
    const { clock, flows, ends } = network({ bus: 10, narrow: 3 }, startNs);
    for (let id = 0; id < 2000; id++) {
      flows.start(flow(id, 1 + 1000 * draw(), 1 + 9 * draw(), 'bus', ...(draw() < 0.5 ? ['narrow'] : [])));
      if (draw() < 0.5) clock.advanceTo(clock.nowNs() + 50 * draw());
      for (let steps = 0; draw() < 0.7 && clock.step(); steps++) expect(steps).toBeLessThan(100);
    }
    for (let steps = 0; clock.step(); steps++) expect(steps).toBeLessThan(10_000);
    expect(ends.size).toBe(2000);
  });

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
