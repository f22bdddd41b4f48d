/**
 * Loaded before a command (`node --expose-gc --import …`): at its end, what it has cost and how its heap was, as one line of JSON
 * on file descriptor 3. Collections of garbage that it asks for itself are not counted.
 */
import { writeSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';

/** What a command has spent, and its heap in the course of it. */
export interface WatchedHeap {
  readonly cpuSeconds: number;
  /** In use after a collection, at equal distances of time. */
  readonly heapBytes: readonly number[];
}

const EVERY_MS = 1000;
const REPORT = 3;

const { gc } = globalThis;
const heapBytes: number[] = [];
let ownUs = 0;

setInterval(() => {
  const before = process.cpuUsage();
  gc?.();
  heapBytes.push(getHeapStatistics().used_heap_size);
  const { user, system } = process.cpuUsage(before);
  ownUs += user + system;
}, EVERY_MS).unref();

process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  const watched: WatchedHeap = { cpuSeconds: (user + system - ownUs) / 1e6, heapBytes };
  writeSync(REPORT, JSON.stringify(watched));
});
