import { z } from 'zod';
import { FAULT_CAUSES } from '../store/index.js';

const since = z.iso.datetime().describe('On the clock of the server');

/** What a server lacks, by name. */
export const missingSchema = z.discriminatedUnion('what', [
  z.object({
    what: z.literal('store'),
    cause: z.enum(FAULT_CAUSES),
    message: z.string(),
    since,
  }),
  z.object({
    what: z.literal('nodes'),
    message: z.string().describe('Which nodes there are, and why none of them can be used'),
    since,
  }),
  z.object({
    what: z.literal('replicas'),
    model: z.string(),
    version: z.string(),
    up: z.int(),
    wanted: z.int(),
    message: z.string().describe('Why the others are not'),
  }),
  z.object({
    what: z.literal('policy'),
    application: z.string(),
    message: z.string().describe('Why its policy file is not followed: queries go to the first model'),
  }),
]);

export type Missing = z.output<typeof missingSchema>;

/** In a sentence. */
export function missingText(missing: readonly Missing[]): string {
  return missing
    .map((one) =>
      one.what === 'policy'
        ? `application '${one.application}' goes without its policy file: ${one.message}`
        : one.what === 'replicas'
          ? `model '${one.model}' version '${one.version}' has ${one.up} of ${one.wanted} replicas: ${one.message}`
          : `${one.what === 'store' ? 'changes are not kept' : 'no node'} since ${one.since}: ${one.message}`,
    )
    .join('; ');
}

/** For whoever has shown no key: names of models and nodes are not for everybody. */
export function missingUnnamed(missing: readonly Missing[]): readonly object[] {
  return missing.map((one) => {
    if (one.what === 'store') return one;
    if (one.what === 'nodes') return { what: one.what, since: one.since };
    if (one.what === 'policy') return { what: one.what };
    return { what: one.what, up: one.up, wanted: one.wanted };
  });
}
