import { z } from 'zod';
import { SCHEMA_VERSION } from '../store/index.js';

export const FORMAT = 'windjammer-backup';
/** Grows by one when an older program could no longer read it. */
export const FORMAT_VERSION = 2;
export { SCHEMA_VERSION };

/** The first line. Whatever its version, a program can tell from it whether it can read the rest. */
export const headerLine = z.object({
  format: z.literal(FORMAT),
  version: z.int().min(1),
  /** Of the store's content. */
  schema: z.int().min(1),
  made_at: z.iso.datetime(),
  entries: z.int().min(0),
  bundles: z.int().min(0),
  /** Paths of models whose files are not in it. */
  not_included: z.array(z.string()).readonly(),
  /** What the server had besides, and no backup has; backups of earlier programs do not say. */
  left_out: z.object({ jobs: z.int().min(0), queued_feedback: z.int().min(0) }).optional(),
});

/** One key of the store. */
export const entryLine = z.strictObject({
  key: z.string().min(1),
  version: z.int().min(1),
  value: z.unknown(),
});

/** The same of a cold key, of which there are as many as there are when they are written: nobody counts them before. */
export const coldLine = z.strictObject({
  cold: z.string().min(1),
  version: z.int().min(1),
  value: z.unknown(),
});

/** Files of a model: their list, and then lines with their bytes. */
export const bundleLine = z.strictObject({
  bundle: z.string().regex(/^[0-9a-f]{64}$/),
  files: z.array(z.strictObject({ name: z.string(), size: z.int().min(0) })).readonly(),
});
export const pieceLine = z.strictObject({ piece: z.base64() });

/** The last line: of all bytes before it. */
export const sumLine = z.strictObject({ sha256: z.string() });

export type BackupHeader = z.infer<typeof headerLine>;
