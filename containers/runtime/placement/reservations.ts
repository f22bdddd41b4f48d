import { contextBytes } from '../../../simulator/driver/index.js';
import type { DeviceProfile } from '../../../simulator/gpu/index.js';
import { REPLICA_BACKING_BYTES, replicaBytes, type MemoryNeeds } from '../../models/index.js';
import type { ReplicaIdentity } from '../replicaIdentity.js';
import type { GpuRoom, NodeRoom, RoomHolder } from './nodeRoom.js';

interface Holder {
  readonly record: RoomHolder;
  batchesInFlight: number;
  /** Of its latest batch. */
  serviceNs: number;
}

/** What the replicas of a node hold of its GPUs, and what waits there. A line is one replica's channel. */
export class Reservations {
  private readonly holders = new Map<number, Holder>();
  private readonly cordoned = new Set<number>();
  private readonly listeners: (() => void)[] = [];

  constructor(
    private readonly node: string,
    private readonly cards: readonly DeviceProfile[],
  ) {}

  /** From the moment that a replica is to start, whatever becomes of it, until `release`. */
  reserve(line: number, gpu: number, { model, version, replica }: ReplicaIdentity, needs: MemoryNeeds): void {
    // A GPU that is not there: the start fails, and holds nothing.
    if (!(gpu in this.cards)) return;
    const bytes = replicaBytes(needs, contextBytes(this.cards[gpu]));
    const record = { model, version, replica, gpu, bytes, backingBytes: needs.backingBytes };
    this.holders.set(line, { record, batchesInFlight: 0, serviceNs: 0 });
  }

  release(line: number): void {
    if (this.holders.delete(line)) this.tell();
  }

  releaseAll(): void {
    if (this.holders.size === 0) return;
    this.holders.clear();
    this.tell();
  }

  onSent(line: number): void {
    const holder = this.holders.get(line);
    if (holder !== undefined) holder.batchesInFlight += 1;
  }

  onAnswered(line: number, serviceNs: number): void {
    const holder = this.holders.get(line);
    if (holder === undefined) return;
    holder.batchesInFlight -= 1;
    holder.serviceNs = serviceNs;
  }

  /** A cordoned GPU takes no replica more; those that run there stay. */
  cordon(gpu: number, isCordoned: boolean): void {
    if (isCordoned) this.cordoned.add(gpu);
    else if (this.cordoned.delete(gpu)) this.tell();
  }

  /** @param listener told when there is more room than before */
  watch(listener: () => void): void {
    this.listeners.push(listener);
  }

  room(): NodeRoom {
    const sums = this.cards.map(() => ({ reservedBytes: 0, replicas: 0, batchesInFlight: 0, waitingNs: 0 }));
    let backed = 0;
    for (const { record, batchesInFlight, serviceNs } of this.holders.values()) {
      const sum = sums[record.gpu];
      sum.reservedBytes += record.bytes;
      sum.replicas += 1;
      sum.batchesInFlight += batchesInFlight;
      sum.waitingNs += batchesInFlight * serviceNs;
      backed += record.backingBytes;
    }
    return {
      node: this.node,
      backingBytes: REPLICA_BACKING_BYTES,
      freeBackingBytes: REPLICA_BACKING_BYTES - backed,
      gpus: this.cards.map((card, gpu) => this.gpuRoom(card, gpu, sums[gpu])),
      holders: [...this.holders.values()].map(({ record }) => record),
    };
  }

  private gpuRoom(
    card: DeviceProfile,
    gpu: number,
    sum: Pick<GpuRoom, 'reservedBytes' | 'replicas' | 'batchesInFlight' | 'waitingNs'>,
  ): GpuRoom {
    const { declaredBytes } = card.memory;
    return {
      card: card.name,
      declaredBytes,
      freeBytes: declaredBytes - sum.reservedBytes,
      contextBytes: contextBytes(card),
      ...sum,
      isCordoned: this.cordoned.has(gpu),
    };
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}
