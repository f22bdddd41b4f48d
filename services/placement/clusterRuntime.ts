import { z } from 'zod';
import type { ContainerChannel } from '../../containers/protocol/index.js';
import {
  ContainerRuntime,
  readNodeAddress,
  RemoteNode,
  type NodeLink,
  type NodeReport,
  type NodeRoom,
  type RemoteNodeOptions,
  type WantedReplica,
} from '../../containers/runtime/index.js';
import type { Json } from '../../selection/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import type { Clock } from '../../simulator/time/index.js';
import { collectBundles, keepBundle, type BundleStore } from '../bundles/index.js';
import { Announcement, Lease, RosterWatch, type Member, type Roster } from '../cluster/index.js';
import {
  recordTimeline,
  type ScaledRegistry,
  type ServerRuntime,
  type TimelineRequest,
} from '../deployment/index.js';
import type { Complaint } from '../errors/index.js';
import type { ClusterAnswer, ClusterView } from '../management/index.js';
import type { RedisConnection } from '../redis/index.js';
import type { HostedModel, ModelRecord } from '../registry/index.js';
import type { Store } from '../store/index.js';
import { readFrontendRecord, shortLoads, type FrontendRecord, type SharedLoad } from './frontendRecord.js';
import { PlacedStarter } from './placedStarter.js';
import { Placements } from './placements.js';
import { Placer } from './placer.js';

/** What a node says of itself in the cluster. */
export interface NodeRecord {
  /** Where it is dialled. */
  readonly address: string;
  /** Cards of its GPUs. */
  readonly gpus: readonly string[];
  /** It stops soon, and goes on answering until its replicas are elsewhere. */
  readonly leaving?: boolean | undefined;
}

const NODE_RECORD = z.object({
  address: z.string(),
  gpus: z.array(z.string()),
  leaving: z.boolean().optional(),
});

/** @returns undefined for what is none: of a node of another program */
export function readNodeRecord(json: Json): NodeRecord | undefined {
  const read = NODE_RECORD.safeParse(json);
  return read.success ? read.data : undefined;
}

export interface ClusterRuntimeOptions {
  readonly clock: Clock;
  readonly redis: RedisConnection;
  /** Of every key: `keyPrefix`. */
  readonly prefix: string;
  /** This frontend's name. */
  readonly frontend: string;
  readonly store: Store;
  readonly registry: ScaledRegistry;
  /** Files of models that nodes fetch. */
  readonly bundles: BundleStore;
  readonly key?: RemoteNodeOptions['key'];
  readonly tls?: RemoteNodeOptions['tls'];
  readonly onNotice: Complaint;
}

/** A frontend that has the lease and is gone is followed by another after that. */
const LEASE_MS = 3000;
/** A node that is not heard of for so long by whoever places loses its replicas to others. */
const GONE_AFTER_MS = 4000;
/** What changes without telling: reports of nodes, and the time that one has been away. */
const LOOK_EVERY_MS = 500;
const CONNECT_MS = 5000;
const COLLECT_EVERY_MS = 600_000;

interface Known {
  readonly incarnation: string;
  readonly node: RemoteNode;
  /** Since when it has not been connected; undefined while it is. */
  awayMs: number | undefined;
}

/**
 * Runs everything on the nodes that have joined the cluster: each is dialled while it is there. One frontend at a time says which
 * node runs which replica (`Placer`), and all use those.
 */
export class ClusterRuntime implements ServerRuntime, ClusterView {
  readonly placements: Placements;
  private readonly known = new Map<string, Known>();
  private readonly needs: ContainerRuntime;
  private readonly starter: PlacedStarter;
  private readonly placer: Placer;
  private readonly lease: Lease;
  private readonly roster: RosterWatch;
  private readonly frontends: RosterWatch;
  private announcement: Announcement | undefined;
  private readonly unwatch: (() => void)[] = [];
  private readonly timer: NodeJS.Timeout;
  private readonly collecting: NodeJS.Timeout;
  private isWatched = false;
  private isScheduled = false;
  private isClosed = false;

  constructor(private readonly options: ClusterRuntimeOptions) {
    const { clock, redis, prefix, frontend, store, registry, onNotice } = options;
    this.needs = new ContainerRuntime({ clock, nodes: [] });
    this.placements = new Placements(store, (name) => this.isLeaving(name));
    this.starter = new PlacedStarter({
      placements: this.placements,
      node: (name) => this.connectedNode(name),
      wanted: (model) => this.wanted(model),
    });
    this.lease = new Lease({
      redis,
      prefix,
      name: 'placement',
      holder: frontend,
      ttlMs: LEASE_MS,
      onChange: () => this.schedule(),
    });
    this.placer = new Placer({
      registry,
      placements: this.placements,
      nodes: () =>
        this.connectedNodes().map((node) => ({
          name: node.name,
          takes: (kind) => node.takes(kind),
          room: node.room(),
        })),
      isGone: (name) => this.isGone(name),
      wanted: (model) => this.wanted(model),
      isSettled: (model, replica) => this.starter.isSettled(model, replica),
      nowMs: () => performance.now(),
      token: () => this.lease.token,
    });
    this.roster = new RosterWatch({ redis, prefix }, 'node', (roster) => this.follow(roster));
    this.frontends = new RosterWatch({ redis, prefix }, 'frontend');
    this.unwatch.push(
      this.placements.watch(() => this.schedule()),
      registry.watch(({ kind }) => {
        if (kind === 'model' || kind === 'scale') this.schedule();
      }),
    );
    this.timer = setInterval(() => this.look(), LOOK_EVERY_MS);
    this.timer.unref();
    this.collecting = setInterval(() => void this.collect(), COLLECT_EVERY_MS);
    this.collecting.unref();
    for (const watch of [this.roster, this.frontends]) {
      watch
        .start()
        .catch((error: unknown) =>
          onNotice('the cluster could not be looked at', { reason: reasonOf(error) }),
        );
    }
    this.lease.start();
  }

  /**
   * Says to the others that this frontend is there.
   * @param loads of versions whose number of replicas follows the load, as this frontend sees them
   * @throws what Redis says (as a rejection)
   */
  async announce(
    addresses: Pick<FrontendRecord, 'query' | 'management'>,
    loads: () => readonly SharedLoad[],
  ): Promise<void> {
    const { redis, prefix, frontend } = this.options;
    const onDisplaced = () => undefined;
    this.announcement = new Announcement(
      { redis, prefix },
      'frontend',
      frontend,
      () => ({ ...addresses, placing: this.isPlacing, loads: shortLoads(loads()) }),
      onDisplaced,
    );
    await this.announcement.start();
  }

  /** What the other frontends that are alive have said of a version. */
  loadsElsewhere({ name, version }: Pick<ModelRecord, 'name' | 'version'>): readonly SharedLoad[] {
    return this.frontends.roster.alive.flatMap((member) => {
      if (member.name === this.options.frontend) return [];
      const { loads = [] } = readFrontendRecord(member.record) ?? {};
      return loads.filter((load) => load.model === name && load.version === version);
    });
  }

  /** Puts the files of a version where every node finds them. @throws ServiceError (as a rejection) */
  keepFiles(model: ModelRecord): Promise<void> {
    return keepBundle(this.options.bundles, model);
  }

  /** Where files of models are kept. */
  get bundles(): BundleStore {
    return this.options.bundles;
  }

  /** Whether this frontend says where replicas run; what one at a time does, it does. */
  get isPlacing(): boolean {
    return this.lease.token !== undefined;
  }

  status(): ClusterAnswer {
    const { alive, dead } = this.frontends.roster;
    const frontend = ({ name, record }: Member, isAlive: boolean) => {
      const read = readFrontendRecord(record);
      if (read === undefined) return [];
      const { query, management } = read;
      const placing = name === this.options.frontend ? this.isPlacing : isAlive && read.placing;
      const seconds = this.frontends.lastWordSeconds(name) ?? 0;
      return [{ name, query, management, placing, alive: isAlive, last_word_seconds: seconds }];
    };
    const counts = this.replicaCounts();
    const nodes = this.roster.roster;
    const node = ({ name, record }: Member, isAlive: boolean) => {
      const read = readNodeRecord(record);
      if (read === undefined) return [];
      const link = this.known.get(name)?.node.link();
      return [
        {
          name,
          address: read.address,
          gpus: read.gpus,
          alive: isAlive,
          last_word_seconds: this.roster.lastWordSeconds(name) ?? 0,
          connected: link?.isConnected === true,
          ...(link?.problem === undefined ? {} : { problem: link.problem }),
          ...(link?.roundTripSeconds === undefined ? {} : { round_trip_seconds: link.roundTripSeconds }),
          cordoned: this.placements.isCordoned(name),
          replicas: counts.get(name) ?? 0,
        },
      ];
    };
    const byName = (a: { readonly name: string }, b: { readonly name: string }) => (a.name < b.name ? -1 : 1);
    return {
      frontends: [
        ...alive.flatMap((one) => frontend(one, true)),
        ...dead.flatMap((one) => frontend(one, false)),
      ].sort(byName),
      nodes: [
        ...nodes.alive.flatMap((one) => node(one, true)),
        ...nodes.dead.flatMap((one) => node(one, false)),
      ].sort(byName),
    };
  }

  cordon(node: string, isCordoned: boolean): Promise<boolean> {
    return new Promise((resolve) => this.placements.cordon(node, isCordoned, resolve));
  }

  async connected(): Promise<void> {
    const endMs = performance.now() + CONNECT_MS;
    // Nodes are found, dialled, and have given their first report.
    while (performance.now() < endMs && this.rooms().length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  start(model: HostedModel, replica: number): ContainerChannel {
    return this.starter.start(model, replica);
  }

  obstacle(model: HostedModel, replica: number): string | undefined {
    return this.starter.obstacle(model, replica);
  }

  numbers(model: HostedModel): readonly number[] | undefined {
    return this.starter.numbers(model);
  }

  onUp(model: HostedModel, replica: number): void {
    this.starter.onUp(model, replica);
  }

  watchRoom(listener: () => void): void {
    this.starter.watchRoom(listener);
  }

  rooms(): readonly NodeRoom[] {
    return this.connectedNodes()
      .filter(({ name }) => !this.placements.isCordoned(name))
      .map((node) => node.room());
  }

  wanted({ container, contentHash }: HostedModel): WantedReplica | undefined {
    return this.needs.wanted(container, contentHash);
  }

  reports(): readonly NodeReport[] {
    return [...this.known.values()].map(({ node }) => node.report());
  }

  links(): readonly NodeLink[] {
    return [...this.known.values()].map(({ node }) => node.link());
  }

  watchGpus(watched: boolean): void {
    this.isWatched = watched;
    for (const { node } of this.known.values()) node.watchGpus(watched);
  }

  recordTimeline(request: TimelineRequest): Promise<string> {
    const nodes = this.connectedNodes();
    return recordTimeline(
      nodes.find(({ name }) => request.node === undefined || name === request.node),
      request,
    );
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.timer);
    clearInterval(this.collecting);
    for (const unwatch of this.unwatch) unwatch();
    this.roster.stop();
    this.frontends.stop();
    await this.announcement?.stop();
    await this.lease.stop();
    this.options.redis.disconnect();
    for (const { node } of this.known.values()) await closed(node);
    await new Promise<void>((resolve) => this.needs.close(resolve));
  }

  /** Placed on each node. */
  private replicaCounts(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const version of this.placements.versions()) {
      for (const place of this.placements.of(version)?.value.places ?? []) {
        if (place !== null) counts.set(place.node, (counts.get(place.node) ?? 0) + 1);
      }
    }
    return counts;
  }

  private connectedNodes(): readonly RemoteNode[] {
    return [...this.known.values()].flatMap(({ node }) => (isConnected(node) ? [node] : []));
  }

  private connectedNode(name: string): RemoteNode | undefined {
    const node = this.known.get(name)?.node;
    return node !== undefined && isConnected(node) ? node : undefined;
  }

  private isLeaving(name: string): boolean {
    const member = this.roster.roster.alive.find((one) => one.name === name);
    return member !== undefined && readNodeRecord(member.record)?.leaving === true;
  }

  private isGone(name: string): boolean {
    const known = this.known.get(name);
    if (known === undefined) return true;
    return known.awayMs !== undefined && performance.now() - known.awayMs > GONE_AFTER_MS;
  }

  /** Dials nodes that have come, and lets go of those that are gone or have come anew. */
  private follow(roster: Roster): void {
    if (this.isClosed) return;
    const alive = new Map(roster.alive.map((member) => [member.name, member]));
    for (const [name, { incarnation, node }] of this.known) {
      const member = alive.get(name);
      // One that Redis no longer hears of, and that still answers, is used on.
      if (member === undefined ? isConnected(node) : member.incarnation === incarnation) continue;
      this.known.delete(name);
      void closed(node);
    }
    for (const { name, incarnation, record } of roster.alive) {
      if (this.known.has(name)) continue;
      const read = readNodeRecord(record);
      try {
        if (read === undefined) throw new Error('its record is none of a node');
        const node = this.dial(name, read.address);
        this.known.set(name, { incarnation, node, awayMs: performance.now() });
      } catch (error) {
        this.options.onNotice('a node of the cluster cannot be used', {
          node: name,
          reason: reasonOf(error),
        });
      }
    }
    this.schedule();
  }

  private dial(name: string, address: string): RemoteNode {
    const { key, tls, onNotice } = this.options;
    const node = new RemoteNode({ address: { ...readNodeAddress(address), name }, key, tls, onNotice });
    node.watchRoom(() => this.schedule());
    node.settled(() => this.schedule());
    if (this.isWatched) node.watchGpus(true);
    return node;
  }

  /** Removes files that no version has. */
  private async collect(): Promise<void> {
    if (!this.isPlacing) return;
    const { bundles, registry, onNotice } = this.options;
    const named = new Set(registry.models().flatMap((model) => model.contentHash ?? []));
    try {
      await collectBundles(bundles, (hash) => named.has(hash));
    } catch (error) {
      onNotice('files that no version has could not be removed', { reason: reasonOf(error) });
    }
  }

  private look(): void {
    const nowMs = performance.now();
    let hasChanged = false;
    for (const known of this.known.values()) {
      const isAway = !isConnected(known.node);
      if (isAway === (known.awayMs !== undefined)) continue;
      known.awayMs = isAway ? nowMs : undefined;
      hasChanged = true;
    }
    if (hasChanged || this.isPlacing) this.schedule();
  }

  /** Everything that happens in one turn is looked at once. */
  private schedule(): void {
    if (this.isScheduled || this.isClosed) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      if (this.isClosed) return;
      // Whoever places has to know which nodes there are.
      if (this.roster.isKnown) this.placer.reconcile();
      this.starter.refresh();
    });
  }
}

function isConnected(node: RemoteNode): boolean {
  return node.takes('constant');
}

function closed(node: RemoteNode): Promise<void> {
  return new Promise((resolve) => node.close(resolve));
}
