import { z } from 'zod';
import { AlertIntake, notification } from '../alerts/index.js';
import type { EventSources } from './eventVerbs.js';
import { verb, type AdminVerb } from './verb.js';

const alertsAnswer = z.object({
  firing: z.int().describe('Alerts that are told as events: they have begun'),
  resolved: z.int().describe('Alerts that are told as events: they are over'),
  repeated: z.int().describe('Alerts that were told before'),
  left_out: z.int().describe('Alerts beyond the events of a minute'),
});

/** What Alertmanager sends. */
export function alertVerbs({ events }: EventSources): AdminVerb[] {
  const intake = new AlertIntake(events);
  return [
    verb('note_alerts', {
      summary: "Alertmanager's webhook, version 4: alerts that begin and end become events",
      request: notification,
      answer: alertsAnswer,
      // The intake notes by itself: several at once, or none.
      changes: 'nothing',
      run: (sent) => intake.take(sent),
    }),
  ];
}
