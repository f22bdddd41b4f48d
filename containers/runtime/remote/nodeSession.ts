import {
  encodeFrame,
  FrameReader,
  ProtocolError,
  type ContainerFrame,
  type FrontendFrame,
} from '../../protocol/index.js';
import type { TimelineSink } from '../nodeHost.js';
import type { Link } from './link.js';
import { LinkError } from './linkError.js';
import { readStart, type FromFrontend, type FromNode } from './messages.js';
import type { ReplicaShelf } from './replicaShelf.js';
import type { Hold } from './sharedReplica.js';

/** What of the node a frontend may ask for beside replicas. */
export interface NodeVerbs {
  record(limit: number, sink: TimelineSink): 'begun' | 'recording' | 'down';
  stopRecording(): void;
  /** Whether this frontend watches has changed. */
  onWatch(): void;
}

interface Line {
  readonly reader: FrameReader;
  hold: Hold | undefined;
}

/** Characters of a timeline in one message. */
const TIMELINE_PIECE = 64 * 1024;
/** A timeline of which so much waits to be sent is given up. */
const MOST_WAITING_BYTES = 256 * 1024 * 1024;
/** What models print is left out while so much of their line waits to be sent. */
const MOST_PRINTED_BYTES = 1024 * 1024;

/** One frontend on a node, from its welcome to the end of its connection. */
export class NodeSession {
  private readonly lines = new Map<number, Line>();
  private lastLine = 0;
  private isRecording = false;
  private isWatching = false;
  private isDraining = false;

  constructor(
    readonly link: Link,
    private readonly version: number,
    private readonly shelf: ReplicaShelf,
    private readonly verbs: NodeVerbs,
  ) {}

  get watches(): boolean {
    return this.isWatching;
  }

  /** @throws ProtocolError */
  onMessage(message: FromFrontend): void {
    switch (message.kind) {
      case 'start':
        this.start(message.line, message.request);
        return;
      case 'stop':
        this.lines.get(message.line)?.hold?.release(false);
        this.forget(message.line);
        return;
      case 'watch':
        this.isWatching = message.watched;
        this.verbs.onWatch();
        return;
      case 'record':
        this.record(message.limit);
        return;
      case 'stopRecording':
        if (this.isRecording) this.verbs.stopRecording();
        return;
      case 'ping':
        this.send({ kind: 'pong' });
        return;
      case 'bye':
        for (const { hold } of this.lines.values()) hold?.release(false);
        this.lines.clear();
        this.link.end(new LinkError('closed', `${this.link.peer} has ended`));
        return;
      case 'hello':
      case 'proof':
        throw new ProtocolError(`a second '${message.kind}'`);
    }
  }

  /** @throws ProtocolError */
  onData(line: number, bytes: Uint8Array): void {
    // Of a line that has ended, more may have been on its way.
    this.lines.get(line)?.reader.push(bytes);
    if (line > this.lastLine) throw new ProtocolError(`a frame on line ${line}, which was not started`);
  }

  send(message: FromNode): void {
    this.link.send(message);
  }

  /** Starts nothing more, and says so. */
  drain(): void {
    this.isDraining = true;
    this.send({ kind: 'draining' });
  }

  /** The connection is gone: what its frontend held is free. */
  end(): void {
    for (const { hold } of this.lines.values()) hold?.release(true);
    this.lines.clear();
    if (this.isRecording) this.verbs.stopRecording();
    this.isWatching = false;
    this.verbs.onWatch();
  }

  private start(number: number, request: unknown): void {
    if (number <= this.lastLine) throw new ProtocolError(`line ${number} was started before`);
    this.lastLine = number;
    const line: Line = {
      reader: new FrameReader((frame) => this.onFrame(number, frame), this.version),
      hold: undefined,
    };
    this.lines.set(number, line);
    const found = this.isDraining ? 'the node is shutting down' : readStart(request);
    if (typeof found === 'string') {
      this.deliver(number, { kind: 'down', reason: `the node does not start it: ${found}` });
      return;
    }
    line.hold = this.shelf.hold(found, { onFrame: (frame) => this.deliver(number, frame) });
    // It may have gone down in the call.
    if (!this.lines.has(number)) line.hold.release(false);
  }

  private onFrame(line: number, frame: FrontendFrame | ContainerFrame): void {
    if (frame.kind !== 'predict' && frame.kind !== 'cancel') {
      throw new ProtocolError(`'${frame.kind}', which is a container's to send`);
    }
    this.lines.get(line)?.hold?.send(frame);
  }

  private deliver(line: number, frame: ContainerFrame): void {
    if (!this.lines.has(line)) return;
    const { outbox } = this.link;
    if (frame.kind === 'printed' && outbox.waitingOf(line) > MOST_PRINTED_BYTES) return;
    outbox.frame(line, this.encoded(frame));
    if (frame.kind === 'down') this.lines.delete(line);
  }

  private encoded(frame: ContainerFrame): Uint8Array {
    try {
      return encodeFrame(frame, this.version);
    } catch (error) {
      if (!(error instanceof ProtocolError) || frame.kind !== 'result') throw error;
      const { message } = error;
      const results = frame.results.map(
        ({ id }) => ({ id, ok: false, code: 'modelError', message }) as const,
      );
      return encodeFrame({ ...frame, results }, this.version);
    }
  }

  private forget(line: number): void {
    this.lines.delete(line);
    this.link.outbox.forget(line);
  }

  private record(limit: number): void {
    const answer = this.verbs.record(limit, {
      onText: (text) => {
        for (let at = 0; at < text.length; at += TIMELINE_PIECE) {
          this.send({ kind: 'timeline', text: text.slice(at, at + TIMELINE_PIECE) });
        }
        if (this.link.outbox.waiting > MOST_WAITING_BYTES) this.verbs.stopRecording();
      },
      onEnd: (failure) => {
        this.isRecording = false;
        this.send({ kind: 'timelineEnd', ...(failure === undefined ? {} : { failure }) });
      },
    });
    if (answer === 'begun') this.isRecording = true;
    else {
      const failure =
        answer === 'recording' ? 'the node is being recorded already' : 'the node has no GPU that runs';
      this.send({ kind: 'timelineEnd', failure });
    }
  }
}
