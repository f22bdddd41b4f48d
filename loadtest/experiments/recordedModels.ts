import type { BatchItem } from '../../containers/protocol/index.js';
import { InProcessChannel, SyntheticContainer } from '../../containers/runtime/testing/index.js';
import { KeyedDraw } from '../../selection/index.js';
import type { BatchingChoice, ModelRecord } from '../../services/registry/index.js';
import type { VirtualClock } from '../../simulator/time/index.js';

/** What a model answers to each digit of a set: an experiment asks it hundreds of thousands of times. */
export interface RecordedModel {
  readonly name: string;
  /** A label, 0 to 9, by the digit's index in the set. */
  readonly labels: Uint8Array;
}

/** A stretch of queries in which a model answers with a digit drawn by lot. */
export interface Failure {
  readonly model: string;
  readonly from: number;
  readonly until: number;
}

const CLASSES = 10;
const SERVICE_NS = 1e6;

/** The input of one query: which digit, and which query, so that no two inputs are the same. */
export function recordedInput(digit: number, query: number): Uint8Array {
  return new Uint8Array(Float64Array.of(digit, query).buffer);
}

export function recordedRecord(name: string, batching: BatchingChoice = { strategy: 'aimd' }): ModelRecord {
  return {
    name,
    version: '1',
    inputType: 'doubles',
    inputLength: 2,
    labels: [],
    container: { kind: 'external', containerName: 'recorded', modelDataPath: '' },
    batching,
  };
}

/** One replica of the model, a millisecond a batch. */
export function recordedReplica(
  clock: VirtualClock,
  { name, labels }: RecordedModel,
  failure: Failure | undefined,
  seed: number,
): InProcessChannel {
  const draw = new KeyedDraw(seed);
  const channel = new InProcessChannel(clock, `channel ${name}`);
  const service = {
    fixedNs: SERVICE_NS,
    itemNs: 0,
    inputType: 'doubles',
    maxBatchSize: 64,
    output: ({ bytes }: BatchItem) => {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const query = view.getFloat64(8, true);
      if (failure?.model === name && query >= failure.from && query < failure.until) {
        return `${Math.floor(draw.of(`failure ${query}`)() * CLASSES)}`;
      }
      return `${labels[view.getFloat64(0, true)]}`;
    },
  } as const;
  const identity = { model: name, version: '1', replica: '0' };
  channel.connect(new SyntheticContainer(clock, `container ${name}`, identity, service, channel));
  return channel;
}
