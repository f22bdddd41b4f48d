import { replicaBytes, type CardMisfits, type MemoryNeeds } from '../../models/index.js';
import { gpuName, gpuNames, type GpuRoom, type NodeRoom } from './nodeRoom.js';

/** A replica that is to have a GPU. */
export interface WantedReplica {
  readonly needs: MemoryNeeds;
  /** The name of the only GPU that it may have. */
  readonly pin?: string;
  /** Cards that cannot hold it, with why. */
  readonly misfits?: CardMisfits;
}

export interface Placement {
  readonly node: string;
  readonly gpu: number;
}

export type PlacementOutcome =
  { readonly ok: true; readonly place: Placement } | { readonly ok: false; readonly reason: string };

/** A message that names more would be read by nobody. */
const MOST_NAMED = 64;

/**
 * The GPU for one replica more: where its memory fits and the least work waits; among several the one with the fewest
 * replicas, and then the first. The same rooms give the same place.
 */
export function placeReplica(rooms: readonly NodeRoom[], wanted: WantedReplica): PlacementOutcome {
  let best: GpuRoom | undefined;
  let place: Placement | undefined;
  for (const room of rooms) {
    for (const [gpu, each] of room.gpus.entries()) {
      if (best !== undefined && !isBetter(each, best)) continue;
      if (obstacleAt(room, gpu, wanted) !== undefined) continue;
      best = each;
      place = { node: room.node, gpu };
    }
  }
  if (place !== undefined) return { ok: true, place };
  return { ok: false, reason: refusalOf(rooms, wanted) };
}

function isBetter(a: GpuRoom, b: GpuRoom): boolean {
  if (a.waitingNs !== b.waitingNs) return a.waitingNs < b.waitingNs;
  if (a.batchesInFlight !== b.batchesInFlight) return a.batchesInFlight < b.batchesInFlight;
  return a.replicas < b.replicas;
}

/** Why a GPU cannot take the replica; undefined when it can. */
function obstacleAt(room: NodeRoom, gpu: number, { needs, pin, misfits }: WantedReplica): string | undefined {
  const { card, contextBytes, freeBytes, declaredBytes, isCordoned } = room.gpus[gpu];
  if (pin !== undefined && pin !== gpuName(room.node, gpu)) return 'the model is pinned to another';
  if (isCordoned) return 'it is cordoned';
  const misfit = misfits?.[card];
  if (misfit !== undefined) return misfit;
  const bytes = replicaBytes(needs, contextBytes);
  if (bytes > freeBytes)
    return `${freeBytes} of its ${declaredBytes} bytes are free, a replica needs ${bytes}`;
  if (needs.backingBytes > room.freeBackingBytes) {
    return (
      `${freeBytes} of its ${declaredBytes} bytes are free, and ${room.freeBackingBytes} of the ${room.backingBytes} ` +
      `that the simulation has for all GPUs of ${room.node}, of which a replica needs ${needs.backingBytes}`
    );
  }
  return undefined;
}

function refusalOf(rooms: readonly NodeRoom[], wanted: WantedReplica): string {
  const { pin } = wanted;
  const names = gpuNames(rooms);
  if (names.length === 0) return 'there is no GPU node to run a kernel model on';
  if (pin !== undefined && !names.includes(pin)) {
    return `it is pinned to GPU '${pin}', which is not there: there are ${listed(names)}`;
  }
  const obstacles = rooms.flatMap((room) =>
    room.gpus.flatMap(({ card }, gpu) => {
      const name = gpuName(room.node, gpu);
      if (pin !== undefined && pin !== name) return [];
      return [`${name} (${card}): ${obstacleAt(room, gpu, wanted) ?? ''}`];
    }),
  );
  return `no GPU has room for a replica: ${listed(obstacles, '; ')}`;
}

/** For a sentence. */
export function listed(names: readonly string[], separator = ', '): string {
  if (names.length <= MOST_NAMED) return names.join(separator);
  return `${names.slice(0, MOST_NAMED).join(separator)}${separator}and ${names.length - MOST_NAMED} more`;
}
