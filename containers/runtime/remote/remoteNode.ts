import { randomUUID } from 'node:crypto';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions as TlsOptions } from 'node:tls';
import type { ContainerChannel } from '../../protocol/index.js';
import type { MemoryNeeds } from '../../models/index.js';
import { failedChannel } from '../laterChannel.js';
import type { ContainerSource, ContainerStart } from '../modelContainer.js';
import type { KernelModelStart, NodeHost, NodeReport, TimelineSink } from '../nodeHost.js';
import { withReplica, type NodeRoom } from '../placement/index.js';
import type { ReplicaIdentity } from '../replicaIdentity.js';
import { LinkError, type LinkErrorCode } from './linkError.js';
import type { VersionRange } from './messages.js';
import { addressText, type NodeAddress } from './nodeAddress.js';
import { NodeConnection, type ConnectionListener } from './nodeConnection.js';
import { idleReport } from './nodeReports.js';
import { SPOKEN_VERSIONS } from './versions.js';

export interface DialTimes {
  /** To connect and to be welcomed. */
  readonly connectMs: number;
  readonly pingMs: number;
  /** A node of which nothing comes for so long is out of use. */
  readonly silenceMs: number;
  /** Before it is dialled again: doubled with each failure. */
  readonly firstRetryMs: number;
  readonly longestRetryMs: number;
}

export const DEFAULT_DIAL_TIMES: DialTimes = {
  connectMs: 5000,
  pingMs: 500,
  silenceMs: 1500,
  firstRetryMs: 100,
  longestRetryMs: 5000,
};

export interface RemoteNodeOptions {
  readonly address: NodeAddress;
  /** That the node must have too; it is proven, and never travels. */
  readonly key?: Buffer | undefined;
  /** Of `tls:` addresses: authorities, and a certificate to show. */
  readonly tls?: Pick<TlsOptions, 'ca' | 'cert' | 'key'> | undefined;
  /** Whether a node may answer under this name: no other one does. */
  readonly mayBe?: (node: string) => boolean;
  readonly versions?: VersionRange;
  readonly times?: Partial<DialTimes>;
  /** Told when the node comes, goes, or cannot be reached: that once, until the reason is another one. */
  readonly onNotice?: (message: string, details: Readonly<Record<string, unknown>>) => void;
}

/** How this side stands with a node. */
export interface NodeLink {
  readonly node: string;
  /** As it is dialled. */
  readonly address: string;
  readonly isConnected: boolean;
  /** It takes nothing new. */
  readonly isDraining: boolean;
  /** Of the last ping; undefined before the first answer. Seconds. */
  readonly roundTripSeconds: number | undefined;
  /** Why it is not connected. */
  readonly problem: string | undefined;
}

/** What the same dialling again does not mend. */
const REFUSALS: ReadonlySet<LinkErrorCode> = new Set([
  'wrong_cluster_key',
  'cluster_key_missing',
  'protocol_version',
  'node_name',
]);

/** A replica that was sent to a GPU, and that no report has shown there yet. */
interface Placed {
  readonly identity: ReplicaIdentity;
  readonly gpu: number;
  readonly needs: MemoryNeeds;
  reports: number;
}

const MOST_REPORTS = 3;

function freeBytes(report: NodeReport | undefined): number {
  return report?.room.gpus.reduce((sum, gpu) => sum + gpu.freeBytes, 0) ?? 0;
}

/** A node in a process of its own, perhaps on another machine, that this side dials, and dials again when it is lost. */
export class RemoteNode implements NodeHost {
  private readonly times: DialTimes;
  private readonly frontend = randomUUID();
  private incarnation = 0;
  private connection: NodeConnection | undefined;
  /** Of the connection, while it is up. */
  private latest: NodeReport | undefined;
  private cards: readonly string[] = [];
  private knownName: string | undefined;
  private isUp = false;
  private isDraining = false;
  private isClosed = false;
  private isRefused = false;
  private isWatched = false;
  private failures = 0;
  private lastFailure = 'it has not been reached yet';
  private noticed = '';
  private timer: NodeJS.Timeout | undefined;
  private socket: Socket | undefined;
  private placed: Placed[] = [];
  private readonly roomListeners: (() => void)[] = [];
  private readonly drains: (() => void)[] = [];
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly options: RemoteNodeOptions) {
    this.times = { ...DEFAULT_DIAL_TIMES, ...options.times };
    this.dial();
  }

  /** Its own, once it has said it; its address before. */
  get name(): string {
    return this.knownName ?? this.options.address.name ?? addressText(this.options.address);
  }

  /** Device profiles of its GPUs; none while it is not connected. */
  get gpus(): readonly string[] {
    return this.cards;
  }

  takes(kind: ContainerSource['kind']): boolean {
    return this.isUp && !this.isDraining && (kind !== 'kernelModel' || this.cards.length > 0);
  }

  link(): NodeLink {
    const { isUp, isDraining, connection } = this;
    const roundTripMs = isUp ? connection?.roundTripMs : undefined;
    return {
      node: this.name,
      address: addressText(this.options.address),
      isConnected: isUp,
      isDraining: isUp && isDraining,
      roundTripSeconds: roundTripMs === undefined ? undefined : roundTripMs / 1000,
      problem: isUp ? undefined : this.lastFailure,
    };
  }

  /** Calls back once it is up, or has refused this side, or is closed. One that cannot be reached may still be starting. */
  settled(done: () => void): void {
    if (this.latest !== undefined || this.isRefused || this.isClosed) done();
    else this.waiting.push(done);
  }

  start({ path, launchClass, ...rest }: KernelModelStart): ContainerChannel {
    const { gpu = 0, memory } = rest;
    if (memory !== undefined) this.placed.push({ identity: rest, gpu, needs: memory, reports: 0 });
    const container = {
      kind: 'kernelModel',
      path,
      ...(launchClass === undefined ? {} : { launchClass }),
    } as const;
    return this.startContainer({ ...rest, container });
  }

  startContainer(request: ContainerStart): ContainerChannel {
    if (this.connection !== undefined && this.isUp) return this.connection.start(request);
    return failedChannel(`GPU node '${this.name}' is not connected: ${this.lastFailure}`);
  }

  /** As of the last report, with what was placed since; none where nothing can be started. */
  room(): NodeRoom {
    const room = this.takes('kernelModel') ? this.latest?.room : undefined;
    if (room === undefined) return idleReport(this.name).room;
    return this.placed.reduce(
      (before, { gpu, needs }) => withReplica([before], { node: room.node, gpu }, needs)[0],
      room,
    );
  }

  watchRoom(listener: () => void): void {
    this.roomListeners.push(listener);
  }

  report(): NodeReport {
    const report = this.latest ?? idleReport(this.name);
    // What was started just now is in no report yet.
    return {
      ...report,
      room: this.room(),
      replicas: Math.max(report.replicas, this.connection?.replicas ?? 0),
    };
  }

  watchGpus(watched: boolean): void {
    this.isWatched = watched;
    if (this.isUp) this.connection?.watch(watched);
    if (!watched && this.latest !== undefined) this.latest = { ...this.latest, gpus: [] };
  }

  record(limit: number, sink: TimelineSink): ReturnType<NodeHost['record']> {
    return (this.isUp ? this.connection?.record(limit, sink) : undefined) ?? 'down';
  }

  stopRecording(): void {
    this.connection?.stopRecording();
  }

  drain(done: () => void): void {
    this.drains.push(done);
    this.checkDrained();
  }

  close(done: () => void): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    const closed = new LinkError('closed', `GPU node '${this.name}' is closed`);
    this.lastFailure = closed.message;
    if (this.connection === undefined) this.socket?.destroy();
    else this.connection.end(closed);
    this.settle();
    done();
  }

  private dial(): void {
    const { address } = this.options;
    const socket = address.isSecure ? connectTls(this.tlsOptions()) : connect(address.port, address.host);
    this.socket = socket;
    this.incarnation += 1;
    let isOver = false;
    const fail = (error: LinkError): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(deadline);
      // A connection that has been made says its last words by itself.
      if (this.connection === undefined) socket.destroy();
      this.onLost(error);
    };
    const { connectMs } = this.times;
    const deadline = setTimeout(() => {
      const error = new LinkError(
        'connection',
        `${addressText(address)} did not answer for ${connectMs / 1000} s`,
      );
      if (this.connection === undefined) fail(error);
      else this.connection.end(error);
    }, connectMs);
    deadline.unref();
    const onError = (cause: Error): void =>
      fail(
        new LinkError('connection', `cannot connect to ${addressText(address)}: ${cause.message}`, { cause }),
      );
    const onClose = (): void => onError(new Error('the connection was closed'));
    socket.once('error', onError);
    socket.once('close', onClose);
    socket.once(address.isSecure ? 'secureConnect' : 'connect', () => {
      if (isOver) return;
      socket.off('close', onClose);
      const listener: ConnectionListener = {
        onUp: (node, gpus) => {
          clearTimeout(deadline);
          this.onUp(node, gpus);
        },
        onReport: (report) => this.onReport(report),
        onDraining: () => {
          this.isDraining = true;
          this.notice('a GPU node is shutting down', {});
        },
        onChange: () => this.checkDrained(),
        onEnd: fail,
      };
      this.connection = this.connectionOver(socket, listener);
      socket.off('error', onError);
    });
  }

  private connectionOver(socket: Socket, listener: ConnectionListener): NodeConnection {
    const { address, key, versions = SPOKEN_VERSIONS } = this.options;
    const { pingMs, silenceMs } = this.times;
    const { frontend, incarnation } = this;
    const node = address.name ?? this.knownName;
    return new NodeConnection(
      socket,
      addressText(address),
      { frontend, incarnation, node, key, versions, pingMs, silenceMs },
      listener,
    );
  }

  private tlsOptions(): TlsOptions {
    const { address, tls, key } = this.options;
    const { host, port } = address;
    return {
      host,
      port,
      minVersion: 'TLSv1.2',
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...tls,
      // Without authorities the node proves by the cluster's key, and for this very TLS session, that it is one of them.
      ...(key !== undefined && tls?.ca === undefined ? { rejectUnauthorized: false } : {}),
    };
  }

  private onUp(node: string, gpus: readonly string[]): void {
    if (this.options.mayBe?.(node) === false) {
      this.connection?.end(
        new LinkError(
          'node_name',
          `${addressText(this.options.address)} is node '${node}', and another one has that name`,
        ),
      );
      return;
    }
    this.knownName = node;
    this.cards = gpus;
    this.isUp = true;
    this.isDraining = false;
    this.failures = 0;
    const { noticed } = this;
    this.noticed = '';
    if (this.isWatched) this.connection?.watch(true);
    if (noticed !== '') this.tell('a GPU node is in use again', {});
  }

  private onReport(report: NodeReport): void {
    const before = freeBytes(this.latest);
    this.latest = report;
    const { holders } = report.room;
    this.placed = this.placed.filter((one) => {
      one.reports += 1;
      const { model, version, replica } = one.identity;
      // What is not there by then has not started, and holds nothing.
      return (
        one.reports < MOST_REPORTS &&
        !holders.some(
          (holder) => holder.model === model && holder.version === version && holder.replica === replica,
        )
      );
    });
    this.settle();
    if (freeBytes(report) > before) for (const listener of this.roomListeners) listener();
  }

  private onLost(error: LinkError): void {
    this.connection = undefined;
    this.socket = undefined;
    this.latest = undefined;
    this.cards = [];
    this.placed = [];
    this.isUp = false;
    this.lastFailure = error.message;
    this.failures += 1;
    this.isRefused = REFUSALS.has(error.code);
    this.checkDrained();
    if (this.isRefused) this.settle();
    if (this.isClosed) return;
    this.notice('a GPU node is out of use', { code: error.code, reason: error.message });
    const { firstRetryMs, longestRetryMs } = this.times;
    const retryMs = Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(20, this.failures - 1));
    this.timer = setTimeout(() => this.dial(), retryMs);
    this.timer.unref();
  }

  private notice(message: string, details: Readonly<Record<string, unknown>>): void {
    const said = `${message} ${String(details.reason)}`;
    if (said === this.noticed) return;
    this.noticed = said;
    this.tell(message, details);
  }

  private tell(message: string, details: Readonly<Record<string, unknown>>): void {
    const address = addressText(this.options.address);
    this.options.onNotice?.(message, { node: this.name, address, ...details });
  }

  private settle(): void {
    for (const done of this.waiting.splice(0)) done();
  }

  private checkDrained(): void {
    if (this.connection?.isIdle === false) return;
    for (const done of this.drains.splice(0)) done();
  }
}
