import { z } from 'zod';
import type { Json } from '../../selection/index.js';
import { shapeFault } from '../json/index.js';
import { SCOPES } from './scopes.js';

const key = z.looseObject({
  id: z.string().min(1),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)).min(1),
  applications: z.array(z.string()).optional(),
  models: z.array(z.string()).optional(),
  createdMs: z.number(),
  expiresMs: z.number().optional(),
  /** SHA-256. */
  hash: z.string().regex(/^[0-9a-f]{64}$/, 'expected the SHA-256 of a key'),
});
const removed = z.array(z.string());

/** As `registryFault`, of what is kept of keys. */
export function accessFault(parts: readonly string[], value: Json): string | undefined {
  const shape = parts[1] === 'key' ? key : parts[1] === 'removed' ? removed : undefined;
  if (shape === undefined) return undefined;
  const fault = shapeFault(shape, value);
  if (fault !== undefined || parts[1] === 'removed') return fault;
  const { id } = value as unknown as z.infer<typeof key>;
  return id === parts[2] ? undefined : `it is the record of '${id}'`;
}
