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
import type { HostedModel } from '../registry/index.js';
import type { Placements, ReplicaPlace } from './placements.js';

/** A node that replicas can be placed on now. */
export interface PlacerNode {
  readonly name: string;
  readonly takes: (kind: ContainerSource['kind']) => boolean;
  readonly room: NodeRoom;
}

export interface PlanSources {
  readonly placements: Placements;
  /** Those that are connected. */
  readonly nodes: () => readonly PlacerNode[];
  /** Whether a node that is not among them has been away for so long that its replicas go elsewhere. */
  readonly isGone: (node: string) => boolean;
  /** What a replica is to be given; undefined of what needs no GPU. */
  readonly wanted: (model: HostedModel) => WantedReplica | undefined;
}

/** What is where, while everything is gone through once: first what stays is counted (`keeps`), then others are placed. */
export class Plan {
  private readonly nodes: ReadonlyMap<string, PlacerNode>;
  private rooms: readonly NodeRoom[];
  /** Of every kind. */
  private readonly replicas = new Map<string, number>();
  private readonly wanted = new Map<HostedModel, WantedReplica | undefined>();

  constructor(private readonly sources: PlanSources) {
    const { placements } = sources;
    this.nodes = new Map(sources.nodes().map((node) => [node.name, node]));
    // What runs is counted by its place: a report may be older than that.
    this.rooms = withoutHolders(
      [...this.nodes.values()].filter(({ name }) => !placements.isCordoned(name)).map(({ room }) => room),
      () => false,
    );
  }

  /** Whether a replica may stay where it is; it is counted there then. */
  keeps(model: HostedModel, place: ReplicaPlace): boolean {
    const { node, gpu } = place;
    const { placements, isGone } = this.sources;
    const found = this.nodes.get(node);
    // One that is away for a moment comes back with its replicas warm.
    if (found === undefined) return !isGone(node) && !placements.isCordoned(node);
    if (model.container.kind === 'kernelModel') {
      const wanted = this.wantedOf(model);
      if (gpu === undefined || found.room.gpus[gpu] === undefined) return false;
      if (wanted?.pin !== undefined && wanted.pin !== gpuName(node, gpu)) return false;
      this.fill({ node, gpu }, wanted);
    } else if (!found.takes(model.container.kind)) return false;
    this.count(node);
    return true;
  }

  /** A place for one replica more; null: there is none. */
  find(model: HostedModel): ReplicaPlace | null {
    const { kind } = model.container;
    if (kind === 'kernelModel') {
      const wanted = this.wantedOf(model);
      // Whose files cannot be read here says where it runs what is wrong with them.
      const outcome = placeReplica(this.rooms, wanted ?? { needs: NO_NEEDS });
      return outcome.ok ? this.taken(outcome.place, wanted) : null;
    }
    const best = this.leastLoaded(kind);
    return best === undefined ? null : this.taken({ node: best });
  }

  /**
   * A place on another node than a replica has now, where there are fewer: the fewest there are, and by `fewer` at least.
   * GPUs are compared with GPUs, what needs none by nodes.
   */
  findLessLoaded(model: HostedModel, { node, gpu }: ReplicaPlace, fewer: number): ReplicaPlace | null {
    const { kind } = model.container;
    if (kind !== 'kernelModel') {
      const best = this.leastLoaded(kind, node);
      if (best === undefined || this.load(node) - this.load(best) < fewer) return null;
      return this.taken({ node: best });
    }
    const wanted = this.wantedOf(model);
    const present = this.rooms.find((room) => room.node === node)?.gpus[gpu ?? 0]?.replicas;
    if (wanted === undefined || wanted.pin !== undefined || present === undefined) return null;
    const others = this.rooms
      .filter((room) => room.node !== node && room.gpus.some((one) => present - one.replicas >= fewer))
      .map((room) => ({
        ...room,
        gpus: room.gpus.map((one) => (present - one.replicas < fewer ? { ...one, isCordoned: true } : one)),
      }));
    if (others.length === 0) return null;
    const outcome = placeReplica(others, wanted);
    return outcome.ok ? this.taken(outcome.place, wanted) : null;
  }

  /** Names of the nodes that replicas are placed on, in order. */
  nodeNames(): readonly string[] {
    return [...this.nodes.keys()].filter((name) => !this.sources.placements.isCordoned(name)).sort();
  }

  private wantedOf(model: HostedModel): WantedReplica | undefined {
    if (!this.wanted.has(model)) {
      this.wanted.set(model, model.container.kind === 'kernelModel' ? this.sources.wanted(model) : undefined);
    }
    return this.wanted.get(model);
  }

  private leastLoaded(kind: ContainerSource['kind'], except?: string): string | undefined {
    let best: string | undefined;
    for (const { name, takes } of this.nodes.values()) {
      if (name === except || !takes(kind) || this.sources.placements.isCordoned(name)) continue;
      if (best === undefined || this.load(name) < this.load(best)) best = name;
    }
    return best;
  }

  private taken(place: ReplicaPlace, wanted?: WantedReplica): ReplicaPlace {
    if (place.gpu !== undefined) this.fill({ node: place.node, gpu: place.gpu }, wanted);
    this.count(place.node);
    return place;
  }

  private fill(place: { readonly node: string; readonly gpu: number }, wanted?: WantedReplica): void {
    if (wanted !== undefined) this.rooms = withReplica(this.rooms, place, wanted.needs);
  }

  private load(node: string): number {
    return this.replicas.get(node) ?? 0;
  }

  private count(node: string): void {
    this.replicas.set(node, this.load(node) + 1);
  }
}
