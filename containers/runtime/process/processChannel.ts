import { reasonOf } from '../../../simulator/text/index.js';
import {
  encodeFrame,
  FrameReader,
  PROTOCOL_VERSION,
  ProtocolError,
  type ContainerChannel,
  type ContainerFrame,
  type FrameSink,
  type FrontendFrame,
  type HelloFrame,
  type InputType,
} from '../../protocol/index.js';
import type { ReplicaIdentity } from '../replicaIdentity.js';
import { ModelChild, type ChildListener } from './modelChild.js';
import type { ProcessLimits } from './processLimits.js';
import type { OwnProcessSource } from './processSource.js';
import { sourceRefusal } from './sourceRefusal.js';

export type ProcessStart = OwnProcessSource &
  ReplicaIdentity & {
    /** What the registry says; any when undefined. */
    readonly inputType?: InputType;
    readonly inputLength?: number;
    /** The hash of `sourceContent` when it was registered. */
    readonly contentHash?: string;
  };

/** The server's end of a line to a process of its own that runs a user's model. */
export class ProcessChannel implements ContainerChannel {
  private early: ContainerFrame[] = [];
  private sink: FrameSink<ContainerFrame> | undefined;
  private isOver = false;
  private isClosed = false;
  private child: ModelChild | undefined;
  private timer: NodeJS.Timeout | undefined;
  /** Batches that are not answered. */
  private readonly inFlight = new Set<number>();
  private introduced = false;

  /** @param onChange the process has ended, or a batch was answered or lost. */
  constructor(
    private readonly request: ProcessStart,
    private readonly limits: ProcessLimits,
    private readonly onChange: () => void,
  ) {
    const refusal = sourceRefusal(request);
    if (refusal === undefined) this.start();
    else this.fail(refusal);
  }

  /** No process runs, or no longer. */
  get ended(): boolean {
    return this.child === undefined || this.child.ended;
  }

  get batchesInFlight(): number {
    return this.inFlight.size;
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  send(frame: FrontendFrame): void {
    if (this.isOver) return;
    if (frame.kind === 'predict') {
      this.inFlight.add(frame.batchId);
      if (this.inFlight.size === 1) this.watchBatch();
    }
    try {
      this.child?.write(encodeFrame(frame));
    } catch (error) {
      if (!(error instanceof ProtocolError) || frame.kind !== 'predict') throw error;
      // Not inside this call.
      const { message } = error;
      const results = frame.items.map(({ id }) => ({ id, ok: false, code: 'modelError', message }) as const);
      const { batchId } = frame;
      setImmediate(() => this.onFrame({ kind: 'result', batchId, results, serviceNs: 0 }));
    }
  }

  open(sink: FrameSink<ContainerFrame>): void {
    if (this.sink !== undefined) throw new Error('the channel is open already');
    this.sink = sink;
    const { early } = this;
    this.early = [];
    // What came before the channel was opened arrives right after, and not inside this call.
    queueMicrotask(() => {
      for (const frame of early) if (!this.isClosed) sink.onFrame(frame);
    });
  }

  /** The process may end by itself; after `closeMs` it is killed. */
  close(): void {
    this.isClosed = true;
    if (this.isOver) return;
    this.finish();
    const { child } = this;
    if (child === undefined || child.ended) return;
    child.closeLine();
    this.timer = setTimeout(() => child.kill(), this.limits.closeMs);
  }

  private start(): void {
    const { model, version, replica, inputType, contentHash } = this.request;
    const reader = new FrameReader((frame) => this.onFrame(frame));
    const listener: ChildListener = {
      onPiece: (piece) => {
        if (this.isOver) return;
        try {
          reader.push(piece);
        } catch (error) {
          if (!(error instanceof ProtocolError)) throw error;
          this.fail(`its process sent what is no frame: ${error.message}`);
        }
      },
      onPrinted: (text, stream) => this.deliver({ kind: 'printed', text, stream }),
      onLineClosed: () => this.fail('its process closed its line and went on'),
      onEnd: (reason) => {
        clearTimeout(this.timer);
        this.fail(reason);
        this.onChange();
      },
    };
    try {
      this.child = new ModelChild(
        this.request,
        {
          model,
          version,
          replica,
          ...(inputType === undefined ? {} : { inputType }),
          ...(contentHash === undefined ? {} : { contentHash }),
        },
        listener,
      );
    } catch (error) {
      this.fail(`cannot start a process: ${reasonOf(error)}`);
      return;
    }
    const { startMs } = this.limits;
    const advice = this.request.kind === 'exec' ? ': a program\'s first line is {"ready": true}' : '';
    this.timer = setTimeout(
      () => this.fail(`its process said nothing for ${startMs / 1000} s from its start${advice}`),
      startMs,
    );
  }

  private onFrame(frame: FrontendFrame | ContainerFrame): void {
    if (this.isOver) return;
    switch (frame.kind) {
      case 'predict':
      case 'cancel':
        this.fail(`its process sent '${frame.kind}', which is the server's to send`);
        return;
      case 'hello': {
        const refusal = this.helloRefusal(frame);
        if (refusal !== undefined) {
          this.fail(refusal);
          return;
        }
        this.introduced = true;
        clearTimeout(this.timer);
        break;
      }
      case 'result':
        if (this.inFlight.delete(frame.batchId)) this.watchBatch();
        break;
      case 'down':
        this.fail(frame.reason);
        return;
      case 'credit':
      case 'printed':
        break;
    }
    if (!this.introduced) {
      this.fail(`its process sent '${frame.kind}' before 'hello'`);
      return;
    }
    this.deliver(frame);
    if (frame.kind === 'result') this.onChange();
  }

  private helloRefusal(hello: HelloFrame): string | undefined {
    const { path, model, version, replica, inputType = hello.inputType, inputLength } = this.request;
    const who = `model '${model}' version '${version}'`;
    if (this.introduced) return `its process said 'hello' twice`;
    if (hello.protocolVersion !== PROTOCOL_VERSION) {
      return `its process speaks protocol version ${hello.protocolVersion}, this side version ${PROTOCOL_VERSION}`;
    }
    if (hello.model !== model || hello.version !== version || hello.replica !== replica) {
      return `its process says that it is model '${hello.model}' version '${hello.version}', not ${who}`;
    }
    if (hello.inputType !== inputType) {
      return `${path}: inputType: the model takes ${hello.inputType}, ${who} is registered with ${inputType}`;
    }
    if (inputLength !== undefined && hello.inputLength !== inputLength) {
      return `${path}: inputLength: the model takes ${hello.inputLength} values, ${who} is registered with ${inputLength}`;
    }
    return undefined;
  }

  private watchBatch(): void {
    clearTimeout(this.timer);
    if (this.inFlight.size === 0) return;
    const { batchMs } = this.limits;
    this.timer = setTimeout(
      () => this.fail(`its process did not answer a batch for ${batchMs / 1000} s`),
      batchMs,
    );
  }

  private deliver(frame: ContainerFrame): void {
    if (this.isOver) return;
    if (this.sink === undefined) this.early.push(frame);
    else this.sink.onFrame(frame);
  }

  /** The first reason is told; others follow from it. Whatever still runs is killed: nothing can be asked of it any more. */
  private fail(reason: string): void {
    if (this.isOver) return;
    this.deliver({ kind: 'down', reason });
    // Whoever heard of it may have closed the channel.
    clearTimeout(this.timer);
    this.finish();
    this.child?.kill();
  }

  private finish(): void {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.timer);
    this.inFlight.clear();
    this.onChange();
  }
}
