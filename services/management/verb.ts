import type { z } from 'zod';
import type { ErrorCode } from '../errors/index.js';
import { validate } from './validation.js';

/** An answer that is JSON already, and may be large. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** A verb of `/admin/`: what it takes, what it does, and the errors that are its own. */
export interface AdminVerb {
  readonly name: string;
  readonly summary: string;
  readonly request: z.ZodType;
  /** undefined: a plain sentence, as Clipper answers. */
  readonly answer?: z.ZodType | undefined;
  readonly errors: readonly ErrorCode[];
  /** Whether what it changes is judged by what is registered, so that this must be what all frontends know. */
  readonly needsCurrent: boolean;
  /**
   * A string is answered as plain text, a `JsonText` as it is, anything else as JSON.
   * @param gone aborts when whoever asked waits no longer
   */
  run(body: unknown, gone: AbortSignal): Promise<unknown>;
}

interface VerbDescription<T> {
  readonly summary: string;
  readonly request: z.ZodType<T>;
  readonly answer?: z.ZodType;
  readonly errors?: readonly ErrorCode[];
  /** Of a change (one that fails with `store_failed`) true unless it is said. */
  readonly needsCurrent?: false;
  readonly run: (request: T, gone: AbortSignal) => unknown;
}

export function verb<T>(name: string, description: VerbDescription<T>): AdminVerb {
  return {
    name,
    summary: description.summary,
    request: description.request,
    answer: description.answer,
    errors: description.errors ?? [],
    needsCurrent: description.needsCurrent ?? description.errors?.includes('store_failed') === true,
    // A throw becomes a rejection, like those of the verbs that wait.
    run: (body, gone) =>
      Promise.resolve(body).then((value) => description.run(validate(description.request, value), gone)),
  };
}
