/** Weight of the newest batch in running means. */
const NEWEST_WEIGHT = 0.2;

/** What a replica has served so far. */
export class Served {
  batches = 0;
  items = 0;
  /** Mean service time an item, of late; undefined before the first answer. */
  itemNs: number | undefined;

  count(size: number): void {
    this.batches += 1;
    this.items += size;
  }

  /** A batch took what batches of its size take. */
  learn(size: number, serviceNs: number): void {
    const itemNs = serviceNs / size;
    this.itemNs = this.itemNs === undefined ? itemNs : this.itemNs + NEWEST_WEIGHT * (itemNs - this.itemNs);
  }
}
