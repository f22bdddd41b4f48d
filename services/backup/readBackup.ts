import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { Json } from '../../selection/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import type { BundleIndex } from '../bundles/index.js';
import { boundedLines } from '../json/index.js';
import { BackupError } from './backupError.js';
import {
  bundleLine,
  coldLine,
  entryLine,
  FORMAT_VERSION,
  headerLine,
  pieceLine,
  SCHEMA_VERSION,
  sumLine,
  type BackupHeader,
} from './format.js';

export type BackupPart =
  | { readonly kind: 'header'; readonly header: BackupHeader }
  | { readonly kind: 'entry'; readonly key: string; readonly version: number; readonly value: Json }
  | { readonly kind: 'bundle'; readonly hash: string; readonly index: BundleIndex }
  | { readonly kind: 'piece'; readonly bytes: Buffer };

/** Beyond it a line is none of a backup. */
const MOST_LINE_BYTES = 256 * 1024 * 1024;

/**
 * The parts of a backup as they come. That it is whole is known once all have come.
 * @throws BackupError
 */
export async function* readBackup(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<BackupPart> {
  const sum = createHash('sha256');
  let header: BackupHeader | undefined;
  let isWhole = false;
  const left = { entries: 0, bundles: 0 };
  const endless = () => damaged('it has a line without an end');
  for await (const line of boundedLines(chunks, MOST_LINE_BYTES, endless)) {
    if (isWhole) throw damaged('something follows its end');
    const value = parsed(line, header === undefined);
    if (header === undefined) {
      header = headerOf(value);
      Object.assign(left, { entries: header.entries, bundles: header.bundles });
      yield { kind: 'header', header };
    } else if (has(value, 'key') && has(value, 'value')) {
      left.entries -= 1;
      const { key, version, value: kept } = shaped(entryLine, value);
      yield { kind: 'entry', key, version, value: kept as Json };
    } else if (has(value, 'cold')) {
      const { cold, version, value: kept } = shaped(coldLine, value);
      yield { kind: 'entry', key: cold, version, value: kept as Json };
    } else if (has(value, 'bundle')) {
      left.bundles -= 1;
      const { bundle, files } = shaped(bundleLine, value);
      yield { kind: 'bundle', hash: bundle, index: { files } };
    } else if (has(value, 'piece')) {
      yield { kind: 'piece', bytes: Buffer.from(shaped(pieceLine, value).piece, 'base64') };
    } else {
      if (shaped(sumLine, value).sha256 !== sum.digest('hex')) throw damaged('its checksum is another one');
      isWhole = true;
      continue;
    }
    sum.update(line);
    sum.update('\n');
  }
  if (header === undefined)
    throw new BackupError('notABackup', 'this is no backup of Windjammer: it is empty');
  if (!isWhole) throw damaged('it ends early');
  if (left.entries !== 0 || left.bundles !== 0) throw damaged('it has other parts than its first line says');
}

function parsed(line: Buffer, isFirst: boolean): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch (cause) {
    if (isFirst) throw notABackup(cause);
    throw damaged('a line is no JSON', cause);
  }
}

function headerOf(value: unknown): BackupHeader {
  const header = headerLine.safeParse(value);
  if (!header.success) throw notABackup(header.error);
  const { version, schema } = header.data;
  if (version > FORMAT_VERSION || schema > SCHEMA_VERSION) {
    throw new BackupError(
      'newer',
      `the backup has format ${version} and schema ${schema}, this program knows up to ${FORMAT_VERSION} and ${SCHEMA_VERSION}: use the version that made it, or a later one`,
    );
  }
  return header.data;
}

function has(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name);
}

function shaped<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw damaged('a line is none that a backup has', result.error);
}

function notABackup(cause: unknown): BackupError {
  return new BackupError('notABackup', 'this is no backup of Windjammer: its first line is another one', {
    cause,
  });
}

function damaged(how: string, cause?: unknown): BackupError {
  const why = cause instanceof SyntaxError ? ` (${reasonOf(cause).slice(0, 80)})` : '';
  return new BackupError('damaged', `the backup is damaged: ${how}${why}`, { cause });
}
