const NOBODY = -1;
const LEAST_SLOTS = 64;

/**
 * A map from numbers that mostly go up by one, such as orders of events: entries come and go all the time, and what is
 * there at once are neighbours. A power of two of slots with linear probing; nothing is allocated for an entry.
 */
export class NumberTable<T> {
  private keys = new Float64Array(LEAST_SLOTS).fill(NOBODY);
  private values = new Array<T | undefined>(LEAST_SLOTS).fill(undefined);
  private count = 0;

  get size(): number {
    return this.count;
  }

  get(key: number): T | undefined {
    const slot = this.slotOf(key);
    return slot < 0 ? undefined : this.values[slot];
  }

  has(key: number): boolean {
    return this.slotOf(key) >= 0;
  }

  /** @param key 0 or more, and not there */
  set(key: number, value: T): void {
    if (2 * this.count >= this.keys.length) this.grow();
    this.place(key, value);
    this.count += 1;
  }

  /** @returns what was there */
  delete(key: number): T | undefined {
    let hole = this.slotOf(key);
    if (hole < 0) return undefined;
    const { keys, values } = this;
    const held = values[hole];
    const mask = keys.length - 1;
    // Entries behind the hole that it parts from where they belong move up into it.
    for (let slot = (hole + 1) & mask; keys[slot] !== NOBODY; slot = (slot + 1) & mask) {
      if (((slot - keys[slot]) & mask) < ((slot - hole) & mask)) continue;
      keys[hole] = keys[slot];
      values[hole] = values[slot];
      hole = slot;
    }
    keys[hole] = NOBODY;
    values[hole] = undefined;
    this.count -= 1;
    return held;
  }

  clear(): void {
    this.keys.fill(NOBODY);
    this.values.fill(undefined);
    this.count = 0;
  }

  /** In no order. */
  list(): T[] {
    return this.values.filter((value) => value !== undefined);
  }

  private slotOf(key: number): number {
    const { keys } = this;
    const mask = keys.length - 1;
    for (let slot = key & mask; keys[slot] !== NOBODY; slot = (slot + 1) & mask) {
      if (keys[slot] === key) return slot;
    }
    return -1;
  }

  private place(key: number, value: T): void {
    const { keys } = this;
    const mask = keys.length - 1;
    let slot = key & mask;
    while (keys[slot] !== NOBODY) slot = (slot + 1) & mask;
    keys[slot] = key;
    this.values[slot] = value;
  }

  private grow(): void {
    const { keys, values } = this;
    this.keys = new Float64Array(2 * keys.length).fill(NOBODY);
    this.values = new Array<T | undefined>(2 * keys.length).fill(undefined);
    for (let slot = 0; slot < keys.length; slot++) {
      if (keys[slot] !== NOBODY) this.place(keys[slot], values[slot] as T);
    }
  }
}
