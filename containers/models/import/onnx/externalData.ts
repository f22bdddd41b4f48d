import { closeSync, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { isAbsolute, join, sep } from 'node:path';
import { ModelError } from '../../modelError.js';

/** Where a tensor's data lies, as the file says it. */
export interface ExternalEntry {
  readonly location: string;
  readonly offset?: string;
  readonly length?: string;
}

/** Reads the data of tensors that lie in files beside an ONNX file, and nowhere else. */
export class ExternalData {
  /** @param folder of the ONNX file; undefined: it came without one. */
  constructor(
    private readonly file: string,
    private readonly folder: string | undefined,
  ) {}

  /**
   * @param bytes that the tensor's shape and type take.
   * @throws ModelError naming the tensor and the file.
   */
  read(entry: ExternalEntry, bytes: number, field: string): Uint8Array {
    const { location } = entry;
    const fail = (code: 'importInvalid' | 'importUnsupported', problem: string): never => {
      throw new ModelError(code, this.file, field, problem);
    };
    if (location === '') fail('importInvalid', 'its external data names no file (location)');
    if (this.folder === undefined) {
      fail('importUnsupported', `its data lies in '${location}': import the file from its folder`);
    }
    const offset = wholeNumber(entry.offset ?? '0');
    const length = entry.length === undefined ? bytes : wholeNumber(entry.length);
    if (offset === undefined || length === undefined) {
      return fail(
        'importInvalid',
        `its external data begins at '${entry.offset ?? '0'}' and has '${entry.length}' bytes`,
      );
    }
    if (length !== bytes) {
      fail(
        'importInvalid',
        `${length} bytes in '${location}', its shape and type take ${bytes}; write the files again`,
      );
    }
    const opened = this.open(location, fail);
    try {
      const status = fstatSync(opened);
      if (!status.isFile()) fail('importInvalid', `'${location}' is no regular file`);
      if (offset + length > status.size) {
        fail(
          'importInvalid',
          `'${location}' has ${status.size} bytes, the tensor takes ${length} from byte ${offset}: copy the whole file beside the model`,
        );
      }
      const data = new Uint8Array(length);
      let read = 0;
      while (read < length) {
        const count = readSync(opened, data, read, length - read, offset + read);
        if (count === 0) fail('importInvalid', `'${location}' became shorter while it was read`);
        read += count;
      }
      return data;
    } finally {
      closeSync(opened);
    }
  }

  /** The file in the folder, links followed: none of them may lead out of it. */
  private open(
    location: string,
    fail: (code: 'importInvalid' | 'importUnsupported', problem: string) => never,
  ): number {
    const folder = this.folder ?? '.';
    const leaves = `its data lies in '${location}', outside the model's folder: move it there, and save the model with its name alone`;
    if (isAbsolute(location) || location.split(/[/\\]/).includes('..') || location.includes('\0')) {
      fail('importUnsupported', leaves);
    }
    let real: string;
    try {
      real = realpathSync(join(folder, location));
      if (!real.startsWith(withSeparator(realpathSync(folder)))) return fail('importUnsupported', leaves);
      return openSync(real, 'r');
    } catch (error) {
      if (error instanceof ModelError) throw error;
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      const why = isMissing ? 'which is not there' : `which cannot be read (${(error as Error).message})`;
      return fail('importInvalid', `its data lies in '${location}', ${why}: copy that file beside the model`);
    }
  }
}

function withSeparator(folder: string): string {
  return folder.endsWith(sep) ? folder : folder + sep;
}

function wholeNumber(text: string): number | undefined {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(value) ? value : undefined;
}
