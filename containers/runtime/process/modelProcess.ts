import { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { ContentCheck, moduleContent, programContent } from '../../content/index.js';
import {
  encodeFrame,
  FrameReader,
  PROTOCOL_VERSION,
  type ContainerFrame,
  type InputType,
  type PredictFrame,
} from '../../protocol/index.js';
import type { ReplicaIdentity } from '../replicaIdentity.js';
import { BatchAnswers } from './batchAnswers.js';
import { failed, messageOf } from './itemResults.js';
import { loadModel, type LoadedModel } from './loadedModel.js';
import type { GuardLimits } from './memoryGuard.js';
import { startProgram } from './program.js';

/** What `ModelChild` hands over as the only argument, as JSON. */
export interface ProcessArguments extends ReplicaIdentity {
  /** Absolute: the module, or with a command the folder that it runs in. */
  readonly path: string;
  /** Of a program that reads and writes lines of JSON. */
  readonly command?: string;
  /** What the registry says that it takes. */
  readonly inputType?: InputType;
  /** Of a module: the JavaScript heap, and everything else that it takes beside Node itself; of a program: all its processes. */
  readonly memoryMiB?: number;
  readonly parentPid: number;
  /** Of the module's files when it was registered; with others it does not start. */
  readonly contentHash?: string;
}

/** The line to the server: one end of a socket pair. */
const LINE_FD = 3;

/** One batch computes while the next one is on its way. */
const CREDITS = 2;

/** What a Node process takes by itself, generously. */
const NODE_MIB = 128;

interface TakenBatch {
  readonly frame: PredictFrame;
  readonly cancelled: Set<number>;
}

/** The user's end: loads the model or starts the program, says hello, answers one batch after the other. */
class ModelProcess {
  private readonly batches: TakenBatch[] = [];
  private readonly answers: BatchAnswers;
  private working = false;

  constructor(
    private readonly socket: Socket,
    model: LoadedModel,
    { model: name, version, replica }: ReplicaIdentity,
  ) {
    this.answers = new BatchAnswers(model);
    // It has failed for some input, which nobody can tell: whoever else is answered here goes on.
    process.on('unhandledRejection', (reason) => {
      console.error('Unhandled rejection:', reason);
      this.answers.onStray(reason);
    });
    const { inputType, inputLength, maxBatchSize } = model;
    const reader = new FrameReader((frame) => {
      if (frame.kind === 'predict') {
        this.batches.push({ frame, cancelled: new Set() });
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
      const { frame, cancelled } = batch;
      const { batchId } = frame;
      const startedMs = performance.now();
      const { results, calls } = await this.answers.answer(frame, (id) => cancelled.has(id));
      const serviceNs = (performance.now() - startedMs) * 1e6;
      try {
        this.send({ kind: 'result', batchId, serviceNs, results, calls });
      } catch (error) {
        const message = messageOf(error);
        const failures = frame.items.map(({ id }) => failed(id, message));
        this.send({ kind: 'result', batchId, serviceNs, results: failures });
      }
    }
    this.working = false;
  }

  private send(frame: ContainerFrame): void {
    this.socket.write(encodeFrame(frame));
  }
}

async function main({
  path,
  command,
  inputType,
  parentPid,
  memoryMiB,
  contentHash,
  ...identity
}: ProcessArguments): Promise<void> {
  const limits =
    memoryMiB === undefined ? {} : { memoryMiB, ...(command === undefined ? { nodeMiB: NODE_MIB } : {}) };
  const guard = new Worker(new URL('processGuard.js', import.meta.url), {
    workerData: { parentPid, ...limits } satisfies GuardLimits,
    name: 'processGuard',
  });
  guard.unref();
  const socket = new Socket({ fd: LINE_FD });
  let model: LoadedModel | undefined;
  // The server has closed the line, or is gone.
  socket.on('close', () => void end(model));
  socket.on('error', () => undefined);
  try {
    const check = new ContentCheck(contentHash, () =>
      command === undefined ? moduleContent(path) : programContent(path, command),
    );
    let change = check.change();
    if (change === undefined) {
      model =
        command === undefined ? await loadModel(path) : await startProgram(command, inputType, parentPid);
      // What it has read may have come in between.
      change = check.change();
    }
    if (change !== undefined) socket.end(encodeFrame({ kind: 'down', reason: `${path}: ${change}` }));
    else if (model !== undefined) new ModelProcess(socket, model, identity);
  } catch (error) {
    socket.end(encodeFrame({ kind: 'down', reason: `${path}: ${messageOf(error)}` }));
  }
}

async function end(model: LoadedModel | undefined): Promise<void> {
  try {
    await model?.close?.();
  } catch (error) {
    console.error(error);
  }
  // Behind the model's own listeners: what it started ends with it, though no server may be there to see to it.
  process.once('exit', () => process.kill(0, 'SIGKILL'));
  process.exit(0);
}

void main(JSON.parse(process.argv[2]) as ProcessArguments);
