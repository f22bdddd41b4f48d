import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import {
  encodeFrame,
  FrameReader,
  ProtocolError,
  type ContainerFrame,
  type FrontendFrame,
} from '../../protocol/index.js';
import { LineChannel, type LineHub } from '../lineChannel.js';
import type { ContainerStart } from '../modelContainer.js';
import type { NodeReport, TimelineSink } from '../nodeHost.js';
import { isSameProof, proofOf, type Handshake } from './clusterKey.js';
import { Link, type LinkListener } from './link.js';
import { LinkError, type LinkErrorCode } from './linkError.js';
import { readFromNode, type FromFrontend, type FromNode, type Hello, type VersionRange } from './messages.js';
import { unpackReport } from './nodeReports.js';

export interface ConnectionOptions {
  readonly frontend: string;
  /** Counts the connections of this frontend to this node. */
  readonly incarnation: number;
  /** That is to answer; any when undefined. */
  readonly node: string | undefined;
  readonly key: Buffer | undefined;
  readonly versions: VersionRange;
  readonly pingMs: number;
  /** A node of which nothing comes for so long is out of use. */
  readonly silenceMs: number;
}

export interface ConnectionListener {
  onUp(node: string, gpus: readonly string[]): void;
  onReport(report: NodeReport): void;
  /** The node takes nothing new. */
  onDraining(): void;
  /** A batch was answered or lost, or a replica has ended. */
  onChange(): void;
  /** Called once; all channels are down. */
  onEnd(error: LinkError): void;
}

interface Line {
  readonly channel: LineChannel;
  readonly reader: FrameReader;
  /** Batches that the node has and has not answered. */
  readonly inFlight: Set<number>;
}

/** How often it is looked whether the node is silent, within the time that it may be. */
const SILENCE_TICKS = 6;

/** A frontend's side of one connection to a node. What comes of an earlier one comes to that one, which nobody listens to any more. */
export class NodeConnection implements LineHub, LinkListener {
  private readonly link: Link;
  private readonly lines = new Map<number, Line>();
  private readonly ownNonce = randomBytes(32).toString('hex');
  /** For messages. */
  private readonly peer: string;
  private nextLine = 1;
  private said: Handshake | undefined;
  private isUp = false;
  private isDraining = false;
  private recording: TimelineSink | undefined;
  private ping: NodeJS.Timeout | undefined;
  /** When pings were sent that have no answer yet, the oldest first. */
  private readonly pingedMs: number[] = [];
  /** Of the last ping that was answered. */
  roundTripMs: number | undefined;

  /** @param socket that is connected. @param address for messages */
  constructor(
    private readonly socket: Socket,
    private readonly address: string,
    private readonly options: ConnectionOptions,
    private readonly listener: ConnectionListener,
  ) {
    const { versions, frontend, incarnation, node, silenceMs } = options;
    this.peer = node === undefined ? `the node at ${address}` : `GPU node '${node}' at ${address}`;
    this.link = new Link(socket, this.peer, this);
    const hello: Hello = {
      kind: 'hello',
      versions,
      frontend,
      incarnation,
      nonce: this.ownNonce,
      ...(node === undefined ? {} : { node }),
    };
    this.tell(hello);
    this.link.watchSilence(silenceMs / SILENCE_TICKS, SILENCE_TICKS);
  }

  get replicas(): number {
    return this.lines.size;
  }

  get isIdle(): boolean {
    for (const { inFlight } of this.lines.values()) if (inFlight.size > 0) return false;
    return true;
  }

  start(request: ContainerStart): LineChannel {
    const number = this.nextLine++;
    const channel = new LineChannel(number, this);
    const { version = 0 } = this.said ?? {};
    const reader = new FrameReader((frame) => this.onFrame(number, frame), version);
    this.lines.set(number, { channel, reader, inFlight: new Set() });
    this.tell({ kind: 'start', line: number, request });
    return channel;
  }

  watch(watched: boolean): void {
    this.tell({ kind: 'watch', watched });
  }

  record(limit: number, sink: TimelineSink): 'begun' | 'recording' {
    if (this.recording !== undefined) return 'recording';
    this.recording = sink;
    this.tell({ kind: 'record', limit });
    return 'begun';
  }

  stopRecording(): void {
    if (this.recording !== undefined) this.tell({ kind: 'stopRecording' });
  }

  end(error: LinkError): void {
    const lastWords =
      error.code === 'closed' && this.isUp ? ({ kind: 'bye' } satisfies FromFrontend) : undefined;
    this.link.end(error, lastWords);
  }

  /** From a channel. */
  send(number: number, frame: FrontendFrame): void {
    const line = this.lines.get(number);
    if (line === undefined) return;
    // What is asked while it shuts down is asked elsewhere, once the replica is down.
    if (this.isDraining && frame.kind === 'predict') return;
    let bytes: Uint8Array;
    try {
      bytes = encodeFrame(frame, this.said?.version);
    } catch (error) {
      if (!(error instanceof ProtocolError) || frame.kind !== 'predict') throw error;
      // Not inside this call.
      const { batchId } = frame;
      const { message } = error;
      const results = frame.items.map(({ id }) => ({ id, ok: false, code: 'modelError', message }) as const);
      setImmediate(() => line.channel.deliver({ kind: 'result', batchId, results, serviceNs: 0 }));
      return;
    }
    if (frame.kind === 'predict') line.inFlight.add(frame.batchId);
    this.link.outbox.frame(number, bytes);
  }

  isUnheard(): boolean {
    return this.link.silence >= SILENCE_TICKS / 2;
  }

  /** A channel was closed. */
  stop(line: number): void {
    if (!this.lines.delete(line)) return;
    this.link.outbox.forget(line);
    this.tell({ kind: 'stop', line });
    this.listener.onChange();
  }

  onMessage(message: unknown): void {
    const found = readFromNode(message);
    if (!this.isUp) {
      this.onFirst(found);
      return;
    }
    switch (found.kind) {
      case 'report':
        this.listener.onReport(unpackReport(found.report, this.said?.node ?? ''));
        return;
      case 'timeline':
        this.recording?.onText(found.text);
        return;
      case 'timelineEnd':
        this.endRecording(found.failure);
        return;
      case 'draining':
        this.drain();
        return;
      case 'pong':
        this.onPong();
        return;
      case 'challenge':
      case 'welcome':
      case 'refused':
        throw new ProtocolError(`'${found.kind}' after the welcome`);
    }
  }

  onData(line: number, bytes: Uint8Array): void {
    if (!this.isUp || line >= this.nextLine)
      throw new ProtocolError(`a frame on line ${line}, which was not started`);
    // Of a line that was closed, more may have been on its way.
    this.lines.get(line)?.reader.push(bytes);
  }

  onEnd(error: LinkError): void {
    clearInterval(this.ping);
    const lines = [...this.lines.values()];
    this.lines.clear();
    this.endRecording(error.message);
    for (const { channel } of lines)
      channel.deliver({ kind: 'down', reason: error.message, isOutside: true });
    this.listener.onEnd(error);
  }

  private onFirst(message: FromNode): void {
    try {
      switch (message.kind) {
        case 'challenge':
          this.onChallenge(message);
          return;
        case 'welcome':
          this.onWelcome(message);
          return;
        case 'refused':
          throw new LinkError(message.code as LinkErrorCode, `${this.peer} refused: ${message.message}`);
        case 'draining':
        case 'pong':
        case 'report':
        case 'timeline':
        case 'timelineEnd':
          throw new ProtocolError(`'${message.kind}' before the welcome`);
      }
    } catch (error) {
      if (!(error instanceof LinkError)) throw error;
      this.link.end(error);
    }
  }

  private onChallenge({ version, node, nonce, asksKey }: Extract<FromNode, { kind: 'challenge' }>): void {
    const { frontend, incarnation, key, versions, node: wanted } = this.options;
    if (this.said !== undefined) throw new ProtocolError(`a second 'challenge'`);
    if (version < versions.oldest || version > versions.newest) {
      throw new LinkError(
        'protocol_version',
        `${this.peer} chose protocol version ${version}, which this side does not speak`,
      );
    }
    if (wanted !== undefined && wanted !== node) {
      throw new LinkError('node_name', `${this.peer} is node '${node}', and '${wanted}' was dialled`);
    }
    if (asksKey !== (key !== undefined)) {
      throw new LinkError(
        'cluster_key_missing',
        asksKey
          ? `node '${node}' asks for the cluster key: give --cluster-key-file`
          : `node '${node}' has no cluster key to prove itself with: give it --cluster-key-file`,
      );
    }
    const said = { frontend, incarnation, node, version, frontendNonce: this.ownNonce, nodeNonce: nonce };
    this.said = said;
    if (key !== undefined) this.tell({ kind: 'proof', proof: proofOf(key, 'frontend', said, this.socket) });
  }

  private onWelcome({ proof = '', gpus }: Extract<FromNode, { kind: 'welcome' }>): void {
    const { said } = this;
    if (said === undefined) throw new ProtocolError(`'welcome' before a challenge`);
    const { key, pingMs } = this.options;
    if (key !== undefined && !isSameProof(proof, proofOf(key, 'node', said, this.socket))) {
      throw new LinkError(
        'wrong_cluster_key',
        `node '${said.node}' did not prove that it has the cluster key`,
      );
    }
    this.isUp = true;
    this.link.peer = `GPU node '${said.node}' at ${this.address}`;
    this.link.trust();
    this.ping = setInterval(() => {
      this.pingedMs.push(performance.now());
      this.tell({ kind: 'ping' });
    }, pingMs);
    this.ping.unref();
    this.listener.onUp(said.node, gpus);
  }

  private onPong(): void {
    const pingedMs = this.pingedMs.shift();
    if (pingedMs !== undefined) this.roundTripMs = performance.now() - pingedMs;
  }

  private onFrame(number: number, frame: FrontendFrame | ContainerFrame): void {
    if (frame.kind === 'predict' || frame.kind === 'cancel') {
      throw new ProtocolError(`'${frame.kind}', which is a frontend's to send`);
    }
    const line = this.lines.get(number);
    if (line === undefined) return;
    if (frame.kind === 'result') line.inFlight.delete(frame.batchId);
    if (frame.kind === 'down') this.lines.delete(number);
    line.channel.deliver(frame);
    if (this.isDraining) this.drain();
    if (frame.kind === 'result' || frame.kind === 'down') this.listener.onChange();
  }

  /** Replicas end as soon as they have answered what they had. */
  private drain(): void {
    if (!this.isDraining) {
      this.isDraining = true;
      this.listener.onDraining();
    }
    const reason = `GPU node '${this.said?.node}' is shutting down`;
    for (const [number, { channel, inFlight }] of [...this.lines]) {
      if (inFlight.size > 0) continue;
      this.stop(number);
      channel.deliver({ kind: 'down', reason, isOutside: true });
    }
  }

  private tell(message: FromFrontend): void {
    this.link.send(message);
  }

  private endRecording(failure?: string): void {
    const { recording } = this;
    this.recording = undefined;
    recording?.onEnd(failure);
  }
}
