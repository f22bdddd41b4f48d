import type { Json } from '../../selection/index.js';

/** States of contexts that are held in memory unless it is told otherwise; the rest is in the store. */
export const DEFAULT_CONTEXT_BYTES = 64 * 1024 * 1024;

/** The contexts of one application in memory. */
export interface ContextPool {
  /** What they take, about. */
  readonly bytes: number;
  /** Lets the least recently used one go that may go. @returns whether there was one */
  dropOldest(): boolean;
}

/**
 * How much memory contexts of all applications may take. When it is full the application that has most makes room: whoever names
 * contexts without end drives out those of the same application.
 */
export class ContextMemory {
  private readonly pools = new Set<ContextPool>();
  bytes = 0;

  constructor(private readonly limitBytes = DEFAULT_CONTEXT_BYTES) {}

  add(pool: ContextPool): void {
    this.pools.add(pool);
  }

  remove(pool: ContextPool): void {
    this.pools.delete(pool);
  }

  /** A pool takes so much more. */
  grow(bytes: number): void {
    this.bytes += bytes;
    if (bytes > 0) this.makeRoom();
  }

  makeRoom(): void {
    while (this.bytes > this.limitBytes) {
      let largest: ContextPool | undefined;
      for (const pool of this.pools) if (pool.bytes > (largest?.bytes ?? 0)) largest = pool;
      // What waits to be written stays.
      if (largest?.dropOldest() !== true) return;
    }
  }
}

/** What a JSON value takes in memory, about. */
export function bytesOf(value: Json): number {
  if (typeof value === 'string') return 24 + value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let bytes = 48;
  if (Array.isArray(value)) for (const item of value as readonly Json[]) bytes += bytesOf(item);
  else for (const item of Object.values(value)) bytes += 8 + bytesOf(item);
  return bytes;
}
