import { resolve } from 'node:path';
import { readJsonFile } from '../../files/index.js';
import { reasonOf } from '../../text/index.js';
import { GpuError } from '../gpuError.js';
import { CARDS } from './cards/index.js';
import { resolveCard, type ResolvedCard } from './resolveCard.js';

/** Whether a device is given as a file and not by its name. */
export function isCardFile(device: string): boolean {
  return device.endsWith('.json') || device.includes('/');
}

/**
 * A card that a user wrote: JSON of the form that `gpu devices NAME --json` prints.
 * @throws GpuError `invalidProfile`: file, field, found, expected
 */
export function readCardFile(
  path: string,
  baseDir: string,
  cardNamed: (name: string) => ResolvedCard,
): ResolvedCard {
  let value: unknown;
  try {
    value = readJsonFile(resolve(baseDir, path));
  } catch (error) {
    throw new GpuError('invalidProfile', `${path}: ${reasonOf(error)}`);
  }
  const card = resolveCard(value, path, cardNamed);
  const { name } = card.profile;
  if (CARDS.some((each) => each.name === name)) {
    throw new GpuError(
      'invalidProfile',
      `${path}: name: found "${name}"; expected a name of its own, '${name}' is a card that Windjammer brings`,
      'name',
    );
  }
  return card;
}
