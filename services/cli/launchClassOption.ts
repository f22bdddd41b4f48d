import { Option } from 'commander';
import type { LaunchClass } from '../../containers/protocol/index.js';

// Spelled out, so that the command line starts without loading the simulator; the type checker holds it to all there are.
/** Every class, by name. */
export const CLASSES = Object.keys({
  critical: true,
  standard: true,
  bestEffort: true,
} satisfies Record<LaunchClass, true>);

/** @param whose kernels the class is of; @param without it, what holds */
export function launchClassOption(whose: string, without: string): Option {
  const description = `how long kernels of ${whose} may be made to wait by others on their GPU; ${without} unless given`;
  return new Option('--launch-class <class>', description).choices(CLASSES);
}
