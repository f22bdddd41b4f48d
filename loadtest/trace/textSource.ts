import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { Inflate, Z_SYNC_FLUSH } from 'pako';
import { LoadError } from './loadError.js';

const CHUNK_BYTES = 65_536;
/** Deflate makes at most 1,032 bytes of one: so much is held at once of what is compressed, however it was made. */
const COMPRESSED_CHUNK_BYTES = 4096;
/** Longer than any input that a server would take: an open quote must not read the whole file into memory. */
export const LONGEST_RECORD = 16 * 1024 * 1024;
/** One after the other; a packed file of a megabyte can hold a milliard. */
export const MOST_BLANK_LINES = 1_000_000;

/** The text of a file, plain or gzip, piece after piece: however long it is, no more than a piece is held. */
export class TextSource {
  /** The line that is being read, for errors. */
  line = 0;
  private readonly file: number;
  private readonly bytes: number;
  private readonly decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });
  private readonly chunk = Buffer.alloc(CHUNK_BYTES);
  private readonly unpacker: Unpacker | undefined;
  private readBytes = 0;
  private ended = false;
  private peeked: string | undefined;

  /** @throws LoadError when the file cannot be opened. */
  constructor(readonly path: string) {
    let opened: number | undefined;
    try {
      // A pipe that nobody writes would be waited for.
      opened = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const status = fstatSync(opened);
      if (status.isDirectory()) throw new Error('it is a folder');
      if (!status.isFile()) {
        throw new Error('it is no regular file, and a trace is read twice: write it to a file first');
      }
      this.file = opened;
      this.bytes = status.size;
      const magic = Buffer.alloc(2);
      const isGzip = readSync(opened, magic, 0, 2, 0) === 2 && magic.readUInt16BE() === 0x1f8b;
      this.unpacker = isGzip ? new Unpacker() : undefined;
    } catch (cause) {
      if (opened !== undefined) closeSync(opened);
      throw new LoadError(path, `cannot be read (${(cause as Error).message})`, { cause });
    }
  }

  /** What `read` will give. */
  peek(): string | undefined {
    this.peeked ??= this.read();
    return this.peeked;
  }

  /** What comes next; undefined at the end. @throws LoadError naming the line. */
  read(): string | undefined {
    const peeked = this.peeked;
    this.peeked = undefined;
    if (peeked !== undefined) return peeked;
    while (!this.ended) {
      let text: string;
      try {
        text = this.decoder.decode(this.bytesOn(), { stream: !this.ended });
      } catch (cause) {
        const why =
          cause instanceof TypeError ? 'it is not UTF-8: save it as UTF-8' : (cause as Error).message;
        throw this.problem(`cannot be read on (${why})`, cause);
      }
      if (text.includes('\0')) {
        throw this.problem(
          'this is binary and no text: a trace is CSV or JSON lines, plain or packed by gzip; unpack anything else',
        );
      }
      if (text !== '') return text;
    }
    return undefined;
  }

  /** Share of the file that was read. */
  progress(): number | undefined {
    return this.bytes > 0 ? Math.min(1, this.readBytes / this.bytes) : undefined;
  }

  problem(text: string, cause?: unknown): LoadError {
    return new LoadError(`${this.path}:${Math.max(1, this.line)}`, text, { cause });
  }

  close(): void {
    closeSync(this.file);
  }

  private bytesOn(): Uint8Array {
    const most = this.unpacker === undefined ? CHUNK_BYTES : COMPRESSED_CHUNK_BYTES;
    const count = readSync(this.file, this.chunk, 0, most, this.readBytes);
    this.readBytes += count;
    this.ended = count === 0;
    const read = this.chunk.subarray(0, count);
    if (this.unpacker === undefined) return read;
    return this.ended ? this.unpacker.end() : this.unpacker.unpack(read);
  }
}

/** Gzip, one member after the other. Node's own zlib has no way to do it piece by piece without waiting in between. */
class Unpacker {
  private inflate = this.member();
  private pieces: Uint8Array[] = [];

  unpack(bytes: Uint8Array): Uint8Array {
    this.pieces = [];
    // Zeros after the last member are padding.
    if (this.inflate.ended && bytes.some((byte) => byte !== 0)) this.inflate = this.member();
    if (!this.inflate.push(bytes, Z_SYNC_FLUSH)) {
      throw new Error(`its gzip data is damaged: ${this.inflate.msg}`);
    }
    return Buffer.concat(this.pieces);
  }

  end(): Uint8Array {
    if (!this.inflate.ended) throw new Error('its gzip data ends in the middle: copy the file again');
    return new Uint8Array(0);
  }

  private member(): Inflate {
    const inflate = new Inflate();
    inflate.onData = (piece) => this.pieces.push(piece);
    inflate.onEnd = () => undefined;
    return inflate;
  }
}
