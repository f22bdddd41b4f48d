import { gpuName, gpuNames, listed, type NodeRoom } from '../../containers/runtime/index.js';
import { ServiceError } from '../errors/index.js';
import type { AddModelRequest } from './schemas.js';

/**
 * Cards of which one is to hold a model: that of the GPU to which it is pinned, or those of all GPUs.
 * @throws ServiceError `unknown_gpu`, naming those that there are
 */
export function cardsFor({ gpu: pin }: AddModelRequest, rooms: readonly NodeRoom[]): readonly string[] {
  const cards = rooms.flatMap(({ node, gpus }) =>
    gpus.flatMap(({ card }, gpu) => (pin === undefined || pin === gpuName(node, gpu) ? [card] : [])),
  );
  if (pin === undefined || cards.length > 0) return [...new Set(cards)];
  const names = gpuNames(rooms);
  const there = names.length === 0 ? 'the server has none' : `there are ${listed(names)}`;
  throw new ServiceError('unknown_gpu', `there is no GPU '${pin}': ${there}`, 'gpu');
}
