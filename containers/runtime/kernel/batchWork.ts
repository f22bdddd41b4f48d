import { LAUNCH_CLASSES, type LaunchClass } from '../../../simulator/scheduling/index.js';
import type { BatchItem, ItemResult, PredictFrame, ServiceParts } from '../../protocol/index.js';

/** A batch from its arrival to its answer. It outlives the device's state, so that it can be run again. */
export class BatchWork {
  readonly batchId: number;
  /** Of its launches. */
  readonly launchClass: LaunchClass;
  /** The same, where its frame said so. */
  readonly givenClass: LaunchClass | undefined;
  /** Places of the items that are still to be computed, in the order in which the device has them. */
  live: number[] = [];
  /** Contexts that were lost with it on the device. */
  losses = 0;
  /** When it last began to be copied in, began to compute and had computed; undefined: it has not. */
  private copyNs = 0;
  private inputNs = 0;
  private computeNs: number | undefined;
  private computedNs: number | undefined;
  private readonly items: readonly BatchItem[];
  private readonly results: (ItemResult | undefined)[];
  /** Of items whose own bytes are a text: what the device gets. */
  private readonly encoded = new Map<number, Uint8Array>();

  constructor(
    frame: PredictFrame,
    readonly arrivalNs: number,
    readonly hostArrivalNs: number,
    /** Of the container's launches where the frame says nothing. */
    ownClass: LaunchClass = 'standard',
  ) {
    this.batchId = frame.batchId;
    this.givenClass = frame.launchClass;
    this.launchClass = frame.launchClass ?? ownClass;
    this.items = frame.items;
    this.results = new Array<ItemResult | undefined>(frame.items.length).fill(undefined);
  }

  /** Its launches may take the GPU from the other's. */
  isAbove(other: BatchWork): boolean {
    return LAUNCH_CLASSES.indexOf(this.launchClass) < LAUNCH_CLASSES.indexOf(other.launchClass);
  }

  onCopy(nowNs: number): void {
    this.copyNs = nowNs;
  }

  onCopiedIn(nowNs: number): void {
    this.inputNs = nowNs - this.copyNs;
  }

  onCompute(nowNs: number): void {
    this.computeNs = nowNs;
    this.computedNs = undefined;
  }

  onComputed(nowNs: number): void {
    this.computedNs = nowNs;
  }

  /** Of its service time, now that it is answered. An attempt that was lost counts as waiting. */
  parts(nowNs: number): ServiceParts | undefined {
    const { arrivalNs, inputNs, computeNs, computedNs } = this;
    if (computeNs === undefined || computedNs === undefined) return undefined;
    return { waitNs: computeNs - arrivalNs - inputNs, inputNs, outputNs: nowNs - computedNs };
  }

  get size(): number {
    return this.items.length;
  }

  item(place: number): BatchItem {
    return this.items[place];
  }

  /** What the device gets of an item. */
  deviceBytes(place: number): Uint8Array {
    return this.encoded.get(place) ?? this.items[place].bytes;
  }

  setDeviceBytes(place: number, bytes: Uint8Array): void {
    this.encoded.set(place, bytes);
  }

  settle(place: number, result: ItemResult): void {
    this.results[place] ??= result;
  }

  fail(place: number, code: Exclude<ItemResult, { ok: true }>['code'], message: string): void {
    this.settle(place, { id: this.items[place].id, ok: false, code, message });
  }

  /** Settles every item that has no result yet. */
  failRest(code: Exclude<ItemResult, { ok: true }>['code'], message: string): void {
    for (let place = 0; place < this.size; place++) this.fail(place, code, message);
  }

  cancel(itemIds: readonly number[]): void {
    const ids = new Set(itemIds);
    this.items.forEach(({ id }, place) => {
      if (ids.has(id)) this.fail(place, 'cancelled', 'cancelled before it was launched');
    });
  }

  isSettled(place: number): boolean {
    return this.results[place] !== undefined;
  }

  /** Places without a result, in order. */
  unsettled(): number[] {
    return Array.from({ length: this.size }, (_, place) => place).filter((place) => !this.isSettled(place));
  }

  /** Every item's result, in the batch's order. */
  answer(): ItemResult[] {
    return this.results.map((result, place) => {
      return (
        result ?? {
          id: this.items[place].id,
          ok: false,
          code: 'modelError',
          message: 'the model gave no answer',
        }
      );
    });
  }
}
