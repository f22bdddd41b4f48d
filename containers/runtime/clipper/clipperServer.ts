import { lookup } from 'node:dns/promises';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { ContainerChannel } from '../../protocol/index.js';
import { Complaints, type Tell } from './complaints.js';
import {
  ContainerSession,
  type RegisteredContainer,
  type SessionHost,
  type SessionLimits,
} from './containerSession.js';
import { CLOSED_BY_PEER, MemoryBudget } from './zmtp/index.js';

export interface ClipperLimits extends SessionLimits {
  /** Connections, those of containers that are not served among them. */
  readonly connections: number;
  /** Memory of all messages together that are not complete, beside what each connection has of its own. */
  readonly bufferedBytes: number;
}

export const DEFAULT_CLIPPER_LIMITS: ClipperLimits = {
  messageBytes: 64 * 1024 * 1024,
  handshakeMs: 10_000,
  messageMs: 60_000,
  silenceMs: 30_000,
  connections: 1024,
  bufferedBytes: 256 * 1024 * 1024,
};

export interface ClipperServerOptions {
  /** The frontend's clock. */
  readonly nowNs: () => number;
  /** The id of the first message: another one with each start, since containers may still answer what was asked before. */
  readonly firstMessageId: number;
  readonly limits?: Partial<ClipperLimits>;
  /** Told what whoever runs the server should know. */
  readonly complain: Tell;
}

/** A container that has dialled in and said what it is. */
export interface DialledContainer extends RegisteredContainer {
  /** Its address. */
  readonly peer: string;
  /** Takes it into use; once. Closing the channel ends the connection: the container dials again, and is there anew. */
  open(replica: string): ContainerChannel;
}

const TICK_MS = 1000;
const LAST_MESSAGE_ID = 0x7fff_ffff;

/**
 * The side of Clipper's RPC (version 3) that containers dial: a ZeroMQ ROUTER. It keeps those that have said what they are, for
 * whoever takes them into use. The protocol knows no authentication, so everything that a peer can make it keep is bounded.
 */
export class ClipperServer {
  private readonly server: Server;
  private readonly limits: ClipperLimits;
  private readonly host: SessionHost;
  private readonly complaints: Complaints;
  /** In order of their coming. */
  private readonly sessions = new Set<ContainerSession>();
  private readonly dialled = new Map<ContainerSession, DialledContainer>();
  private readonly listeners = new Set<() => void>();
  private readonly ticking: NodeJS.Timeout;
  private messageId: number;
  private refused = 0;

  constructor(options: ClipperServerOptions) {
    this.limits = { ...DEFAULT_CLIPPER_LIMITS, ...options.limits };
    this.complaints = new Complaints(options.complain, () => options.nowNs() / 1e6);
    this.messageId = options.firstMessageId & LAST_MESSAGE_ID;
    this.host = {
      limits: this.limits,
      memory: new MemoryBudget(this.limits.bufferedBytes),
      nextMessageId: () => {
        const id = this.messageId;
        this.messageId = id === LAST_MESSAGE_ID ? 0 : id + 1;
        return id;
      },
      nowNs: options.nowNs,
      onRegistered: (session) => this.onRegistered(session),
      onEnd: (session, reason) => this.forget(session, reason),
      complain: (message, details) => this.complaints.complain(message, details),
    };
    this.server = createServer((socket) => this.onSocket(socket));
    this.ticking = setInterval(() => {
      for (const session of [...this.sessions]) session.tick(TICK_MS);
    }, TICK_MS);
    this.ticking.unref();
  }

  /** @param port 0: the system picks one. @throws Error (as a rejection) where it cannot listen there */
  async listen(host: string, port: number): Promise<AddressInfo> {
    const { address } = await lookup(host);
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, address, () => {
        this.server.off('error', reject);
        resolve();
      });
    });
    return this.server.address() as AddressInfo;
  }

  /** Those that are connected, in order of their registration. */
  containers(): readonly DialledContainer[] {
    return [...this.dialled.values()];
  }

  /** Connections, those among them that have not said what they are, and how many had to go or to stay away for want of room. */
  connections(): { readonly open: number; readonly refused: number } {
    return { open: this.sessions.size, refused: this.refused };
  }

  /** @param listener told when a container has come or gone. @returns the unsubscriber */
  watch(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Ends every connection; nobody is listened to any more. */
  close(): Promise<void> {
    clearInterval(this.ticking);
    const closed = new Promise<void>((resolve) => {
      if (this.server.listening) this.server.close(() => resolve());
      else resolve();
    });
    for (const session of [...this.sessions]) session.end('the server stops');
    return closed;
  }

  private onSocket(socket: Socket): void {
    // A host that is gone without a word is found out, also while its container computes.
    socket.setKeepAlive(true, this.limits.silenceMs);
    const isFull = this.sessions.size >= this.limits.connections;
    if (isFull) this.refused += 1;
    if (isFull && !this.evict()) {
      const { connections } = this.limits;
      this.complaints.complain('a container was refused: there are too many', {
        peer: peerOf(socket),
        connections,
      });
      socket.destroy();
      return;
    }
    this.sessions.add(new ContainerSession(socket, peerOf(socket), this.host));
  }

  /** Whoever has been there for longest and serves nobody makes room. @returns whether there was one */
  private evict(): boolean {
    for (const session of this.sessions) {
      if (session.isTaken) continue;
      session.end('there are too many connections, and it serves nobody');
      return true;
    }
    return false;
  }

  private onRegistered(session: ContainerSession): void {
    const { container } = session;
    if (container === undefined) return;
    this.dialled.set(session, {
      ...container,
      peer: session.peer,
      open: (replica) => session.open(replica),
    });
    this.tell();
  }

  private forget(session: ContainerSession, reason: string): void {
    this.sessions.delete(session);
    const wasDialled = this.dialled.delete(session);
    if (session.isTaken || session.container !== undefined) {
      if (wasDialled) this.tell();
      return;
    }
    // A port scanner, or a container that was stopped before it was known.
    if (reason !== CLOSED_BY_PEER)
      this.complaints.complain('a connection for containers was given up', { peer: session.peer, reason });
  }

  private tell(): void {
    for (const listener of [...this.listeners]) listener();
  }
}

function peerOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return remoteAddress.includes(':') ? `[${remoteAddress}]:${remotePort}` : `${remoteAddress}:${remotePort}`;
}
