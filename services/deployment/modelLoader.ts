import { ServiceError } from '../errors/index.js';
import { isHosted, type ModelRecord, type ModelScale } from '../registry/index.js';
import type { Deployer, ScaledRegistry } from './deployer.js';
import type { GpuCapacity } from './gpuCapacity.js';
import type { ReplicaStatus } from './replica.js';

export interface LoaderRegistry extends ScaledRegistry {
  requireCurrent(): void;
  setScale(name: string, version: string, scale: ModelScale): Promise<void>;
}

/** How far a version is from serving, in the words of the Open Inference Protocol's repository. */
export interface VersionState {
  readonly state: 'READY' | 'LOADING' | 'UNLOADING' | 'UNAVAILABLE';
  /** '' of a version that is ready. */
  readonly reason: string;
}

/** Of a version that was unloaded before anything was said of its scale. */
const ONE_REPLICA: ModelScale = { replicas: 1 };

/**
 * Loads and unloads models as a whole: every version of one runs no replica any more, and later as many as before. Both
 * survive a restart.
 */
export class ModelLoader {
  constructor(
    private readonly registry: LoaderRegistry,
    private readonly deployer: Pick<Deployer, 'statuses' | 'settled'>,
    private readonly capacity: Pick<GpuCapacity, 'admit'>,
  ) {}

  /** Not unloaded: it has replicas to run, whether they are up or not, or somebody else runs them. */
  isLoaded(name: string, version: string): boolean {
    const model = this.registry.model(name, version);
    if (model === undefined) return false;
    return !isHosted(model) || this.registry.scale(name, version).replicas > 0;
  }

  state(name: string, version: string): VersionState {
    const replicas = this.replicasOf(name, version);
    if (replicas.some(({ state }) => state === 'up')) return { state: 'READY', reason: '' };
    const coming = replicas.find(({ state }) => state === 'starting' || state === 'warming');
    if (coming !== undefined)
      return { state: 'LOADING', reason: `replica ${coming.replica} is ${coming.state}` };
    const lost = replicas.find(({ state }) => state === 'down');
    if (lost !== undefined) return { state: 'UNAVAILABLE', reason: failureOf(lost) };
    const leaving = replicas.find(({ state }) => state === 'draining');
    if (leaving !== undefined) return { state: 'UNLOADING', reason: 'it answers what it had' };
    return {
      state: 'UNAVAILABLE',
      reason: this.isLoaded(name, version) ? 'no replica is up' : 'unloaded',
    };
  }

  /**
   * Resolves once every version of the model has a replica that is up.
   * @throws ServiceError (as a rejection) `unknown_model`, `not_supported`, `storage_full`, `store_failed`, `insufficient_gpu_memory` where
   * its replicas have no room, `load_failed` when a version does not come up; it is tried again meanwhile, as every lost replica is
   */
  async load(name: string): Promise<void> {
    this.registry.requireCurrent();
    const versions = this.versionsOf(name);
    const unloaded = versions.filter(({ version }) => !this.isLoaded(name, version));
    const changes = unloaded.map((model) => {
      const { resting = ONE_REPLICA } = this.registry.scale(name, model.version);
      return { model, scale: resting };
    });
    await this.capacity.admit(changes, async () => {
      await Promise.all(
        changes.map(({ model, scale }) => this.registry.setScale(name, model.version, scale)),
      );
    });
    await this.deployer.settled((model) => model === name);
    const failed = versions.flatMap(({ version }) => {
      const { state, reason } = this.state(name, version);
      return state === 'READY' ? [] : [`version '${version}': ${reason}`];
    });
    if (failed.length === 0) return;
    throw new ServiceError('load_failed', `the model '${name}' is not loaded: ${failed.join('; ')}`);
  }

  /**
   * Resolves once it is durable; from then on no query reaches the model, and what its replicas have is answered.
   * @throws ServiceError (as a rejection) `unknown_model`, `not_supported`, `storage_full`, `store_failed`
   */
  async unload(name: string): Promise<void> {
    this.registry.requireCurrent();
    const loaded = this.versionsOf(name).filter(({ version }) => this.isLoaded(name, version));
    await Promise.all(
      loaded.map(({ version }) => {
        const { replicas, range } = this.registry.scale(name, version);
        const resting = range === undefined ? { replicas } : { replicas, range };
        return this.registry.setScale(name, version, { replicas: 0, resting });
      }),
    );
  }

  private replicasOf(name: string, version: string): ReplicaStatus[] {
    return this.deployer.statuses().filter((status) => status.model === name && status.version === version);
  }

  private versionsOf(name: string): ModelRecord[] {
    const versions = this.registry.models().filter((model) => model.name === name);
    if (versions.length === 0) throw unknownModel(name);
    const own = versions.filter(isHosted);
    if (own.length > 0) return own;
    const message = `containers of the model '${name}' are started and stopped by somebody else`;
    throw new ServiceError('not_supported', message);
  }
}

function failureOf({ replica, lastFailure }: ReplicaStatus): string {
  return `replica ${replica} is down: ${lastFailure ?? 'lost'}`;
}

function unknownModel(name: string): ServiceError {
  const shown = JSON.stringify(name.length <= 64 ? name : `${name.slice(0, 61)}...`);
  return new ServiceError(
    'unknown_model',
    `no model has the name ${shown}; of an application, name its models`,
  );
}
