import type { z } from 'zod';
import type { ErrorCode } from '../errors/index.js';
import type { EventSubject, Happening } from '../events/index.js';
import { validate } from './validation.js';

/** An answer that is JSON already, and may be large. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** Told of what a verb has changed. */
export type Note = (happening: Happening) => void;

/**
 * An answer that comes piece by piece, for as long as it takes. The first piece comes at once, or what keeps it from coming is
 * thrown: it is there before anything is answered.
 */
export class StreamedText {
  constructor(
    readonly contentType: string,
    readonly pieces: AsyncGenerator<string, void>,
  ) {}
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
   * A string is answered as plain text, a `JsonText` as it is, a `StreamedText` as its pieces come, anything else as JSON.
   * @param gone aborts when whoever asked waits no longer
   * @param note called once, when it has changed something: not where all was so before
   */
  run(body: unknown, gone: AbortSignal, note: Note): Promise<unknown>;
}

/** What a verb changes, for the log and the events: without secrets, and without inputs. */
interface ChangeDescription<T, R> {
  readonly about: (request: T, result: R) => EventSubject;
  /** What is to change, as it is when it is asked: before and after. Throws nothing, whatever is there. */
  readonly state?: (request: T) => unknown;
  /** In place of `state` after the change. */
  readonly after?: (request: T, result: R) => unknown;
  /** True unless it is said. */
  readonly needsCurrent?: false;
}

interface VerbDescription<T, R> {
  readonly summary: string;
  readonly request: z.ZodType<T>;
  readonly answer?: z.ZodType;
  readonly errors?: readonly ErrorCode[];
  readonly changes: 'nothing' | ChangeDescription<T, R>;
  readonly run: (request: T, gone: AbortSignal) => R | Promise<R>;
}

export function verb<T, R>(name: string, description: VerbDescription<T, R>): AdminVerb {
  const { changes } = description;
  return {
    name,
    summary: description.summary,
    request: description.request,
    answer: description.answer,
    errors: description.errors ?? [],
    needsCurrent: changes !== 'nothing' && changes.needsCurrent !== false,
    run: async (body, gone, note) => {
      const request = validate(description.request, body);
      if (changes === 'nothing') return description.run(request, gone);
      const before = changes.state?.(request);
      const result = await description.run(request, gone);
      const after = changes.after?.(request, result) ?? changes.state?.(request);
      // What was so before is no change: who looks through the events is to find what made a difference.
      if (before !== undefined && JSON.stringify(before) === JSON.stringify(after)) {
        return typeof result === 'string' ? `${result} It was so before: nothing has changed.` : result;
      }
      note({ verb: name, about: changes.about(request, result), before, after });
      return result;
    },
  };
}
