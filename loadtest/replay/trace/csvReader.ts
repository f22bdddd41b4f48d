import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { ReplayError } from '../replayError.js';

const CHUNK_BYTES = 65_536;
/** Longer than any input that a server would take; an open quote must not read the whole file into memory. */
const LONGEST_RECORD = 16 * 1024 * 1024;

/** Records of a CSV file (RFC 4180, quotes and line breaks in quotes included), read as they are asked for. */
export class CsvReader {
  /** The line on which the last record began. */
  line = 0;
  private readonly file: number;
  private readonly bytes: number;
  private readonly decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });
  private readonly chunk = Buffer.alloc(CHUNK_BYTES);
  private text = '';
  private at = 0;
  private readBytes = 0;
  private linesRead = 0;
  private ended = false;

  /** @throws ReplayError when the file cannot be opened. */
  constructor(readonly path: string) {
    try {
      this.file = openSync(path, 'r');
      const status = fstatSync(this.file);
      if (status.isDirectory()) throw new Error('it is a folder');
      this.bytes = status.size;
    } catch (cause) {
      throw new ReplayError(path, `cannot be read (${(cause as Error).message})`, { cause });
    }
  }

  /** Fields of the next record that is not blank; undefined at the end. @throws ReplayError naming the line. */
  next(): string[] | undefined {
    for (;;) {
      const record = this.record();
      if (record === undefined || record.length > 1 || record[0].trim() !== '') return record;
    }
  }

  /** Share of the file that was read. */
  progress(): number | undefined {
    return this.bytes > 0 ? Math.min(1, this.readBytes / this.bytes) : undefined;
  }

  close(): void {
    closeSync(this.file);
  }

  private record(): string[] | undefined {
    const fields: string[] = [];
    let field = '';
    let quoted = false;
    let from = this.at;
    this.line = this.linesRead + 1;
    for (;;) {
      if (this.at >= this.text.length) {
        if (this.text.length - from + field.length > LONGEST_RECORD) {
          throw this.problem(`a record of more than ${LONGEST_RECORD} characters: is a quote not closed?`);
        }
        const more = this.readOn(from);
        from = 0;
        if (!more) {
          if (quoted) throw this.problem('the file ends inside quotes: close them with "');
          if (this.text === '' && field === '' && fields.length === 0) return undefined;
          fields.push(field + this.text);
          this.text = '';
          this.at = 0;
          return fields;
        }
      }
      const sign = this.text[this.at];
      if (quoted) {
        if (sign === '\n') this.linesRead += 1;
        if (sign === '"') {
          // The sign after a quote decides what it means.
          if (this.at + 1 >= this.text.length) {
            this.readOn(from);
            from = 0;
          }
          field += this.text.slice(from, this.at);
          if (this.text[this.at + 1] === '"') {
            field += '"';
            this.at += 1;
          } else {
            quoted = false;
          }
          from = this.at + 1;
        }
      } else if (sign === '"') {
        const before = field + this.text.slice(from, this.at);
        if (before.trim() !== '')
          throw this.problem('a quote inside a field: quote the whole field and double it');
        field = '';
        quoted = true;
        from = this.at + 1;
      } else if (sign === ',') {
        fields.push(field + this.text.slice(from, this.at));
        field = '';
        from = this.at + 1;
      } else if (sign === '\n') {
        this.linesRead += 1;
        fields.push((field + this.text.slice(from, this.at)).replace(/\r$/, ''));
        this.at += 1;
        return fields;
      }
      this.at += 1;
    }
  }

  /** Drops what was used up, which is all before `from`, and reads on; false at the file's end. */
  private readOn(from: number): boolean {
    this.text = this.text.slice(from);
    this.at -= from;
    const before = this.text.length;
    while (!this.ended && this.text.length === before) {
      try {
        const count = readSync(this.file, this.chunk, 0, CHUNK_BYTES, null);
        this.readBytes += count;
        this.ended = count === 0;
        this.text += this.decoder.decode(this.chunk.subarray(0, count), { stream: !this.ended });
      } catch (cause) {
        const why =
          cause instanceof TypeError ? 'it is not UTF-8: save it as UTF-8' : (cause as Error).message;
        throw this.problem(`cannot be read on (${why})`, cause);
      }
    }
    return this.text.length > before;
  }

  private problem(text: string, cause?: unknown): ReplayError {
    return new ReplayError(`${this.path}:${this.line}`, text, { cause });
  }
}
