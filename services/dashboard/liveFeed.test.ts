import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LiveFeed, MOST_WATCHERS } from './liveFeed.js';
import { MOST_MISSED } from './watcher.js';
import { FakeSources } from './tests/fakeSources.js';

/** A client that takes everything, or nothing until it is told to. */
class Client extends Writable {
  readonly events: string[] = [];
  private held: (() => void) | undefined;

  constructor(public slow = false) {
    super({ highWaterMark: 10 });
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.events.push(chunk.toString());
    if (this.slow) this.held = done;
    else done();
  }

  take(): void {
    this.slow = false;
    this.held?.();
  }
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('the live feed', () => {
  let sources: FakeSources;
  let feed: LiveFeed;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    sources = new FakeSources();
    feed = new LiveFeed(sources);
  });
  afterEach(() => {
    feed.close();
    vi.useRealTimers();
  });

  function watching(slow = false): Client {
    const client = new Client(slow);
    feed.add(client);
    return client;
  }

  it('makes no frames while nobody watches', async () => {
    vi.advanceTimersByTime(5000);
    // One timer records points.
    expect([sources.frames, sources.areSmsWatched, vi.getTimerCount()]).toEqual([0, false, 1]);
    const client = watching();
    expect([sources.areSmsWatched, vi.getTimerCount()]).toEqual([true, 2]);
    client.destroy();
    await settled();
    expect(feed.size).toBe(0);
    expect([sources.areSmsWatched, vi.getTimerCount()]).toEqual([false, 1]);
    const { frames } = sources;
    vi.advanceTimersByTime(5000);
    expect(sources.frames).toBe(frames);
  });

  it('puts a frame together once for all watchers', async () => {
    const clients = [watching(), watching(), watching()];
    expect(sources.frames).toBe(1);
    vi.advanceTimersByTime(1000);
    await settled();
    expect(sources.frames).toBe(3);
    for (const { events } of clients) {
      expect(events).toEqual(clients[0].events);
      expect(events).toHaveLength(3);
      expect(events[0]).toMatch(/^event: history\ndata: .*\n\nevent: message\ndata: \{.*\}\n\n$/);
      expect(events[2]).toMatch(/^event: message\ndata: \{.*\}\n\n$/);
      expect(JSON.parse(events[2].split('data: ')[1])).toMatchObject({ inFlightQueries: 3 });
    }
  });

  it('sends a slow watcher fewer frames, and others all', async () => {
    const slow = watching(true);
    const fast = watching();
    vi.advanceTimersByTime(5000);
    await settled();
    expect([slow.events.length, fast.events.length]).toEqual([1, 11]);
    expect(slow.writableLength).toBeLessThan(2 * Buffer.byteLength(slow.events[0]));
    slow.take();
    await settled();
    vi.advanceTimersByTime(1000);
    await settled();
    expect([slow.events.length, fast.events.length]).toEqual([3, 13]);
    expect(slow.events.at(-1)).toBe(fast.events.at(-1));
    // It has missed points, and gets all of them; the other one gets each by itself.
    const kinds = ({ events }: Client) => events.flatMap((event) => event.match(/(?<=event: )\w+/g) ?? []);
    expect(kinds(slow).filter((kind) => kind !== 'message')).toEqual(['history', 'history', 'point']);
    expect(kinds(fast).filter((kind) => kind !== 'message')).toEqual(['history', 'point', 'point', 'point']);
  });

  it('cuts a watcher that takes nothing for long', async () => {
    const stuck = watching(true);
    const fast = watching();
    vi.advanceTimersByTime(500 * (MOST_MISSED - 1));
    expect(stuck.destroyed).toBe(false);
    vi.advanceTimersByTime(500);
    await settled();
    expect(stuck.destroyed).toBe(true);
    expect([feed.size, fast.destroyed]).toEqual([1, false]);
  });

  it('ends every stream when it closes, stuck ones too', async () => {
    const clients = [watching(), watching(true)];
    feed.close();
    await settled();
    expect(clients.map(({ writableEnded, destroyed }) => writableEnded || destroyed)).toEqual([true, true]);
    expect([feed.open, feed.size, sources.areSmsWatched, vi.getTimerCount()]).toEqual([false, 0, false, 0]);
  });

  it('takes so many watchers and no more', () => {
    for (let k = 0; k < MOST_WATCHERS; k++) {
      expect(feed.open).toBe(true);
      watching();
    }
    expect(feed.open).toBe(false);
  });
});
