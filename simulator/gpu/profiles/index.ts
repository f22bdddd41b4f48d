import { GpuError } from '../gpuError.js';
import { isCardFile, readCardFile } from './cardFile.js';
import { CARDS } from './cards/index.js';
import type { DeviceProfile } from './deviceProfile.js';
import { resolveCard, type ResolvedCard } from './resolveCard.js';

export type {
  CopyCosts,
  DeviceClocks,
  DeviceLimits,
  DeviceMemory,
  DevicePower,
  DeviceProfile,
  DeviceTiming,
  TimingRule,
  EnergyClass,
  SubmissionCosts,
} from './deviceProfile.js';
export type { Source, SourceKind } from './figure.js';
export { isCardFile } from './cardFile.js';
export { cardJson } from './cardJson.js';
export type { ResolvedCard, SourcedFigure } from './resolveCard.js';

export const PROFILE_NAMES: readonly string[] = CARDS.map((card) => card.name);

const resolved = new Map<string, ResolvedCard>();

/** A card of ours with every figure's source. @throws GpuError `unknownProfile`, naming the ones there are. */
export function cardNamed(name: string): ResolvedCard {
  const known = resolved.get(name);
  if (known !== undefined) return known;
  const card = CARDS.find((each) => each.name === name);
  if (card === undefined) {
    throw new GpuError(
      'unknownProfile',
      `no device profile '${name}'; there are: ${PROFILE_NAMES.join(', ')}, or the path of a JSON file`,
    );
  }
  const made = resolveCard(card, `card '${name}'`, cardNamed);
  resolved.set(name, made);
  return made;
}

/** @throws GpuError `unknownProfile`, naming the ones there are. */
export function profileNamed(name: string): DeviceProfile {
  return cardNamed(name).profile;
}

/**
 * A card by its name, or read from a file when it looks like a path.
 * @param baseDir where a relative path starts
 * @throws GpuError `unknownProfile` or `invalidProfile`
 */
export function findCard(device: string, baseDir: string): ResolvedCard {
  return isCardFile(device) ? readCardFile(device, baseDir, cardNamed) : cardNamed(device);
}
