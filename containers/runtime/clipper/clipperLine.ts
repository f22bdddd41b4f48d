import { isUtf8 } from 'node:buffer';
import {
  MAX_FRAME_BYTES,
  PROTOCOL_VERSION,
  type ContainerChannel,
  type FrontendFrame,
  type InputType,
  type ItemResult,
  type PredictFrame,
} from '../../protocol/index.js';
import { LineChannel } from '../lineChannel.js';
import type { ReplicaIdentity } from '../replicaIdentity.js';
import { predictFrames, type ContainerMessage } from './rpcMessages.js';

/** The largest batch: Clipper's containers say none. */
export const MAX_BATCH_SIZE = 1024;
/** One batch at a time, as Clipper sends them: a container reads the next only once it has answered. */
const CREDITS = 1;

export interface ClipperLineOptions extends ReplicaIdentity {
  readonly inputType: InputType;
  readonly maxBatchSize: number;
  readonly send: (frames: readonly Uint8Array[]) => void;
  /** Of no message that may still be answered. */
  readonly nextMessageId: () => number;
  /** The frontend's clock. */
  readonly nowNs: () => number;
  /** Nobody wants the container any more. */
  readonly stop: () => void;
  /** An answer, or a part of it, cannot be used. */
  readonly onProblem: (problem: string) => void;
}

interface AskedBatch {
  readonly batchId: number;
  readonly ids: readonly number[];
  readonly sentNs: number;
}

type Content = Extract<ContainerMessage, { kind: 'content' }>;

/** The frontend's line to a container that speaks Clipper's RPC: frames of this side are made messages of that, and answers frames. */
export class ClipperLine {
  private readonly line: LineChannel;
  private readonly asked = new Map<number, AskedBatch>();

  constructor(private readonly options: ClipperLineOptions) {
    const { model, version, replica, inputType, maxBatchSize } = options;
    this.line = new LineChannel(0, {
      send: (_line, frame) => this.send(frame),
      stop: () => options.stop(),
    });
    this.line.deliver({
      kind: 'hello',
      protocolVersion: PROTOCOL_VERSION,
      model,
      version,
      replica,
      inputType,
      maxBatchSize,
      credits: CREDITS,
    });
  }

  get channel(): ContainerChannel {
    return this.line;
  }

  get batchesInFlight(): number {
    return this.asked.size;
  }

  /** @returns whether it was asked for: false of what is answered twice, late, or was never asked here. */
  onContent(content: Content): boolean {
    const batch = this.asked.get(content.messageId);
    if (batch === undefined) return false;
    this.asked.delete(content.messageId);
    const serviceNs = Math.max(0, this.options.nowNs() - batch.sentNs);
    const results = resultsOf(batch, content);
    for (const result of results) {
      if (result.ok) continue;
      this.options.onProblem(result.message);
      break;
    }
    this.line.deliver({
      kind: 'result',
      batchId: batch.batchId,
      results,
      serviceNs,
    });
    return true;
  }

  /** The container is gone. */
  end(reason: string): void {
    this.asked.clear();
    this.line.deliver({ kind: 'down', reason });
  }

  private send(frame: FrontendFrame): void {
    // Clipper has no word for what nobody waits for any more.
    if (frame.kind === 'cancel') return;
    const { batchId, items } = frame;
    let length = 0;
    for (const { bytes } of items) length += bytes.length;
    if (length > MAX_FRAME_BYTES) {
      this.refuse(frame, `a batch of ${length} bytes: ${MAX_FRAME_BYTES} are the most that are sent at once`);
      return;
    }
    const { send, nextMessageId, nowNs, inputType } = this.options;
    const messageId = nextMessageId();
    this.asked.set(messageId, { batchId, ids: items.map(({ id }) => id), sentNs: nowNs() });
    send(
      predictFrames(
        messageId,
        inputType,
        items.map(({ bytes }) => bytes),
      ),
    );
  }

  /** Not inside the call. */
  private refuse({ batchId, items }: PredictFrame, message: string): void {
    const results = items.map(({ id }) => failed(id, message));
    setImmediate(() => this.line.deliver({ kind: 'result', batchId, results, serviceNs: 0 }));
  }
}

/** Outputs are in order of the inputs. Where they are more or fewer, nobody can tell whose each is. */
function resultsOf({ ids }: AskedBatch, { outputs, problem }: Content): ItemResult[] {
  if (outputs === undefined) return ids.map((id) => failed(id, problem ?? 'its answer cannot be read'));
  if (outputs.length !== ids.length) {
    const message = `its answer has ${outputs.length} outputs, it was asked ${ids.length} inputs`;
    return ids.map((id) => failed(id, message));
  }
  return ids.map((id, at) => {
    const output = outputs[at];
    if (!isUtf8(output)) return failed(id, 'its output is no UTF-8');
    return { id, ok: true, output: output.toString('utf8') };
  });
}

function failed(id: number, message: string): ItemResult {
  return { id, ok: false, code: 'modelError', message };
}
