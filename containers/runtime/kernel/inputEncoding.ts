import { InputEncoder, type KernelModel } from '../../models/index.js';
import type { BatchWork } from './batchWork.js';

/** Lets the host do something else first. */
export type HostTurn = (next: () => void) => void;

/** Rests of an encoder before the host does something else: about a millisecond of work. */
const STEPS_A_TURN = 2;
/** Bytes of short queries after which there is a rest too. */
const REST_AFTER_BYTES = 16_384;

/** Makes numbers of a batch's texts on the host, in turns with whatever else the host does. */
export class InputEncoding {
  private readonly encoder: InputEncoder;
  /** Batches with texts that are being encoded. */
  private readonly open = new Set<BatchWork>();

  constructor(
    { manifest, encoding }: Pick<KernelModel, 'manifest' | 'encoding'>,
    /** undefined: nothing else waits for the host. */
    private readonly turn: HostTurn | undefined,
  ) {
    if (encoding === undefined) throw new Error('the model has no encoding');
    this.encoder = new InputEncoder(encoding, manifest.inputs[0].encoding?.columns);
  }

  /** Encodes what is unsettled of the batch, and then calls `done`: within the call where its texts are short. */
  encode(batch: BatchWork, done: (batch: BatchWork) => void): void {
    const steps = this.steps(batch);
    this.open.add(batch);
    const goOn = (): void => {
      if (!this.open.has(batch)) return;
      for (let step = 0; this.turn === undefined || step < STEPS_A_TURN; step++) {
        if (steps.next().done !== true) continue;
        this.open.delete(batch);
        done(batch);
        return;
      }
      this.turn?.(goOn);
    };
    goOn();
  }

  /** The batch of that number, while it is being encoded. */
  find(batchId: number): BatchWork | undefined {
    for (const batch of this.open) if (batch.batchId === batchId) return batch;
    return undefined;
  }

  /** Nobody waits any more. */
  close(): void {
    this.open.clear();
  }

  private *steps(batch: BatchWork): Generator<void, void> {
    let bytes = 0;
    for (const place of batch.unsettled()) {
      bytes += batch.item(place).bytes.length;
      if (bytes > REST_AFTER_BYTES) {
        bytes = 0;
        yield;
      }
      // It may have been cancelled meanwhile.
      if (batch.isSettled(place)) continue;
      const result = yield* this.encoder.encode(batch.item(place).bytes);
      if (typeof result === 'string') batch.fail(place, 'invalidInput', result);
      else batch.setDeviceBytes(place, new Uint8Array(result.buffer));
    }
  }
}
