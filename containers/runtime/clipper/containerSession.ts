import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import { ELEMENT_BYTES, type ContainerChannel, type InputType } from '../../protocol/index.js';
import { Allowance } from './allowance.js';
import { ClipperLine, MAX_BATCH_SIZE } from './clipperLine.js';
import {
  heartbeatFrames,
  readContainerMessage,
  RPC_VERSION,
  type ContainerMessage,
  type Heartbeat,
} from './rpcMessages.js';
import { ZmtpConnection, type MemoryBudget, type ZmtpListener } from './zmtp/index.js';

export interface SessionLimits {
  /** Of one message of a container. */
  readonly messageBytes: number;
  /** For ZeroMQ's handshake. */
  readonly handshakeMs: number;
  /** For a message, from its first byte to its last. */
  readonly messageMs: number;
  /** A container that is asked nothing and says nothing for so long is gone. */
  readonly silenceMs: number;
}

/** Whom a session tells, and what it shares with the others. */
export interface SessionHost {
  readonly limits: SessionLimits;
  readonly memory: MemoryBudget;
  readonly nextMessageId: () => number;
  readonly nowNs: () => number;
  readonly onRegistered: (session: ContainerSession) => void;
  readonly onEnd: (session: ContainerSession, reason: string) => void;
  readonly complain: (message: string, details: Readonly<Record<string, unknown>>) => void;
}

/** What a container has said that it is. */
export interface RegisteredContainer {
  readonly model: string;
  readonly version: string;
  readonly inputType: InputType;
  /**
   * 1 of numbers in C++: Clipper's library there moves a typed pointer by bytes, so that the second input of a batch overwrites
   * memory behind its buffer.
   */
  readonly maxBatchSize: number;
}

/** Beside an empty frame: type, id, length of the header and header of an answer. */
const HEAD_FRAMES = 5;
const MAX_NAME_BYTES = 1024;
/** Unasked: heartbeats, registrations, and answers that nobody waits for. */
const BURST = 200;
const PER_SECOND = 200;
const BYTES_PER_COST = 65_536;
const MALFORMED_COST = 10;
/** A container that does not read is told no more than that it is alive. */
const MAX_UNSENT_BYTES = 65_536;
/** One that has only dialled again says nothing for five seconds unless it is asked. */
const ASK_AFTER_MS = 250;

/** One container's connection, from its first byte on. */
export class ContainerSession implements ZmtpListener {
  private readonly connection: ZmtpConnection;
  private readonly allowance: Allowance;
  private registered: RegisteredContainer | undefined;
  private line: ClipperLine | undefined;
  private wasAsked = false;
  private silentMs = 0;
  private partialMs = 0;
  private asking: NodeJS.Timeout | undefined;
  private paused: NodeJS.Timeout | undefined;

  /** @param peer its address, for messages. */
  constructor(
    socket: Socket,
    readonly peer: string,
    private readonly host: SessionHost,
  ) {
    const { limits, memory, nowNs } = host;
    this.allowance = new Allowance(BURST, PER_SECOND, () => nowNs() / 1e6);
    const messages = { frames: HEAD_FRAMES + MAX_BATCH_SIZE, bytes: limits.messageBytes };
    this.connection = new ZmtpConnection(socket, this, () => messages, memory.reservation());
  }

  /** undefined: it has not said what it is, or what it has said cannot be served. */
  get container(): RegisteredContainer | undefined {
    return this.registered;
  }

  /** It is in use. */
  get isTaken(): boolean {
    return this.line !== undefined;
  }

  get isEnded(): boolean {
    return this.connection.isEnded;
  }

  /** Takes the container into use, once. Closing the channel ends the connection: the container dials again, and is there anew. */
  open(replica: string): ContainerChannel {
    const { registered, host } = this;
    if (registered === undefined || this.line !== undefined) {
      throw new Error('a container is taken into use once, after it has said what it is');
    }
    this.line = new ClipperLine({
      ...registered,
      replica,
      send: (frames) => this.connection.send(frames),
      nextMessageId: host.nextMessageId,
      nowNs: host.nowNs,
      stop: () => this.end('nobody wants it any more'),
      onProblem: (reason) => this.complain('an answer of a container cannot be used', { reason }),
    });
    if (this.isEnded) this.line.end('its connection is closed');
    return this.line.channel;
  }

  end(reason: string): void {
    this.connection.end(reason);
  }

  /** Time has passed. Whoever is stopped for a while misses ticks, and takes nobody else for silent. */
  tick(ms: number): void {
    const { limits } = this.host;
    const isBusy = this.line !== undefined && this.line.batchesInFlight > 0;
    this.silentMs = isBusy || this.paused !== undefined ? 0 : this.silentMs + ms;
    this.partialMs = this.connection.isPartial && this.paused === undefined ? this.partialMs + ms : 0;
    const seconds = (limit: number): string => `${limit / 1000} s`;
    if (!this.connection.isReady && this.partialMs >= limits.handshakeMs) {
      this.end(`it did not finish ZeroMQ's handshake in ${seconds(limits.handshakeMs)}`);
    } else if (this.partialMs >= limits.messageMs) {
      this.end(`it did not finish a message in ${seconds(limits.messageMs)}`);
    } else if (this.silentMs >= limits.silenceMs) {
      this.end(`it said nothing for ${seconds(limits.silenceMs)}`);
    }
  }

  onReady(): void {
    this.asking = setTimeout(() => {
      if (!this.wasAsked) this.beat('sendMetadata');
    }, ASK_AFTER_MS);
    this.asking.unref();
  }

  onMessage(frames: readonly Buffer[]): void {
    this.silentMs = 0;
    this.partialMs = 0;
    let bytes = 0;
    for (const { length } of frames) bytes += length;
    const message = readContainerMessage(frames);
    if (message.kind === 'content' && this.line?.onContent(message) === true) return;
    this.onUnasked(message);
    this.charge((message.kind === 'malformed' ? MALFORMED_COST : 1) + bytes / BYTES_PER_COST);
  }

  onCommand(): void {
    this.silentMs = 0;
    this.charge(1);
  }

  onEnd(reason: string): void {
    clearTimeout(this.asking);
    clearTimeout(this.paused);
    this.host.onEnd(this, reason);
    this.line?.end(reason);
  }

  private onUnasked(message: ContainerMessage): void {
    switch (message.kind) {
      case 'heartbeat':
        this.beat(this.registered === undefined ? 'sendMetadata' : 'keepAlive');
        return;
      case 'newContainer':
        this.register(message);
        return;
      case 'content': {
        // One that has dialled again may still answer what it was asked before.
        if (this.registered === undefined) return;
        const { messageId } = message;
        this.complain('a container answered what it was not asked, or has answered already', { messageId });
        return;
      }
      case 'malformed':
        this.complain("a container sent what is no message of Clipper's RPC", { reason: message.problem });
    }
  }

  private register(said: Extract<ContainerMessage, { kind: 'newContainer' }>): void {
    const { model, version, inputType, inputTypeText, isSurelyCpp, rpcVersion } = said;
    const who = { model: shown(model), version: shown(version) };
    if (rpcVersion !== RPC_VERSION) {
      // Every frame to it has said the version that is spoken: that is what it tells its own log.
      const message = 'a container speaks another version of the RPC: it is not served';
      this.complain(message, { ...who, expected: RPC_VERSION, rpcVersion: rpcVersion ?? 'none' });
      return;
    }
    if (inputType === undefined) {
      const message = 'a container takes inputs of a type that there is not: it is not served';
      this.complain(message, { ...who, inputType: inputTypeText });
      return;
    }
    if (!isName(model) || !isName(version)) {
      this.complain('a container is of a model or version whose name is none: it is not served', who);
      return;
    }
    const container = {
      model: model.toString('utf8'),
      version: version.toString('utf8'),
      inputType,
      maxBatchSize: isSurelyCpp && ELEMENT_BYTES[inputType] > 1 ? 1 : MAX_BATCH_SIZE,
    };
    if (this.registered === undefined) {
      this.registered = container;
      this.host.onRegistered(this);
      return;
    }
    const before = this.registered;
    if (
      before.model === container.model &&
      before.version === container.version &&
      before.inputType === inputType
    ) {
      return;
    }
    const message = 'a container said that it is another one than before: it has to dial again for that';
    this.complain(message, { ...who, before: `${before.model}:${before.version}` });
  }

  private beat(heartbeat: Heartbeat): void {
    this.wasAsked ||= heartbeat === 'sendMetadata';
    if (this.connection.unsentBytes <= MAX_UNSENT_BYTES) this.connection.send(heartbeatFrames(heartbeat));
  }

  /** One that sends too much is read no further for a while: it waits, and nobody else does. */
  private charge(cost: number): void {
    const waitMs = this.allowance.spend(cost);
    if (waitMs === 0 || this.paused !== undefined || this.isEnded) return;
    this.complain('a container sends too much unasked: it is read more slowly', {});
    this.connection.pause();
    this.paused = setTimeout(() => {
      this.paused = undefined;
      this.connection.resume();
    }, waitMs);
    this.paused.unref();
  }

  private complain(message: string, details: Readonly<Record<string, unknown>>): void {
    this.host.complain(message, { peer: this.peer, ...(this.registered ?? {}), ...details });
  }
}

function isName(bytes: Buffer): boolean {
  return bytes.length > 0 && bytes.length <= MAX_NAME_BYTES && isUtf8(bytes);
}

/** For a log: what a peer says may be any bytes, and any number of them. */
function shown(bytes: Buffer): string {
  const text = bytes.toString('utf8', 0, 64);
  return bytes.length > 64 ? `${text}...` : text;
}
