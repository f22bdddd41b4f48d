import pLimit from 'p-limit';
import {
  placeReplica,
  withoutHolders,
  withReplica,
  type NodeRoom,
  type WantedReplica,
} from '../../containers/runtime/index.js';
import { ServiceError } from '../errors/index.js';
import { isHosted, type HostedModel, type ModelRecord, type ModelScale } from '../registry/index.js';
import type { ScaledRegistry } from './deployer.js';

export interface CapacitySources {
  readonly registry: ScaledRegistry;
  readonly rooms: () => readonly NodeRoom[];
  /** What one replica is to be given; undefined of what needs no GPU. */
  readonly wanted: (model: HostedModel) => WantedReplica | undefined;
}

/** Another number of replicas for a version, which may be about to be registered. */
export interface ScaleChange {
  readonly model: ModelRecord;
  readonly scale: ModelScale;
}

interface Plan {
  readonly rooms: readonly NodeRoom[];
  /** Replicas of the version that hold a place, or find one. */
  readonly placed: number;
  /** Why there are not more. */
  readonly reason?: string;
}

/**
 * Whether the GPUs have room for the replicas that are wanted: those that run, those that the registry names and that have not
 * started yet, and those that somebody asks for now.
 */
export class GpuCapacity {
  private readonly inTurn = pLimit(1);

  constructor(private readonly sources: CapacitySources) {}

  /**
   * Makes a change of scales unless it asks for more replicas than there is room for. One change at a time: what one was given,
   * the next does not find free. Fewer replicas than before are always taken.
   * @param make writes all the changes to the registry
   * @throws ServiceError (as a rejection) `insufficient_gpu_memory`, and what `make` throws
   */
  admit(changes: readonly ScaleChange[], make: () => Promise<void>): Promise<void> {
    return this.inTurn(async () => {
      this.refuseShort(changes);
      await make();
    });
  }

  /** How many replicas, up to `most`, a version can have; those that it has are never too many. */
  most(model: ModelRecord, most: number): number {
    const present = this.presentScale(model);
    if (most <= present || !isHosted(model)) return most;
    return Math.max(present, this.plan([{ model, scale: { replicas: most } }], model, most).placed);
  }

  private refuseShort(changes: readonly ScaleChange[]): void {
    for (const { model, scale } of changes) {
      const { replicas } = scale;
      if (!isHosted(model) || replicas <= this.presentScale(model)) continue;
      const { placed, reason } = this.plan(changes, model, replicas);
      if (reason === undefined) continue;
      const who = `model '${model.name}' version '${model.version}'`;
      const fitting = placed === 0 ? 'none fits' : `${placed} of them fit`;
      throw new ServiceError(
        'insufficient_gpu_memory',
        `${who} is to have ${replicas} ${replicas === 1 ? 'replica' : 'replicas'}, and ${fitting}: ${reason}`,
        'num_replicas',
      );
    }
  }

  private presentScale({ name, version }: ModelRecord): number {
    const { registry } = this.sources;
    return registry.model(name, version) === undefined ? 0 : registry.scale(name, version).replicas;
  }

  /** Where everything would be with the changes, and `count` replicas of one of their versions behind all others. */
  private plan(changes: readonly ScaleChange[], last: HostedModel, count: number): Plan {
    const { registry } = this.sources;
    const counts = new Map<string, number>();
    const models = new Map<string, HostedModel>();
    for (const model of registry.models()) {
      if (!isHosted(model) || model.container.kind !== 'kernelModel') continue;
      models.set(keyOf(model), model);
      counts.set(keyOf(model), registry.scale(model.name, model.version).replicas);
    }
    for (const { model, scale } of changes) {
      if (!isHosted(model)) continue;
      models.set(keyOf(model), model);
      counts.set(keyOf(model), scale.replicas);
    }
    counts.set(keyOf(last), count);
    const missing = new Map(counts);
    let rooms = withoutHolders(this.sources.rooms(), ({ model: name, version }) => {
      const key = keyOf({ name, version });
      const left = missing.get(key) ?? 0;
      if (left > 0) missing.set(key, left - 1);
      return left > 0;
    });
    models.delete(keyOf(last));
    for (const [key, model] of models) {
      rooms = this.placeAll(rooms, model, missing.get(key) ?? 0).rooms;
    }
    const wanting = missing.get(keyOf(last)) ?? 0;
    const { placed, ...rest } = this.placeAll(rooms, last, wanting);
    return { ...rest, placed: count - wanting + placed };
  }

  private placeAll(before: readonly NodeRoom[], model: HostedModel, count: number): Plan {
    if (count === 0) return { rooms: before, placed: 0 };
    const wanted = this.sources.wanted(model);
    if (wanted === undefined) return { rooms: before, placed: count };
    let rooms = before;
    for (let placed = 0; placed < count; placed++) {
      const outcome = placeReplica(rooms, wanted);
      if (!outcome.ok) return { rooms, placed, reason: outcome.reason };
      rooms = withReplica(rooms, outcome.place, wanted.needs);
    }
    return { rooms, placed: count };
  }
}

function keyOf({ name, version }: Pick<ModelRecord, 'name' | 'version'>): string {
  return JSON.stringify([name, version]);
}
