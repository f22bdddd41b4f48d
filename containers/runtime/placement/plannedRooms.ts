import { replicaBytes, type MemoryNeeds } from '../../models/index.js';
import type { GpuRoom, NodeRoom } from './nodeRoom.js';
import type { Placement } from './placeReplica.js';

/** The rooms as they would be with another replica at a place. */
export function withReplica(
  rooms: readonly NodeRoom[],
  { node, gpu }: Placement,
  needs: MemoryNeeds,
): readonly NodeRoom[] {
  return rooms.map((room) => {
    if (room.node !== node) return room;
    const change = (one: GpuRoom): GpuRoom => taken(one, replicaBytes(needs, one.contextBytes), 1);
    return changed(room, gpu, needs.backingBytes, change);
  });
}

/** The rooms as they will be once those who are not to stay have given back what they hold. */
export function withoutHolders(
  rooms: readonly NodeRoom[],
  isStaying: (holder: NodeRoom['holders'][number]) => boolean,
): readonly NodeRoom[] {
  return rooms.map((room) => {
    const leaving = room.holders.filter((holder) => !isStaying(holder));
    const left = leaving.reduce(
      (before, { gpu, bytes, backingBytes }) =>
        changed(before, gpu, -backingBytes, (one) => taken(one, -bytes, -1)),
      room,
    );
    return leaving.length === 0 ? room : { ...left, holders: room.holders.filter(isStaying) };
  });
}

function changed(
  room: NodeRoom,
  gpu: number,
  backingBytes: number,
  change: (gpu: GpuRoom) => GpuRoom,
): NodeRoom {
  return {
    ...room,
    freeBackingBytes: room.freeBackingBytes - backingBytes,
    gpus: room.gpus.map((one, at) => (at === gpu ? change(one) : one)),
  };
}

function taken(gpu: GpuRoom, bytes: number, replicas: number): GpuRoom {
  return {
    ...gpu,
    reservedBytes: gpu.reservedBytes + bytes,
    freeBytes: gpu.freeBytes - bytes,
    replicas: gpu.replicas + replicas,
  };
}
