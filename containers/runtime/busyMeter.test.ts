import { describe, expect, it } from 'vitest';
import { BusyMeter } from './busyMeter.js';

describe('the busy meter', () => {
  it('measures the union of overlapping batches on each clock', () => {
    let hostNs = 0;
    const meter = new BusyMeter(() => hostNs);
    meter.enter();
    hostNs = 50;
    meter.enter();
    hostNs = 100;
    meter.leave(0, 30);
    hostNs = 120;
    meter.leave(20, 40);
    hostNs = 500;
    meter.enter();
    hostNs = 510;
    expect(meter.hostBusyNs()).toBe(130);
    meter.leave(500, 505);
    expect(meter.hostBusyNs()).toBe(130);
    expect(meter.times()).toEqual({ busyHostNs: 130, busySimulatedNs: 45 });
  });

  it('measures no host time where there is no host clock', () => {
    const meter = new BusyMeter();
    meter.enter();
    meter.leave(10, 30);
    expect(meter.times()).toEqual({ busyHostNs: 0, busySimulatedNs: 20 });
  });
});
