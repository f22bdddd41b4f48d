import { z } from 'zod';
import { ServiceError } from '../errors/index.js';
import {
  exportState,
  NoSuchVersionError,
  pinState,
  resetState,
  rollBackState,
  type SelectionStates,
} from '../feedback/index.js';
import type { QueueAdministration, QueueJobState } from '../feedbackQueue/index.js';
import type { Registry } from '../registry/index.js';
import { notKept, type StoreOutcome } from '../store/index.js';
import { stateSchema } from './schemas.js';
import { verb, type AdminVerb } from './verb.js';

/** What learned states and feedback on its way are managed by. */
export interface FeedbackSources {
  readonly registry: Registry;
  /** The learned states of an application; undefined: there is none. */
  readonly states?: ((application: string) => SelectionStates | undefined) | undefined;
  /** undefined: feedback goes by no queue, and is learned at once. */
  readonly feedbackQueue?: QueueAdministration | undefined;
}

/** As the queue has them, whose modules are loaded only where there is one. */
const QUEUE_STATES = ['waiting', 'active', 'delayed', 'failed'] as const satisfies readonly QueueJobState[];

const MOST_LISTED = 1000;

const pastVersion = z.object({
  version: z.int(),
  replaced_at: z.iso.datetime(),
  state: z.unknown(),
});

export const exportAnswer = z.object({
  app_name: z.string(),
  uid: z.string(),
  policy: z.string(),
  version: z.int().describe('Grows with each write; 0: nothing was learned yet'),
  pinned: z.boolean(),
  state: z.unknown().describe('As the policy keeps it'),
  past: pastVersion.array().describe('Versions that it can be taken back to, the oldest first'),
});

const queueEntry = z.object({
  id: z.string(),
  state: z.enum(QUEUE_STATES),
  app_name: z.string(),
  uid: z.string(),
  attempts: z.int(),
  reason: z.string().optional().describe('Why it was not learned the last time'),
  accepted_at: z.iso.datetime(),
});

export const queueAnswer = z.object({
  queued: z.boolean().describe('Whether feedback goes by a queue: only with a store in Redis'),
  counts: z.object({ waiting: z.int(), active: z.int(), delayed: z.int(), failed: z.int() }),
  feedback: queueEntry.array(),
});

export const queueEntryAnswer = queueEntry.extend({ job: z.unknown().describe('As it is queued') });

const whichFailed = z
  .strictObject({
    id: z.string().max(256).optional().describe('As list_feedback shows it'),
    all: z.literal(true).optional().describe('All that has failed'),
  })
  .refine(({ id, all }) => (id === undefined) !== (all === undefined), { message: 'one of id and all' });

type StateRequest = z.infer<typeof stateSchema>;

export type ExportAnswer = z.infer<typeof exportAnswer>;
export type QueueAnswer = z.infer<typeof queueAnswer>;
export type QueueEntryAnswer = z.infer<typeof queueEntryAnswer>;

export function feedbackVerbs(sources: FeedbackSources): AdminVerb[] {
  return [...stateVerbs(sources), ...queueVerbs(sources.feedbackQueue)];
}

function stateVerbs({ registry, states }: FeedbackSources): AdminVerb[] {
  const statesOf = (application: string): SelectionStates => {
    registry.requireApplication(application, 'app_name');
    const found = states?.(application);
    if (found !== undefined) return found;
    throw new ServiceError('unknown_application', `there is no application '${application}'`, 'app_name');
  };
  const what = (application: string, uid: string) =>
    uid === '' ? `The state of '${application}'` : `The state of '${application}' for '${uid}'`;
  const errors = ['unknown_application', 'storage_full', 'store_failed'] as const;
  const edit = {
    about: ({ app_name: application, uid }: StateRequest) => ({ application, context: String(uid) }),
    // What it learned is left out: it is long, and earlier versions are kept beside it.
    state: ({ app_name: application, uid }: StateRequest) => {
      const found = states?.(application);
      // Not of a context that is not read yet.
      if (found?.of(String(uid)).isKnown !== true) return undefined;
      const { policy, version, isPinned } = exportState(found, String(uid));
      return { policy, version, pinned: isPinned };
    },
  };
  return [
    verb('export_state', {
      summary: 'What an application has learned, as it is kept, and its earlier versions',
      request: stateSchema,
      answer: exportAnswer,
      errors: ['unknown_application'],
      changes: 'nothing',
      run: async ({ app_name: application, uid: context }) => {
        const uid = String(context);
        await read(statesOf(application), uid);
        const { isPinned, past, ...state } = exportState(statesOf(application), uid);
        return {
          app_name: application,
          uid,
          ...state,
          pinned: isPinned,
          past: past.map(({ version, replacedMs, state: former }) => ({
            version,
            replaced_at: new Date(replacedMs).toISOString(),
            state: former,
          })),
        };
      },
    }),
    verb('reset_state', {
      summary: 'Forget what an application has learned; earlier versions stay',
      request: stateSchema,
      errors,
      changes: edit,
      run: async ({ app_name: application, uid }) => {
        await written((done) => resetState(statesOf(application), String(uid), done));
        return `Success! ${what(application, String(uid))} is as before any feedback.`;
      },
    }),
    verb('rollback_state', {
      summary: 'Take back what an application has learned to an earlier version',
      request: stateSchema.extend({
        version: z.int().min(1).optional().describe('One that export_state lists; the last one unless given'),
      }),
      errors: [...errors, 'unknown_state_version'],
      changes: edit,
      run: async ({ app_name: application, uid, version }) => {
        await read(statesOf(application), String(uid));
        let to = 0;
        await written((done) => {
          to = rollBackState(statesOf(application), String(uid), version, done);
        });
        return `Success! ${what(application, String(uid))} is taken back to version ${to}.`;
      },
    }),
    ...([true, false] as const).map((isPinned) =>
      verb(isPinned ? 'pin_state' : 'unpin_state', {
        summary: isPinned ? 'A state learns nothing until it is unpinned' : 'A pinned state learns again',
        request: stateSchema,
        errors,
        changes: edit,
        run: async ({ app_name: application, uid }) => {
          await written((done) => pinState(statesOf(application), String(uid), isPinned, done));
          const says = isPinned ? 'is pinned: it learns nothing.' : 'learns.';
          return `Success! ${what(application, String(uid))} ${says}`;
        },
      }),
    ),
  ];
}

function queueVerbs(queue: QueueAdministration | undefined): AdminVerb[] {
  const required = (): QueueAdministration => {
    if (queue !== undefined) return queue;
    throw new ServiceError(
      'unknown_feedback',
      'this server has no queue of feedback: it learns at once, and refuses what it cannot learn',
      'id',
    );
  };
  const failed = ({ id = 'all' }: z.infer<typeof whichFailed>) => ({ feedback: id });
  return [
    verb('list_feedback', {
      summary: 'Feedback that is accepted and not learned yet, and what has failed',
      request: z.strictObject({
        states: z
          .array(z.enum(QUEUE_STATES))
          .min(1)
          .default([...QUEUE_STATES]),
        limit: z.int().min(1).max(MOST_LISTED).default(100),
      }),
      answer: queueAnswer,
      errors: ['redis_away'],
      changes: 'nothing',
      run: async ({ states, limit }) => {
        if (queue === undefined) {
          return { queued: false, counts: { waiting: 0, active: 0, delayed: 0, failed: 0 }, feedback: [] };
        }
        const [counts, entries] = [await queue.counts(), await queue.list(states, limit)];
        return { queued: true, counts, feedback: entries.map(entryJson) };
      },
    }),
    verb('show_feedback', {
      summary: 'One feedback in the queue, with all that is queued of it',
      request: z.strictObject({ id: z.string().max(256) }),
      answer: queueEntryAnswer,
      errors: ['unknown_feedback', 'redis_away'],
      changes: 'nothing',
      run: async ({ id }) => {
        const { job, ...entry } = await required().show(id);
        return { ...entryJson(entry), job };
      },
    }),
    verb('retry_feedback', {
      summary: 'Try again what has failed',
      request: whichFailed,
      errors: ['unknown_feedback', 'feedback_not_failed', 'redis_away'],
      changes: { about: failed },
      run: async ({ id }) => {
        if (id === undefined) return `Success! ${await required().retryAll()} are tried again.`;
        await required().retry(id);
        return `Success! '${id}' is tried again.`;
      },
    }),
    verb('drop_feedback', {
      summary: 'Give up what has failed: it is never learned',
      request: whichFailed,
      errors: ['unknown_feedback', 'feedback_not_failed', 'redis_away'],
      changes: { about: failed },
      run: async ({ id }) => {
        if (id === undefined) return `Success! ${await required().dropAll()} are dropped.`;
        await required().drop(id);
        return `Success! '${id}' is dropped.`;
      },
    }),
  ];
}

function entryJson(entry: Awaited<ReturnType<QueueAdministration['list']>>[number]) {
  const { id, state, application, context, attempts, reason, acceptedMs } = entry;
  return {
    id,
    state,
    app_name: application,
    uid: context,
    attempts,
    ...(reason === undefined ? {} : { reason }),
    accepted_at: new Date(acceptedMs).toISOString(),
  };
}

/** Waits until a context's state and its earlier versions are in memory, as far as they can be read now. */
export function read(states: SelectionStates | undefined, context: string): Promise<void> {
  return new Promise((resolve) => (states === undefined ? resolve() : states.whenRead(context, resolve)));
}

/** @throws ServiceError `storage_full`, `store_failed`, `unknown_state_version` (as a rejection) */
async function written(edit: (done: (outcome: StoreOutcome) => void) => void): Promise<void> {
  let outcome: StoreOutcome;
  try {
    outcome = await new Promise<StoreOutcome>((resolve) => edit(resolve));
  } catch (error) {
    if (!(error instanceof NoSuchVersionError)) throw error;
    throw new ServiceError('unknown_state_version', error.message, 'version', { cause: error });
  }
  if (!outcome.ok && outcome.reason === 'failed') throw notKept(outcome);
}
