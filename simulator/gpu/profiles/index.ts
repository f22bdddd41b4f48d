import type { DeviceProfile } from './deviceProfile.js';
import { GpuError } from '../gpuError.js';
import { h200 } from './h200.js';

export type {
  CopyCosts,
  DeviceLimits,
  DeviceMemory,
  DeviceProfile,
  DeviceTiming,
  SubmissionCosts,
} from './deviceProfile.js';

const PROFILES: ReadonlyMap<string, DeviceProfile> = new Map([[h200.name, h200]]);

export const PROFILE_NAMES: readonly string[] = [...PROFILES.keys()];

/** @throws GpuError `unknownProfile`, naming the ones there are. */
export function profileNamed(name: string): DeviceProfile {
  const profile = PROFILES.get(name);
  if (profile !== undefined) return profile;
  throw new GpuError('unknownProfile', `no device profile '${name}'; there are: ${PROFILE_NAMES.join(', ')}`);
}
