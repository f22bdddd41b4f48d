import { z } from 'zod';

/** Alertmanager sends fewer where its configuration says `max_alerts`. */
export const MOST_ALERTS = 1000;

const texts = z.record(z.string(), z.string());
const moment = z.iso.datetime({ offset: true });

const alert = z.object({
  status: z.enum(['firing', 'resolved']),
  labels: texts,
  annotations: texts.default({}),
  startsAt: moment,
  endsAt: moment.optional(),
  fingerprint: z
    .string()
    .regex(/^[0-9a-f]{1,64}$/, 'must be hexadecimal digits')
    .optional(),
});

/** What Alertmanager posts to a webhook, version 4 of it; it may have more fields. */
export const notification = z.object({
  version: z.literal('4').describe("Of Alertmanager's webhook format"),
  alerts: z
    .array(alert)
    .max(MOST_ALERTS)
    .describe(
      `Those of a group; at most ${MOST_ALERTS}: max_alerts of webhook_configs says how many are sent`,
    ),
});

export type Notification = z.infer<typeof notification>;
export type Alert = Notification['alerts'][number];
