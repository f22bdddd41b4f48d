import {
  gpuName,
  NO_NEEDS,
  placeReplica,
  withoutHolders,
  withReplica,
  type ContainerSource,
  type NodeRoom,
  type WantedReplica,
} from '../../containers/runtime/index.js';
import type { ScaledRegistry } from '../deployment/index.js';
import { isHosted, type HostedModel } from '../registry/index.js';
import type { Placements, ReplicaPlace } from './placements.js';

/** A node that replicas can be placed on now. */
export interface PlacerNode {
  readonly name: string;
  readonly takes: (kind: ContainerSource['kind']) => boolean;
  readonly room: NodeRoom;
}

export interface PlacerSources {
  readonly registry: ScaledRegistry;
  readonly placements: Placements;
  /** Those that are connected. */
  readonly nodes: () => readonly PlacerNode[];
  /** Whether a node that is not among them has been away for so long that its replicas go elsewhere. */
  readonly isGone: (node: string) => boolean;
  /** What a replica is to be given; undefined of what needs no GPU. */
  readonly wanted: (model: HostedModel) => WantedReplica | undefined;
  /** Whether a replica, by its number, has been answering at its place for long enough that all frontends use it. */
  readonly isSettled: (model: HostedModel, replica: number) => boolean;
  readonly nowMs: () => number;
  /** Of the lease; undefined: another frontend places. */
  readonly token: () => number | undefined;
}

/** A replica that does not settle keeps the others of its version on a cordoned node for so long. */
const PATIENCE_MS = 30_000;

/**
 * Says where every replica runs, while this frontend has the lease to say so. A replica stays where it is as long as its node is
 * there and not cordoned, and its GPU has room; others get the place that `placeReplica` gives, one after the other. From a node
 * that is cordoned and runs, replicas of a version go one at a time, each once the others answer; one that has no room elsewhere stays.
 */
export class Placer {
  /** Since when replicas of a version on a cordoned node have waited for others: from the last that left. */
  private readonly waitingMs = new Map<string, number>();

  constructor(private readonly sources: PlacerSources) {}

  /** Brings what the store says in line with what the registry wants and with the nodes that there are. */
  reconcile(): void {
    const { registry, placements, token } = this.sources;
    const present = token();
    if (present === undefined) return;
    const models = registry.models().filter(isHosted);
    const known = new Set(models.map(keyOf));
    for (const version of placements.versions()) {
      if (known.has(keyOf(version))) continue;
      const entry = placements.of(version);
      if (entry !== undefined && entry.value.token <= present)
        placements.set(version, undefined, entry.version);
    }
    for (const key of this.waitingMs.keys()) if (!known.has(key)) this.waitingMs.delete(key);
    const plan = new Plan(this.sources, models);
    for (const model of models) this.place(model, plan, present);
  }

  private place(model: HostedModel, plan: Plan, token: number): void {
    const { registry, placements } = this.sources;
    const entry = placements.of(model);
    if (entry !== undefined && entry.value.token > token) return;
    const before = entry?.value.places ?? [];
    const { replicas } = registry.scale(model.name, model.version);
    const places = Array.from({ length: replicas }, (_, at) => plan.keep(model, at) ?? null);
    for (const [at, place] of places.entries()) places[at] = place ?? plan.find(model);
    const leaving = this.leaving(model, places);
    const found = leaving === undefined ? null : plan.find(model);
    if (leaving !== undefined && found !== null) {
      places[leaving] = found;
      this.waitingMs.set(keyOf(model), this.sources.nowMs());
    }
    if (JSON.stringify(places) === JSON.stringify(before)) return;
    placements.set(model, { token, places }, entry?.version ?? 0);
  }

  /** Number of the replica that is to leave a cordoned node now; undefined: none, or not yet. */
  private leaving(model: HostedModel, places: readonly (ReplicaPlace | null)[]): number | undefined {
    const { placements, isSettled, nowMs } = this.sources;
    const isLeaving = (place: ReplicaPlace | null) => place !== null && placements.isCordoned(place.node);
    const first = places.findIndex(isLeaving);
    const key = keyOf(model);
    if (first < 0) {
      this.waitingMs.delete(key);
      return undefined;
    }
    if (places.every((place, at) => place === null || isLeaving(place) || isSettled(model, at))) return first;
    const sinceMs = this.waitingMs.get(key);
    if (sinceMs === undefined) this.waitingMs.set(key, nowMs());
    return sinceMs === undefined || nowMs() - sinceMs < PATIENCE_MS ? undefined : first;
  }
}

/** What is where, while everything is gone through once. */
class Plan {
  private readonly nodes: ReadonlyMap<string, PlacerNode>;
  private rooms: readonly NodeRoom[];
  /** Of every kind. */
  private readonly replicas = new Map<string, number>();
  private readonly kept = new Map<string, readonly (ReplicaPlace | undefined)[]>();
  private readonly wanted = new Map<HostedModel, WantedReplica | undefined>();

  constructor(
    private readonly sources: PlacerSources,
    models: readonly HostedModel[],
  ) {
    const { placements, registry } = sources;
    this.nodes = new Map(sources.nodes().map((node) => [node.name, node]));
    // What runs is counted by its place: a report may be older than that.
    this.rooms = withoutHolders(
      [...this.nodes.values()].filter(({ name }) => !placements.isCordoned(name)).map(({ room }) => room),
      () => false,
    );
    for (const model of models) {
      this.wanted.set(model, model.container.kind === 'kernelModel' ? sources.wanted(model) : undefined);
      const { replicas } = registry.scale(model.name, model.version);
      const places = placements.of(model)?.value.places.slice(0, replicas) ?? [];
      this.kept.set(
        keyOf(model),
        places.map((place) => (place === null ? undefined : this.staying(model, place))),
      );
    }
  }

  /** Where a replica was, if it may stay. */
  keep(model: HostedModel, at: number): ReplicaPlace | undefined {
    return this.kept.get(keyOf(model))?.[at];
  }

  /** A place for one replica more; null: there is none. */
  find(model: HostedModel): ReplicaPlace | null {
    const { kind } = model.container;
    const wanted = this.wanted.get(model);
    if (kind === 'kernelModel') {
      // Whose files cannot be read here says where it runs what is wrong with them.
      const outcome = placeReplica(this.rooms, wanted ?? { needs: NO_NEEDS });
      if (!outcome.ok) return null;
      this.count(outcome.place.node);
      if (wanted !== undefined) this.rooms = withReplica(this.rooms, outcome.place, wanted.needs);
      return outcome.place;
    }
    let best: string | undefined;
    for (const { name, takes } of this.nodes.values()) {
      if (!takes(kind) || this.sources.placements.isCordoned(name)) continue;
      if (best === undefined || this.load(name) < this.load(best)) best = name;
    }
    if (best === undefined) return null;
    this.count(best);
    return { node: best };
  }

  /** The place, if its replica may stay there. */
  private staying(model: HostedModel, place: ReplicaPlace): ReplicaPlace | undefined {
    const { node, gpu } = place;
    const { placements, isGone } = this.sources;
    const found = this.nodes.get(node);
    // One that is away for a moment comes back with its replicas warm.
    if (found === undefined) return isGone(node) || placements.isCordoned(node) ? undefined : place;
    if (model.container.kind === 'kernelModel') {
      const wanted = this.wanted.get(model);
      if (gpu === undefined || found.room.gpus[gpu] === undefined) return undefined;
      if (wanted?.pin !== undefined && wanted.pin !== gpuName(node, gpu)) return undefined;
      if (wanted !== undefined) this.rooms = withReplica(this.rooms, { node, gpu }, wanted.needs);
    } else if (!found.takes(model.container.kind)) return undefined;
    this.count(node);
    return place;
  }

  private load(node: string): number {
    return this.replicas.get(node) ?? 0;
  }

  private count(node: string): void {
    this.replicas.set(node, this.load(node) + 1);
  }
}

function keyOf({ name, version }: Pick<HostedModel, 'name' | 'version'>): string {
  return JSON.stringify([name, version]);
}
