import { beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../simulator/time/index.js';
import type { FrontendFrame } from '../protocol/index.js';
import { InProcessChannel } from './inProcessChannel.js';
import type { ModelContainer } from './modelContainer.js';
import { FrontendDouble, floats } from './tests/frontendDouble.js';

describe('an in-process channel', () => {
  let clock: VirtualClock;
  let channel: InProcessChannel;
  const received: FrontendFrame[] = [];
  let closed = 0;
  const container: ModelContainer = {
    batchesInFlight: 0,
    onFrame: (frame) => received.push(frame),
    close: () => (closed += 1),
  };
  const down = { kind: 'down', reason: 'it broke' } as const;

  beforeEach(() => {
    clock = new VirtualClock();
    channel = new InProcessChannel(clock, 'channel');
    received.length = 0;
    closed = 0;
    channel.connect(container);
  });

  it('keeps what comes before it is opened', () => {
    channel.onFrame({ kind: 'credit', credits: 1 });
    clock.run();
    const frontend = new FrontendDouble(channel);
    expect(frontend.frames).toEqual([]);
    clock.run();
    expect(frontend.kinds()).toEqual(['credit']);
  });

  it('answers in an event of its own, at the same instant', () => {
    const frontend = new FrontendDouble(channel);
    clock.advanceTo(70);
    channel.onFrame({ kind: 'credit', credits: 1 });
    channel.onFrame({ kind: 'credit', credits: 2 });
    expect(frontend.frames).toEqual([]);
    clock.run();
    expect(frontend.frames).toEqual([
      { kind: 'credit', credits: 1 },
      { kind: 'credit', credits: 2 },
    ]);
    expect(clock.nowNs()).toBe(70);
  });

  it('passes the frontend on at once', () => {
    new FrontendDouble(channel).ask([floats(1)]);
    expect(received.map(({ kind }) => kind)).toEqual(['predict']);
  });

  it('goes down once, after what came before, and is dead then', () => {
    const frontend = new FrontendDouble(channel);
    channel.onFrame({ kind: 'credit', credits: 1 });
    channel.onFrame(down);
    channel.onFrame(down);
    channel.onFrame({ kind: 'credit', credits: 1 });
    clock.run();
    expect(frontend.kinds()).toEqual(['credit', 'down']);
    frontend.ask([floats(1)]);
    expect(received).toEqual([]);
    expect(closed).toBe(1);
  });

  it('delivers nothing after close, frees its name, and closes the container once', () => {
    const frontend = new FrontendDouble(channel);
    channel.onFrame({ kind: 'credit', credits: 1 });
    channel.close();
    channel.close();
    channel.onFrame(down);
    clock.run();
    expect(frontend.frames).toEqual([]);
    expect(closed).toBe(1);
    new InProcessChannel(clock, 'channel');
  });

  it('can be closed from inside a frame', () => {
    const seen: string[] = [];
    channel.open({
      onFrame: ({ kind }) => {
        seen.push(kind);
        channel.close();
      },
    });
    channel.onFrame({ kind: 'credit', credits: 1 });
    channel.onFrame(down);
    clock.run();
    expect(seen).toEqual(['credit']);
  });

  it('opens once', () => {
    new FrontendDouble(channel);
    expect(() => new FrontendDouble(channel)).toThrow('open already');
  });
});
