import { z } from 'zod';
import type { EventLog, EventQuery } from '../events/index.js';
import { verb, type AdminVerb } from './verb.js';

const MOST_LISTED = 1000;
const LONGEST_WAIT_S = 60;

const name = z.string().max(128).optional();

export const eventsSchema = z.strictObject({
  after: z
    .int()
    .min(0)
    .optional()
    .describe(
      'Those that follow the event of this number, the first of them first; the last ones when left out',
    ),
  before: z.int().min(1).optional().describe('Those before the event of this number'),
  since: z.iso.datetime({ offset: true }).optional().describe('Not older than this'),
  app_name: name,
  model_name: name,
  limit: z.int().min(1).max(MOST_LISTED).default(100),
  wait_seconds: z
    .number()
    .min(0)
    .max(LONGEST_WAIT_S)
    .default(0)
    .describe('Where there is none, the answer waits so long for one'),
});

const eventAnswer = z.object({
  seq: z.int().describe('Its number; grows, over all servers that share a store'),
  time: z.iso.datetime(),
  server: z.string().describe('By the name that cluster_status has for it'),
  by: z.object({
    name: z
      .string()
      .describe(
        "The name of the key that was shown; `open` where none is asked for; else the server's part that did it",
      ),
    key: z.string().optional().describe('The id of the key'),
  }),
  automatic: z.literal(true).optional().describe('Nobody asked for it'),
  count: z
    .int()
    .optional()
    .describe('It has happened so often, each time within ten minutes of the last, which is `time`'),
  since: z.iso.datetime().optional().describe('With a count: when it happened first'),
  verb: z.string().describe('The verb of management, or what happened by itself'),
  about: z
    .object({
      application: z.string(),
      context: z.string(),
      model: z.string(),
      version: z.string(),
      replica: z.int(),
      node: z.string(),
      key: z.string(),
      feedback: z.string(),
      alert: z.string(),
      models: z.array(z.string()).readonly(),
    })
    .partial(),
  before: z.unknown().optional().describe('Long texts and lists are cut'),
  after: z.unknown().optional(),
});

export const eventsAnswer = z.object({
  events: eventAnswer.array().readonly().describe('The oldest first'),
  more: z.boolean().describe('There are others beyond the limit: earlier ones, or with `after` later ones'),
  last: z.int().describe('The number of the last event of all; 0: there was none'),
});

export type EventsFields = z.input<typeof eventsSchema>;
export type EventsAnswer = z.infer<typeof eventsAnswer>;
export type EventAnswer = z.infer<typeof eventAnswer>;

export interface EventSources {
  readonly events: EventLog;
}

/** What was changed, and what happened by itself. */
export function eventVerbs({ events }: EventSources): AdminVerb[] {
  return [
    verb('list_events', {
      summary: 'What was changed, by whom, from what to what, and what happened by itself',
      request: eventsSchema,
      answer: eventsAnswer,
      changes: 'nothing',
      run: async (
        { since, app_name: application, model_name: model, wait_seconds: waitS, ...range },
        gone,
      ) => {
        const sinceMs = since === undefined ? undefined : Date.parse(since);
        const query = { ...range, sinceMs, application, model };
        if (waitS > 0) await oneOf(events, query, AbortSignal.any([gone, AbortSignal.timeout(waitS * 1000)]));
        return { ...events.find(query), last: events.last };
      },
    }),
  ];
}

/** Resolves once there is an event that is asked for, or the time is over. */
function oneOf(events: EventLog, query: EventQuery, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const isThere = (): boolean => events.find(query).events.length > 0;
    if (over.aborted || isThere()) {
      resolve();
      return;
    }
    const unwatch = events.watch(() => {
      if (isThere()) end();
    });
    const end = (): void => {
      unwatch();
      over.removeEventListener('abort', end);
      resolve();
    };
    over.addEventListener('abort', end);
  });
}
