import { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import {
  encodeFrame,
  FrameReader,
  PROTOCOL_VERSION,
  type ContainerFrame,
  type PredictFrame,
} from '../../protocol/index.js';
import type { ReplicaIdentity } from '../modelContainer.js';
import { answersOf, messageOf } from './batchAnswers.js';
import { loadModel, type LoadedModel } from './loadedModel.js';

/** What `ProcessChannel` hands over as the only argument, as JSON. */
export interface ProcessArguments extends ReplicaIdentity {
  readonly path: string;
  readonly parentPid: number;
}

/** The line to the server: one end of a socket pair. */
const LINE_FD = 3;

/** One batch computes while the next one is on its way. */
const CREDITS = 2;

/**
 * A thread that ends the process when its parent is gone: the closed socket is not seen while a model keeps the event
 * loop busy.
 */
const GUARD = `
const { workerData } = require('node:worker_threads');
setInterval(() => { if (process.ppid !== workerData) process.kill(process.pid, 'SIGKILL'); }, 500);
`;

interface TakenBatch {
  readonly frame: PredictFrame;
  readonly cancelled: Set<number>;
  readonly arrivedMs: number;
}

/** The user's end: loads the model, says hello, answers one batch after the other. */
class ModelProcess {
  private readonly batches: TakenBatch[] = [];
  private working = false;

  constructor(
    private readonly socket: Socket,
    private readonly model: LoadedModel,
    { model: name, version, replica }: ReplicaIdentity,
  ) {
    const { inputType, inputLength, maxBatchSize } = model;
    const reader = new FrameReader((frame) => {
      if (frame.kind === 'predict') {
        this.batches.push({ frame, cancelled: new Set(), arrivedMs: performance.now() });
        void this.work();
      } else if (frame.kind === 'cancel') {
        const batch = this.batches.find((one) => one.frame.batchId === frame.batchId);
        for (const id of frame.itemIds) batch?.cancelled.add(id);
      }
    });
    socket.on('data', (piece) => reader.push(piece));
    this.send({
      kind: 'hello',
      protocolVersion: PROTOCOL_VERSION,
      model: name,
      version,
      replica,
      inputType,
      ...(inputLength === undefined ? {} : { inputLength }),
      maxBatchSize,
      credits: CREDITS,
    });
  }

  private async work(): Promise<void> {
    if (this.working) return;
    this.working = true;
    for (let batch = this.batches.shift(); batch !== undefined; batch = this.batches.shift()) {
      const { frame, cancelled, arrivedMs } = batch;
      const { batchId, items } = frame;
      const results = await answersOf(this.model, items, (id) => cancelled.has(id));
      const serviceNs = (performance.now() - arrivedMs) * 1e6;
      try {
        this.send({ kind: 'result', batchId, serviceNs, results });
      } catch (error) {
        const message = messageOf(error);
        const failures = items.map(({ id }) => ({ id, ok: false, code: 'modelError', message }) as const);
        this.send({ kind: 'result', batchId, serviceNs, results: failures });
      }
    }
    this.working = false;
  }

  private send(frame: ContainerFrame): void {
    this.socket.write(encodeFrame(frame));
  }
}

async function main({ path, parentPid, ...identity }: ProcessArguments): Promise<void> {
  const guard = new Worker(GUARD, { eval: true, workerData: parentPid, name: 'parentGuard' });
  guard.unref();
  const socket = new Socket({ fd: LINE_FD });
  socket.on('close', () => process.exit(0));
  socket.on('error', () => process.exit(1));
  try {
    new ModelProcess(socket, await loadModel(path), identity);
  } catch (error) {
    socket.end(encodeFrame({ kind: 'down', reason: `${path}: ${messageOf(error)}` }));
  }
}

void main(JSON.parse(process.argv[2]) as ProcessArguments);
