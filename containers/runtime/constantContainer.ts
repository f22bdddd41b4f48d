import { PROTOCOL_VERSION, type FrontendFrame, type InputType } from '../protocol/index.js';
import type { ContainerOutlet, ModelContainer } from './modelContainer.js';
import type { ReplicaIdentity } from './replicaIdentity.js';

const MAX_BATCH_SIZE = 1024;
const CREDITS = 4;

/** Answers every input with the same output at once: what is left is the overhead of serving. */
export class ConstantContainer implements ModelContainer {
  readonly batchesInFlight = 0;

  constructor(
    identity: ReplicaIdentity,
    inputType: InputType,
    private readonly output: string,
    private readonly outlet: ContainerOutlet,
  ) {
    outlet.onFrame({
      kind: 'hello',
      protocolVersion: PROTOCOL_VERSION,
      model: identity.model,
      version: identity.version,
      replica: identity.replica,
      inputType,
      maxBatchSize: MAX_BATCH_SIZE,
      credits: CREDITS,
    });
  }

  onFrame(frame: FrontendFrame): void {
    if (frame.kind === 'cancel') return;
    this.outlet.onFrame({
      kind: 'result',
      batchId: frame.batchId,
      results: frame.items.map(({ id }) => ({ id, ok: true, output: this.output })),
      serviceNs: 0,
    });
  }

  close(): void {
    // Holds nothing.
  }
}
