import { existsSync } from 'node:fs';
import { lookup } from 'node:dns/promises';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, Server as TlsServer, type SecureContextOptions } from 'node:tls';
import { reasonOf } from '../../../simulator/text/index.js';
import type { ContainerChannel } from '../../protocol/index.js';
import type { ContainerRuntime } from '../containerRuntime.js';
import { failedChannel } from '../laterChannel.js';
import type { NodeReport } from '../nodeHost.js';
import { modulePath } from '../process/index.js';
import { LinkError } from './linkError.js';
import type { RemoteStart, VersionRange } from './messages.js';
import { idleReport, packReport } from './nodeReports.js';
import { NodeSession } from './nodeSession.js';
import { DEFAULT_GRACE_MS, ReplicaShelf } from './replicaShelf.js';
import { SPOKEN_VERSIONS } from './versions.js';
import { Visitor, type Admission } from './visitor.js';

export interface NodeSecurity {
  /** Frontends prove that they have it, and the node proves it to them; it never travels. */
  readonly key?: Buffer | undefined;
  readonly tls?:
    | {
        readonly context: SecureContextOptions;
        /** Frontends must show a certificate of the context's authorities. */
        readonly asksClients: boolean;
      }
    | undefined;
}

export interface NodeLimits {
  /** For a frontend to say who it is. */
  readonly handshakeMs: number;
  /** A frontend of which nothing comes for so long is gone. */
  readonly silenceMs: number;
  readonly connections: number;
  /** Replicas of a frontend that broke off are kept for so long. */
  readonly graceMs: number;
}

export const DEFAULT_NODE_LIMITS: NodeLimits = {
  handshakeMs: 5000,
  silenceMs: 5000,
  connections: 256,
  graceMs: DEFAULT_GRACE_MS,
};

export interface NodeServerOptions {
  readonly name: string;
  /** Device profiles of its GPUs. */
  readonly gpus: readonly string[];
  /** Its runtime gets files of models from elsewhere, where they are not at their path. */
  readonly fetchesFiles?: boolean;
  /** What runs containers; its first node is what is reported and recorded. The server does not close it. */
  readonly runtime: Pick<ContainerRuntime, 'start' | 'reports' | 'node' | 'watchGpus' | 'drain'>;
  readonly security?: NodeSecurity;
  readonly limits?: Partial<NodeLimits>;
  /** Of the protocol. Default: all that this build speaks. */
  readonly versions?: VersionRange;
  /** Told of every frontend that was refused or lost. */
  readonly complain: (message: string, details: Readonly<Record<string, unknown>>) => void;
}

const REPORT_EVERY_MS = 500;

interface Admitted {
  readonly visitor: Visitor;
  readonly incarnation: number;
}

/** A node's side: frontends dial it, and ask what it runs for replicas. */
export class NodeServer {
  private readonly limits: NodeLimits;
  private readonly server: Server;
  private readonly shelf: ReplicaShelf;
  private readonly visitors = new Set<Visitor>();
  /** Those who have said who they are, by that. */
  private readonly frontends = new Map<string, Admitted>();
  private readonly reporting: NodeJS.Timeout;
  private isWatched = false;
  private isDraining = false;

  constructor(private readonly options: NodeServerOptions) {
    const { security = {} } = options;
    this.limits = { ...DEFAULT_NODE_LIMITS, ...options.limits };
    this.shelf = new ReplicaShelf({
      start: (request) => this.start(request),
      nowMs: () => performance.now(),
      graceMs: this.limits.graceMs,
    });
    const { tls } = security;
    if (tls === undefined) this.server = createServer((socket) => this.onSocket(socket));
    else {
      const { context, asksClients } = tls;
      const settings = { requestCert: asksClients, rejectUnauthorized: asksClients };
      const secure = createTlsServer(
        { ...context, ...settings, handshakeTimeout: this.limits.handshakeMs },
        (socket) => this.onSocket(socket),
      );
      secure.on('tlsClientError', ({ message }, socket) => {
        if (socket.bytesRead > 0)
          this.complain(new LinkError('connection', `TLS: ${message}`), socket.remoteAddress);
        socket.destroy();
      });
      this.server = secure;
    }
    this.server.maxConnections = this.limits.connections;
    this.server.on('drop', (data) => {
      const message = `the node takes ${this.limits.connections} connections`;
      this.complain(new LinkError('too_many_connections', message), data?.remoteAddress);
    });
    this.reporting = setInterval(() => this.report(), REPORT_EVERY_MS);
    this.reporting.unref();
  }

  /** Replicas that run, those that are kept for a while among them. */
  get replicas(): number {
    return this.shelf.size;
  }

  /** That are connected. */
  get frontendCount(): number {
    return this.frontends.size;
  }

  /**
   * @param port 0: the system picks one
   * @throws LinkError `insecure_listen` where others could reach it and nothing keeps them out, `address` where it cannot listen
   */
  async listen(host: string, port: number): Promise<AddressInfo> {
    let address: string;
    try {
      ({ address } = await lookup(host));
    } catch (cause) {
      throw new LinkError('address', `there is no address '${host}': ${reasonOf(cause)}`, { cause });
    }
    if (!isLoopback(address) && !this.isSecure) {
      throw new LinkError(
        'insecure_listen',
        `${host} can be reached from other machines, and whoever reaches a node runs programs on it: give --cluster-key-file, ` +
          `or --tls-cert, --tls-key and --tls-ca, or listen on 127.0.0.1`,
      );
    }
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', (cause) =>
        reject(new LinkError('address', `cannot listen on ${host}:${port}: ${cause.message}`, { cause })),
      );
      this.server.listen(port, address, resolve);
    });
    return this.server.address() as AddressInfo;
  }

  /** For connections that come from now on. */
  setCertificate(context: SecureContextOptions): void {
    if (this.server instanceof TlsServer) this.server.setSecureContext(context);
  }

  /** Takes no frontend and starts nothing more; calls back once no batch is in flight. */
  drain(done: () => void): void {
    this.isDraining = true;
    for (const { session } of this.visitors) session?.drain();
    this.options.runtime.drain(done);
  }

  /** Ends every connection and every replica. */
  close(done: () => void): void {
    clearInterval(this.reporting);
    const gone = new LinkError('closed', 'the node is closed');
    for (const { link } of [...this.visitors]) link.end(gone);
    this.shelf.close('the node is closed');
    if (this.server.listening) this.server.close(() => done());
    else done();
  }

  private get isSecure(): boolean {
    const { key, tls } = this.options.security ?? {};
    return key !== undefined || tls?.asksClients === true;
  }

  /** Where the frontend has placed it, by what it knows of this node's room. */
  private start(request: RemoteStart): ContainerChannel {
    const { container, gpu } = request;
    const { runtime, fetchesFiles = false } = this.options;
    const missing = fetchesFiles ? undefined : this.missingFiles(request);
    if (missing !== undefined) return failedChannel(missing);
    const node = runtime.node();
    if (container.kind !== 'kernelModel' || gpu === undefined || node === undefined)
      return runtime.start(request);
    const { path, launchClass } = container;
    return node.start({ ...request, path, ...(launchClass === undefined ? {} : { launchClass }) });
  }

  /** What the loader would call a path that is not there, with what to do about it. */
  private missingFiles({ container, contentHash }: RemoteStart): string | undefined {
    if (contentHash === undefined || container.kind === 'constant') return undefined;
    if (existsSync(modulePath(container.path))) return undefined;
    return (
      `node '${this.options.name}' has no ${container.path}: a node that is dialled takes models from paths that it sees as the server does, and ` +
      `files that were sent to a server (deploy --upload) do not reach it; have the files at one path on both and deploy without --upload, ` +
      `or let server (--store) and node (--join) share a Redis, through which files travel`
    );
  }

  private onSocket(socket: Socket): void {
    const { name, gpus, security = {}, versions = SPOKEN_VERSIONS } = this.options;
    const { handshakeMs, silenceMs } = this.limits;
    this.visitors.add(
      new Visitor(socket, {
        node: name,
        gpus,
        key: security.key,
        versions,
        handshakeMs,
        silenceMs,
        admit: (visitor, admission) => this.admit(visitor, admission),
        onGone: (visitor, error) => this.forget(visitor, error),
      }),
    );
  }

  /** @throws LinkError where a later connection of the same frontend is there */
  private admit(visitor: Visitor, { frontend, incarnation, version }: Admission): NodeSession {
    const earlier = this.frontends.get(frontend);
    if (earlier !== undefined) {
      if (earlier.incarnation >= incarnation) {
        throw new LinkError('stale_connection', 'a later connection of this frontend is there already');
      }
      // It would not dial again if it had not lost the one before.
      earlier.visitor.link.end(new LinkError('closed', `${earlier.visitor.link.peer} has dialled again`));
    }
    this.frontends.set(frontend, { visitor, incarnation });
    const session = new NodeSession(visitor.link, version, this.shelf, {
      record: (limit, sink) => this.options.runtime.node()?.record(limit, sink) ?? 'down',
      stopRecording: () => this.options.runtime.node()?.stopRecording(),
      onWatch: () => this.onWatch(),
    });
    // Behind the welcome.
    queueMicrotask(() => {
      if (this.isDraining) session.drain();
      this.report();
    });
    return session;
  }

  private forget(visitor: Visitor, error: LinkError): void {
    this.visitors.delete(visitor);
    for (const [id, admitted] of this.frontends) {
      if (admitted.visitor === visitor) this.frontends.delete(id);
    }
    const isProbe = error.code === 'connection' && !visitor.hasSpoken;
    if (error.code !== 'closed' && !isProbe) this.complain(error, visitor.link.peer);
  }

  private complain({ code, message }: LinkError, peer: string | undefined): void {
    this.options.complain('a frontend was refused or lost', { code, reason: message, peer });
  }

  private onWatch(): void {
    const isWatched = [...this.visitors].some(({ session }) => session?.watches === true);
    if (isWatched === this.isWatched) return;
    this.isWatched = isWatched;
    this.options.runtime.watchGpus(isWatched);
  }

  private report(): void {
    // One who does not read what there is gets no more of it.
    const sessions = [...this.visitors].flatMap(({ session }) =>
      session === undefined || session.link.outbox.hasMessages ? [] : [session],
    );
    if (sessions.length === 0) return;
    const report = packReport(this.present());
    for (const session of sessions) session.send({ kind: 'report', report });
  }

  private present(): NodeReport {
    const report = this.options.runtime.reports().at(0) ?? idleReport(this.options.name);
    const { name } = this.options;
    return { ...report, node: name, room: { ...report.room, node: name }, replicas: this.shelf.size };
  }
}

function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.');
}
