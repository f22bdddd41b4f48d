import { readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import type { OutgoingBundle } from '../bundles/index.js';
import type { ManagementClient } from '../client/index.js';
import type { AddModelFields } from '../management/index.js';
import { CommandError } from './commandError.js';
import type { ProgressLine } from './progressLine.js';

/** Nothing slower is waited for: 64 KiB a second, and time for the answer. */
const LEAST_BYTES_PER_MS = 64;
const ANSWER_MS = 60_000;

export interface SendingChoice {
  /** Where the files are here, and may be on the server. */
  readonly path: string;
  /** They are sent even so. */
  readonly isSent: boolean;
  /** Why they are no use elsewhere, where they are not. */
  readonly onlyHere: string | undefined;
  readonly progress: ProgressLine;
}

/**
 * Registers a version with these very files: from their path where the server has the same ones there, otherwise sent to it.
 * @throws ClientError, BundleError, CommandError (as rejections)
 */
export async function addWithFiles(
  management: ManagementClient,
  files: OutgoingBundle | undefined,
  { path, isSent, onlyHere, progress }: SendingChoice,
  fields: Omit<AddModelFields, 'model_data_path' | 'content_hash'>,
): Promise<{ readonly isSent: boolean }> {
  // A program may consist of none: what its command names is the server's own.
  if (files === undefined) {
    await addFromPath(management, path, fields);
    return { isSent: false };
  }
  const { hash, bytes } = files;
  if (!isSent) {
    try {
      await management.addModel({ ...fields, model_data_path: path, content_hash: hash });
      return { isSent: false };
    } catch (error) {
      if (!isUnknownBundle(error)) throw error;
    }
    if (onlyHere !== undefined) throw new CommandError(`the server has other files: ${onlyHere}`);
  }
  if (!(await management.hasBundle(hash))) {
    requirePlainModules(files.paths);
    progress.show(`sending ${(bytes / 2 ** 20).toFixed(1)} MiB`);
    await management.addBundle(hash, files.body(), { timeoutMs: ANSWER_MS + bytes / LEAST_BYTES_PER_MS });
  }
  progress.show(`registering ${fields.model_name} ${fields.model_version}`);
  await management.addModel({ ...fields, content_hash: hash });
  return { isSent: true };
}

/** A program that has no files here runs in a folder that the server must have. */
async function addFromPath(
  management: ManagementClient,
  path: string,
  fields: Omit<AddModelFields, 'model_data_path' | 'content_hash'>,
): Promise<void> {
  try {
    await management.addModel({ ...fields, model_data_path: path });
  } catch (error) {
    const isPath = error instanceof Error && 'field' in error && error.field === 'model_data_path';
    if (!isPath) throw error;
    throw new CommandError(
      `the server cannot use ${path} (${error.message}), and --command names no file of that folder which could be sent: ` +
        `name the program by its path from there (--command ./model), so that its files are sent, in any case with --upload; ` +
        `or give a folder that the server has, too`,
    );
  }
}

function isUnknownBundle(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'unknown_bundle';
}

/** What `.js` is, its package says, which stays here. @throws CommandError */
function requirePlainModules(paths: readonly string[]): void {
  for (const path of paths) {
    if (extname(path) !== '.js' || !isOfModulePackage(dirname(path))) continue;
    throw new CommandError(
      `${path} is an ECMAScript module because its package.json says so, which is not sent: call it .mjs`,
    );
  }
}

function isOfModulePackage(folder: string): boolean {
  let text: string | undefined;
  try {
    text = readFileSync(join(folder, 'package.json'), 'utf8');
  } catch {
    const above = dirname(folder);
    return above !== folder && isOfModulePackage(above);
  }
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null && 'type' in json && json.type === 'module';
  } catch {
    return false;
  }
}
