import { posix } from 'node:path';
import { z } from 'zod';
import { ContentSum } from '../../containers/content/index.js';
import { checkSize, MOST_FILES, type BundleFile, type BundleIndex } from './bundle.js';
import { BundleError } from './bundleError.js';

/*
 * A bundle as a client sends it: a line of JSON, `{"files": [{"name": …, "size": …}, …]}`, and behind it the bytes of all files.
 * Names are paths below one folder; the first file is the one that names the others: a model's manifest, or its module. Of a program,
 * `"named_from": "folder"`, they are seen from that folder, and otherwise from the folder of the first file.
 */

/** What the first line may have. */
const MOST_LINE_BYTES = 4 * 1024 * 1024;
const MOST_NAME_LENGTH = 1024;
/** Folders above the first file: a bundle is unpacked below as many. */
const MOST_FOLDERS = 15;
const NEWLINE = 10;

const UPLOAD = z.strictObject({
  files: z
    .array(z.strictObject({ name: z.string(), size: z.int().min(0) }))
    .min(1)
    .max(MOST_FILES),
  named_from: z.enum(['first', 'folder']).default('first'),
});

/** A bundle that is coming. */
export interface BundleUpload {
  /** Its files, named from the folder of the first. */
  readonly index: BundleIndex;
  /** Their bytes. Throws at the end unless they are what the hash says; then nothing of them is to be kept. */
  readonly pieces: AsyncIterable<Uint8Array>;
}

/**
 * Reads the first line of what a client sends.
 * @param hash that the whole is to have: of a content, over names from the first file's folder
 * @throws BundleError (as a rejection, also where pieces are asked for) `malformed`, `tooLarge`
 */
export async function readUpload(hash: string, body: AsyncIterable<Uint8Array>): Promise<BundleUpload> {
  const source = body[Symbol.asyncIterator]();
  const { line, rest } = await firstLine(source);
  const { files, named_from: from } = listOf(line);
  const index = { files: from === 'first' ? fromFirst(files) : files };
  checkSize('the bundle', index);
  return { index, pieces: checkedPieces(hash, index, source, rest) };
}

/** The first line of a bundle that is sent. @param from what names are seen from in its hash: the folder of the first file, or that of all */
export function uploadLine(files: readonly BundleFile[], from: 'first' | 'folder'): string {
  const list = files.map(({ name, size }) => ({ name, size }));
  return `${JSON.stringify({ files: list, ...(from === 'folder' ? { named_from: from } : {}) })}\n`;
}

async function firstLine(
  source: AsyncIterator<Uint8Array>,
): Promise<{ readonly line: string; readonly rest: Uint8Array }> {
  const parts: Uint8Array[] = [];
  for (let held = 0; ;) {
    const next = await source.next();
    if (next.done === true) throw malformed('it ends within its first line, the list of its files');
    const piece = next.value;
    const end = piece.indexOf(NEWLINE);
    if (end >= 0) {
      parts.push(piece.subarray(0, end));
      return { line: Buffer.concat(parts).toString('utf8'), rest: piece.subarray(end + 1) };
    }
    held += piece.length;
    if (held > MOST_LINE_BYTES)
      throw malformed(
        `its first line, the list of its files, has more than ${MOST_LINE_BYTES / 2 ** 20} MiB`,
      );
    // A copy: the piece belongs to whoever reads the socket.
    parts.push(Uint8Array.prototype.slice.call(piece));
  }
}

function listOf(line: string): z.infer<typeof UPLOAD> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw malformed('its first line is no JSON: the list of its files is', { cause });
  }
  const read = UPLOAD.safeParse(value);
  if (!read.success) {
    const [{ path, message }] = read.error.issues;
    throw malformed(`its first line is no list of files: ${path.join('.')} ${message}`);
  }
  checkNames(read.data.files.map(({ name }) => name));
  return read.data;
}

/** Each a path below the bundle's folder, no two the same, none a file where another has a folder. */
function checkNames(names: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
    const fault = faultOf(name);
    if (fault !== undefined)
      throw malformed(`a file is called ${JSON.stringify(name.slice(0, 80))}: ${fault}`);
    if (seen.has(name)) throw malformed(`two files are called ${JSON.stringify(name.slice(0, 80))}`);
    seen.add(name);
  }
  for (const name of names) {
    for (let at = name.indexOf('/'); at >= 0; at = name.indexOf('/', at + 1)) {
      if (seen.has(name.slice(0, at)))
        throw malformed(`${JSON.stringify(name.slice(0, at))} is a file and a folder`);
    }
  }
}

function faultOf(name: string): string | undefined {
  if (name.length === 0 || name.length > MOST_NAME_LENGTH)
    return `1 to ${MOST_NAME_LENGTH} characters are a name`;
  if (/[\x00-\x1f\x7f\\]/.test(name)) return 'control characters and backslashes are in no name';
  if (name.startsWith('/')) return 'a name begins at the folder of the bundle, without a slash';
  const parts = name.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..'))
    return "names have no empty parts, no '.' and no '..'";
  return parts.length - 1 > MOST_FOLDERS ? `at most ${MOST_FOLDERS} folders are above a file` : undefined;
}

/** The same files, named from the folder of the first. */
function fromFirst(files: readonly BundleFile[]): readonly BundleFile[] {
  const home = posix.dirname(files[0].name);
  return files.map(({ name, size }) => ({ name: posix.relative(home, name), size }));
}

async function* checkedPieces(
  hash: string,
  { files }: BundleIndex,
  source: AsyncIterator<Uint8Array>,
  first: Uint8Array,
): AsyncGenerator<Uint8Array> {
  const sum = new ContentSum();
  let rest = first;
  try {
    for (const { name, size } of files) {
      sum.file(name, size);
      for (let left = size; left > 0;) {
        if (rest.length === 0) {
          const next = await source.next();
          if (next.done === true) throw malformed(`it ends within ${name}`);
          rest = next.value;
          continue;
        }
        const part = rest.subarray(0, left);
        rest = rest.subarray(part.length);
        left -= part.length;
        sum.bytes(part);
        yield part;
      }
    }
    if (rest.length > 0 || (await source.next()).done !== true)
      throw malformed('bytes follow behind its files');
  } finally {
    await source.return?.();
  }
  const found = sum.hash();
  if (found !== hash) throw malformed(`its content is ${found}, and ${hash} was said`);
}

function malformed(reason: string, options?: ErrorOptions): BundleError {
  return new BundleError('malformed', `the bundle cannot be taken: ${reason}`, options);
}
