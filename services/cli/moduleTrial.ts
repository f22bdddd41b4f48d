import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HelloFrame, InputType } from '../../containers/protocol/index.js';
import type { OwnProcessSource } from '../../containers/runtime/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import type { OutgoingBundle } from '../bundles/index.js';
import { CommandError } from './commandError.js';
import { cleanedUp } from './interruption.js';

/** A model that starts here. */
export interface ModuleTrial {
  readonly hello: HelloFrame;
  /** It starts where it lies and not from its files alone: why, and what to do where those are to be sent. */
  readonly onlyHere?: string;
}

/**
 * Starts a model from a copy of its files alone, since those are all that a server gets they are sent to; and where that fails from where
 * it lies, which is enough for a server that sees that place, too.
 * @param files undefined: it has none of its own
 * @param isSent they are sent in any case
 * @throws CommandError with why it does not start
 */
export async function tryAsSent(
  source: OwnProcessSource,
  files: OutgoingBundle | undefined,
  isSent: boolean,
  inputType: InputType | undefined,
): Promise<ModuleTrial> {
  const { tryModule } = await import('../../containers/runtime/index.js');
  let onlyHere: string | undefined;
  try {
    if (files !== undefined) {
      const trial = await tryCopy(source, files, inputType);
      if (typeof trial !== 'string') return { hello: trial };
      onlyHere = `${source.path} does not start from the files alone that are sent (${named(files)}): ${trial}; ${WAY_ON[source.kind ?? 'process']}`;
    }
    const hello = await tryModule(source, inputType);
    if (onlyHere === undefined) return { hello };
    if (!isSent) return { hello, onlyHere };
  } catch (error) {
    throw new CommandError(reasonOf(error));
  }
  throw new CommandError(onlyHere);
}

/** @returns why it does not start from there */
async function tryCopy(
  source: OwnProcessSource,
  files: OutgoingBundle,
  inputType: InputType | undefined,
): Promise<HelloFrame | string> {
  const [{ bundleCopy }, { tryModule }] = await Promise.all([
    import('../bundles/index.js'),
    import('../../containers/runtime/index.js'),
  ]);
  const folder = mkdtempSync(join(tmpdir(), 'windjammer-copy-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const done = cleanedUp(remove);
  try {
    return await tryModule(await bundleCopy(source, files, folder), inputType);
  } catch (error) {
    return reasonOf(error).replaceAll(placesIn(folder), '');
  } finally {
    remove();
    done();
  }
}

/** Where the copy lies says nothing to people. */
function placesIn(folder: string): RegExp {
  return new RegExp(`${folder.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}/files/[0-9a-f]*/(d/)*`, 'g');
}

const MOST_NAMED = 5;

function named({ paths }: OutgoingBundle): string {
  const more = paths.length - MOST_NAMED;
  return paths.slice(0, MOST_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

const WAY_ON: Readonly<Record<NonNullable<OwnProcessSource['kind']>, string>> = {
  python:
    'a module takes along what it imports from its own folder and below, and files there that its text names: put what is missing there, or install it as a package where the server runs',
  process:
    'a module takes along what it imports by relative paths, and files that its text names so: name what is missing, or install it as a package where the server runs',
  exec: 'a program takes along the files that its --command names by their paths from its folder: name what is missing there, too, or have it where the server runs',
};
