import { z } from 'zod';
import type { Json } from '../../selection/index.js';
import { shapeFault } from '../json/index.js';

const use = z.looseObject({ day: z.number(), count: z.number() });
const past = z.array(z.looseObject({ version: z.int().min(1), replacedMs: z.number(), state: z.unknown() }));

/** As `registryFault`, of what is kept beside learned states. States are read by their policies, which refuse others. */
export function selectionFault(parts: readonly string[], value: Json): string | undefined {
  const kind = parts[2];
  const shape = kind === 'used' ? use : kind === 'past' || kind === 'pastOf' ? past : undefined;
  return shape && shapeFault(shape, value);
}
