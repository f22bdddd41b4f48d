import type { NodeLink } from '../containers/runtime/index.js';
import type { ReplicaStatus, ScaledRegistry } from './deployment/index.js';
import type { Missing } from './frontend/index.js';
import { isHosted, type ExternalModel, type HostedModel } from './registry/index.js';
import type { PolicyFileStatus } from './prediction/index.js';
import type { Store } from './store/index.js';

export interface ReadinessSources {
  readonly store: Pick<Store, 'fault' | 'watchFault'>;
  readonly registry: ScaledRegistry;
  readonly replicas: () => readonly ReplicaStatus[];
  /** Whether containers can dial in. */
  readonly dialsIn: boolean;
  /** Whether models run on nodes in other processes alone. */
  readonly isOnNodesOnly: boolean;
  /** Nodes in other processes. */
  readonly links: () => readonly NodeLink[];
  /** Nodes of the cluster that nobody hears of, or that cannot be used; absent where there is no cluster. */
  readonly members?: (() => readonly Member[]) | undefined;
  /** Of every application with a policy file. */
  readonly policyFiles: () => readonly Pick<PolicyFileStatus, 'application' | 'isUp' | 'fault'>[];
  /** Wall clock, milliseconds since 1970. */
  readonly nowMs: () => number;
}

interface Member {
  readonly name: string;
  readonly alive: boolean;
  readonly last_word_seconds: number;
  readonly problem?: string | undefined;
}

/** A list that is longer is read by nobody. */
const MOST_VERSIONS = 50;
const MOST_NODES = 10;
const LOOK_EVERY_MS = 500;

/** What the server lacks, and since when: a store that keeps nothing, nodes, replicas of models. */
export class Readiness {
  private faultSince: string;
  private nodesSince: string | undefined;
  private readonly unwatch: () => void;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly sources: ReadinessSources) {
    const { store } = sources;
    let isFailing = store.fault() !== undefined;
    this.faultSince = this.now();
    this.unwatch = store.watchFault((fault) => {
      // Another cause is the same absence.
      if (fault !== undefined && !isFailing) this.faultSince = this.now();
      isFailing = fault !== undefined;
    });
    this.look();
    this.timer = setInterval(() => this.look(), LOOK_EVERY_MS);
    this.timer.unref();
  }

  missing(): readonly Missing[] {
    this.look();
    return [...this.store(), ...this.nodes(), ...this.models(), ...this.policies()];
  }

  close(): void {
    clearInterval(this.timer);
    this.unwatch();
  }

  private store(): readonly Missing[] {
    const fault = this.sources.store.fault();
    if (fault === undefined) return [];
    return [{ what: 'store', cause: fault.cause, message: fault.message, since: this.faultSince }];
  }

  private nodes(): readonly Missing[] {
    if (this.nodesSince === undefined) return [];
    return [{ what: 'nodes', message: this.nodesText(), since: this.nodesSince }];
  }

  private nodesText(): string {
    const { members, links } = this.sources;
    const problems =
      members?.().map(({ name, alive, last_word_seconds: seconds, problem }) => {
        const why = problem ?? 'it is shutting down';
        return alive ? `${name}: ${why}` : `${name} was last heard of ${Math.round(seconds)} s ago`;
      }) ??
      links().map(
        ({ node, address, problem }) => `${node} at ${address}: ${problem ?? 'it is shutting down'}`,
      );
    if (problems.length === 0) return 'none has joined the cluster: start one with windjammer node --join';
    const more = problems.length > MOST_NODES ? `; and ${problems.length - MOST_NODES} more` : '';
    return `none of them can be used: ${problems.slice(0, MOST_NODES).join('; ')}${more}`;
  }

  private models(): readonly Missing[] {
    const { registry, replicas } = this.sources;
    const byVersion = new Map<string, ReplicaStatus[]>();
    for (const status of replicas()) {
      const key = JSON.stringify([status.model, status.version]);
      byVersion.set(key, [...(byVersion.get(key) ?? []), status]);
    }
    const found: Missing[] = [];
    for (const model of registry.models()) {
      const { name, version } = model;
      const own = byVersion.get(JSON.stringify([name, version])) ?? [];
      const missing = isHosted(model) ? this.hosted(model, own) : this.external(model as ExternalModel, own);
      if (missing !== undefined) found.push(missing);
      if (found.length >= MOST_VERSIONS) break;
    }
    return found;
  }

  private policies(): readonly Missing[] {
    return this.sources.policyFiles().flatMap(({ application, isUp, fault }) => {
      if (isUp && fault === undefined) return [];
      return [{ what: 'policy', application, message: fault?.message ?? 'its process is starting' } as const];
    });
  }

  private hosted({ name: model, version }: HostedModel, own: readonly ReplicaStatus[]): Missing | undefined {
    const wanted = this.sources.registry.scale(model, version).replicas;
    const up = own.filter(({ state }) => state === 'up').length;
    if (up >= wanted) return undefined;
    const lost = own.find(({ state }) => state === 'down');
    // Of those that start beside others nothing is missing.
    if (up > 0 && lost === undefined) return undefined;
    const message = lost?.lastFailure ?? 'they are starting';
    return { what: 'replicas', model, version, up, wanted, message };
  }

  /** Whoever runs its containers says how many: one of the current version is what is missed. */
  private external(
    { name: model, version }: ExternalModel,
    own: readonly ReplicaStatus[],
  ): Missing | undefined {
    const { registry, dialsIn } = this.sources;
    if (registry.currentVersion(model) !== version || own.some(({ state }) => state === 'up'))
      return undefined;
    const message = dialsIn
      ? 'none of its containers has dialled in'
      : 'no port is open for its containers: start the server with --clipper-port';
    return { what: 'replicas', model, version, up: 0, wanted: 1, message };
  }

  private look(): void {
    const { isOnNodesOnly, links } = this.sources;
    const isThere =
      !isOnNodesOnly || links().some(({ isConnected, isDraining }) => isConnected && !isDraining);
    this.nodesSince = isThere ? undefined : (this.nodesSince ?? this.now());
  }

  private now(): string {
    return new Date(this.sources.nowMs()).toISOString();
  }
}
