import { z } from 'zod';
import { SCOPES, type AccessKeys, type KeyRecord } from '../access/index.js';
import { verb, type AdminVerb } from './verb.js';

/** Ten years, in seconds. */
const LONGEST_LIFETIME_S = 315_360_000;

const names = z.array(z.string()).min(1).max(64).optional();
const scopes = z.array(z.enum(SCOPES)).min(1).max(SCOPES.length);

export const addKeySchema = z.strictObject({
  name: z.string().min(1).max(128).describe('What the key is for, in words'),
  scopes: scopes.describe('What it may do; admin implies the others'),
  applications: names.describe('Limits predict and feedback to these applications, which need not exist yet'),
  models: names.describe('Limits predict to these models, asked by name, beside the applications'),
  lifetime_seconds: z
    .int()
    .min(1)
    .max(LONGEST_LIFETIME_S)
    .optional()
    .describe('Until it expires; for ever when left out'),
});

export const keyIdSchema = z.strictObject({ id: z.string().max(64).describe('As get_all_keys shows it') });

const keyAnswer = z.object({
  id: z.string(),
  name: z.string(),
  scopes,
  applications: names,
  models: names,
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().optional(),
});

const newKeyAnswer = keyAnswer.extend({
  key: z.string().describe('What requests show. It is answered this once and kept nowhere'),
});

export type AddKeyFields = z.input<typeof addKeySchema>;
export type KeyAnswer = z.infer<typeof keyAnswer>;
export type NewKeyAnswer = z.infer<typeof newKeyAnswer>;

/**
 * Keys of the query and the management interface.
 * @param evenLast whether the last key that may administer may go, too
 */
export function keyVerbs(keys: AccessKeys, evenLast = false): AdminVerb[] {
  const list = (): KeyAnswer[] => keys.list().map(keyJson);
  return [
    verb('add_key', {
      summary: 'Make a key; the answer is the only place where it ever stands',
      request: addKeySchema,
      answer: newKeyAnswer,
      errors: ['invalid_name', 'conflicting_fields', 'storage_full', 'store_failed'],
      changes: {
        about: (_request, { id }: NewKeyAnswer) => ({ key: id }),
        after: (_request, { key: _secret, ...shown }: NewKeyAnswer) => shown,
      },
      run: async ({ lifetime_seconds: lifetimeS, ...wanted }): Promise<NewKeyAnswer> => {
        const lifetimeMs = lifetimeS === undefined ? undefined : lifetimeS * 1000;
        const { text, record } = await keys.add({ ...wanted, lifetimeMs });
        return { ...keyJson(record), key: text };
      },
    }),
    verb('get_all_keys', {
      summary: 'Every key, without its secret',
      request: z.strictObject({}),
      answer: keyAnswer.array(),
      changes: 'nothing',
      run: list,
    }),
    verb('delete_key', {
      summary: 'Remove a key: requests with it are refused at once, what it holds open ends',
      request: keyIdSchema,
      errors: ['unknown_key', 'last_admin_key', 'storage_full', 'store_failed'],
      changes: {
        about: ({ id }) => ({ key: id }),
        state: ({ id }) => list().find((key) => key.id === id),
      },
      run: async ({ id }) => {
        await keys.remove(id, evenLast);
        return `Success! Key '${id}' is removed.`;
      },
    }),
  ];
}

function keyJson({ createdMs, expiresMs, applications, models, ...record }: KeyRecord): KeyAnswer {
  return {
    id: record.id,
    name: record.name,
    scopes: [...record.scopes],
    ...(applications === undefined ? {} : { applications: [...applications] }),
    ...(models === undefined ? {} : { models: [...models] }),
    created_at: new Date(createdMs).toISOString(),
    ...(expiresMs === undefined ? {} : { expires_at: new Date(expiresMs).toISOString() }),
  };
}
