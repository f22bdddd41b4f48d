import { ProtocolError } from '../../protocol/index.js';

/**
 * What travels on a connection between a frontend and a node, little-endian: u32 length of what follows the head, u8
 * what it is, u32 line; then that many bytes. `CONTROL` is a JSON message of its own, on line 0. `DATA` is a piece of a
 * line's stream of frames (`encodeFrame`): a long frame comes in pieces, those of other lines between them.
 */
export const CONTROL = 0;
export const DATA = 1;
export const HEAD_BYTES = 9;

/** Of a line's stream in one envelope: so long at most does one line hold up the others. */
export const PIECE_BYTES = 64 * 1024;

export function envelopeHead(type: typeof CONTROL | typeof DATA, line: number, length: number): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head.writeUInt32LE(length, 0);
  head[4] = type;
  head.writeUInt32LE(line, 5);
  return head;
}

export interface EnvelopeReceiver {
  onControl(text: string): void;
  /** Part of an envelope as soon as it is there. */
  onData(line: number, bytes: Uint8Array): void;
}

/** Takes envelopes apart as they come. After an error nothing more can be read. */
export class EnvelopeReader {
  private readonly head = Buffer.alloc(HEAD_BYTES);
  private headBytes = 0;
  /** Of the envelope that has begun, still to come. */
  private left = 0;
  private pieces: Uint8Array[] = [];

  /** @param maxControlBytes longer messages are refused */
  constructor(
    private readonly receiver: EnvelopeReceiver,
    public maxControlBytes: number,
  ) {}

  /** @throws ProtocolError for what can be no envelope */
  push(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.headBytes < HEAD_BYTES) {
        const taken = Math.min(HEAD_BYTES - this.headBytes, bytes.length - at);
        this.head.set(bytes.subarray(at, at + taken), this.headBytes);
        this.headBytes += taken;
        at += taken;
        if (this.headBytes < HEAD_BYTES) return;
        this.begin();
      }
      const taken = Math.min(this.left, bytes.length - at);
      this.left -= taken;
      this.take(bytes.subarray(at, at + taken));
      at += taken;
    }
  }

  private begin(): void {
    const length = this.head.readUInt32LE(0);
    const type = this.head[4];
    const line = this.head.readUInt32LE(5);
    if (type !== CONTROL && type !== DATA) throw new ProtocolError(`an envelope of type ${type}`);
    if (type === CONTROL && line !== 0) throw new ProtocolError(`a message on line ${line}`);
    const most = type === CONTROL ? this.maxControlBytes : PIECE_BYTES;
    if (length === 0 || length > most) {
      throw new ProtocolError(`an envelope of ${length} bytes; 1 to ${most} can be`);
    }
    this.left = length;
  }

  private take(bytes: Uint8Array): void {
    const isWhole = this.left === 0;
    if (this.head[4] === DATA) {
      if (isWhole) this.headBytes = 0;
      this.receiver.onData(this.head.readUInt32LE(5), bytes);
      return;
    }
    this.pieces.push(bytes);
    if (!isWhole) return;
    const text = Buffer.concat(this.pieces).toString('utf8');
    this.pieces = [];
    this.headBytes = 0;
    this.receiver.onControl(text);
  }
}
