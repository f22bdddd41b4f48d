import { findCard } from '../../../simulator/gpu/index.js';
import { loadKernelModel } from '../../models/index.js';
import { gpuName, placeReplica, Reservations, withReplica, type NodeRoom } from '../placement/index.js';

/** Replicas of a model that a GPU gets when as many are placed as there is room for. */
export interface GpuShare {
  /** NODE/INDEX. */
  readonly gpu: string;
  readonly card: string;
  readonly replicas: number;
}

/** A server runs no more of one version, and nobody asks for more. */
const MOST_PLACED = 10_000;

/**
 * How many replicas of a model fit on nodes that have nothing else.
 * @param folder absolute
 * @param cards names or files, of each node's GPUs
 * @throws ModelError when the folder cannot be loaded, GpuError when there is no such card
 */
export function fittingReplicas(
  folder: string,
  cards: readonly string[],
  nodes: number,
): readonly GpuShare[] {
  const profiles = cards.map((card) => findCard(card, '.').profile);
  const { memory: needs, misfits } = loadKernelModel(folder, [...new Set(profiles)]);
  let rooms: readonly NodeRoom[] = Array.from({ length: nodes }, (_, at) =>
    new Reservations(`node${at}`, profiles).room(),
  );
  for (let placed = 0; placed < MOST_PLACED; placed++) {
    const outcome = placeReplica(rooms, { needs, misfits });
    if (!outcome.ok) break;
    rooms = withReplica(rooms, outcome.place, needs);
  }
  return rooms.flatMap(({ node, gpus }) =>
    gpus.map(({ card, replicas }, gpu) => ({ gpu: gpuName(node, gpu), card, replicas })),
  );
}
