import { z } from 'zod';
import type { Json } from '../../selection/index.js';
import { shapeFault } from '../json/index.js';

const text = z.string().optional();

const event = z.looseObject({
  time: z.iso.datetime({ offset: true }),
  server: z.string(),
  by: z.looseObject({ name: z.string(), key: text }),
  automatic: z.literal(true).optional(),
  count: z.int().min(2).optional(),
  since: z.iso.datetime({ offset: true }).optional(),
  verb: z.string(),
  about: z.looseObject({
    application: text,
    context: text,
    model: text,
    version: text,
    replica: z.number().optional(),
    node: text,
    key: text,
    feedback: text,
    models: z.array(z.string()).optional(),
  }),
});

/** As `registryFault`, of events. */
export function eventFault(parts: readonly string[], value: Json): string | undefined {
  if (!/^\d{1,15}$/.test(parts[1] ?? '')) return 'its key is no number of an event';
  return shapeFault(event, value);
}
