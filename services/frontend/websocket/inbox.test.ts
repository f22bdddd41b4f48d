import { expect, it } from 'vitest';
import { Inbox, type InboxOwner } from './inbox.js';

/** Takes 0.1 ms for each message. */
class Reader implements InboxOwner {
  isReady = true;
  readonly read: number[] = [];
  empty = 0;
  readonly inbox = new Inbox(this);

  onMessageRead(data: Buffer): void {
    const untilMs = performance.now() + 0.1;
    while (performance.now() < untilMs);
    this.read.push(data.readUInt32LE());
  }

  onInboxEmpty(): void {
    this.empty += 1;
  }

  send(from: number, to: number): void {
    for (let at = from; at < to; at++) {
      const data = Buffer.alloc(4);
      data.writeUInt32LE(at);
      this.inbox.take(data, true);
    }
    this.inbox.goOn();
  }
}

const turn = () => new Promise(setImmediate);

it('reads a few messages as they come, and of a packet of many some in each turn, in order', async () => {
  const reader = new Reader();
  reader.send(0, 20);
  expect(reader.read).toHaveLength(20);
  await turn();
  reader.send(20, 2_020);
  let turns = 0;
  for (; reader.read.length < 2_020; turns++) {
    const before = reader.read.length;
    await turn();
    // 4 ms of a turn, and the end of the one before.
    expect(reader.read.length - before).toBeLessThan(100);
  }
  expect(turns).toBeGreaterThan(20);
  expect(reader.read).toEqual(Array.from({ length: 2_020 }, (_, at) => at));
  expect(reader.empty).toBe(1);
  expect(reader.inbox.size).toBe(0);
});

it('lets one that comes meanwhile on another connection go first', async () => {
  const [flood, other] = [new Reader(), new Reader()];
  flood.send(0, 2_000);
  other.send(0, 1);
  while (other.read.length === 0) await turn();
  expect(flood.read.length).toBeLessThan(300);
  while (flood.inbox.size > 0) await turn();
});

it('keeps what may not be read now, and reads it when told', async () => {
  const reader = new Reader();
  reader.isReady = false;
  reader.send(0, 3);
  for (let turns = 0; turns < 3; turns++) await turn();
  expect(reader.read).toEqual([]);
  reader.isReady = true;
  reader.inbox.goOn();
  while (reader.inbox.size > 0) await turn();
  expect(reader.read).toEqual([0, 1, 2]);
});
