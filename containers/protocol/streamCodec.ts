import { FRAME_KINDS, readFields, writeFields, type Frame } from './frameFields.js';
import { PROTOCOL_VERSION, type BatchItem } from './frames.js';
import { ByteReader, ByteWriter, ProtocolError } from './streamBytes.js';

/**
 * Frames as bytes on a socket, little-endian: u32 length of what follows, u8 protocol version, u8 kind, the kind's
 * fields. Texts are u32 length and UTF-8.
 */
export const MAX_FRAME_BYTES = 64 * 1024 * 1024;

/** Bytes before a frame's fields. */
const LENGTH_BYTES = 4;
const HEAD_BYTES = LENGTH_BYTES + 2;

/**
 * @param version that the other side speaks, one of those that are spoken
 * @throws ProtocolError when the frame would be longer than `MAX_FRAME_BYTES`.
 */
export function encodeFrame(frame: Frame, version = PROTOCOL_VERSION): Uint8Array {
  const writer = new ByteWriter(HEAD_BYTES + (frame.kind === 'predict' ? inputBytes(frame.items) : 0));
  writer.u32(0);
  writer.u8(version);
  writer.u8(FRAME_KINDS.indexOf(frame.kind));
  writeFields(writer, frame, version);
  const bytes = writer.finish();
  if (bytes.length - LENGTH_BYTES > MAX_FRAME_BYTES) {
    throw new ProtocolError(`a '${frame.kind}' frame of ${bytes.length} bytes is too long for a socket`);
  }
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, bytes.length - LENGTH_BYTES, true);
  return bytes;
}

function inputBytes(items: readonly BatchItem[]): number {
  return items.reduce((total, { bytes }) => total + bytes.length + 16, 64);
}

/** Puts frames together from the pieces that a socket gives. After an error nothing more can be read. */
export class FrameReader {
  private pieces: Uint8Array[] = [];
  private held = 0;
  /** Bytes without which there is nothing to do. */
  private needed = HEAD_BYTES;

  /** @param version that was agreed upon; frames of another are refused */
  constructor(
    private readonly onFrame: (frame: Frame) => void,
    private readonly version = PROTOCOL_VERSION,
  ) {}

  /** @throws ProtocolError for a length, version, kind or field that cannot be. */
  push(piece: Uint8Array): void {
    this.pieces.push(piece);
    this.held += piece.length;
    if (this.held < this.needed) return;
    const bytes = this.pieces.length === 1 ? piece : Buffer.concat(this.pieces);
    let start = 0;
    for (;;) {
      const left = bytes.length - start;
      this.needed = HEAD_BYTES;
      if (left < this.needed) break;
      this.needed = LENGTH_BYTES + frameLength(bytes, start, this.version);
      if (left < this.needed) break;
      const frame = decodeFields(bytes.subarray(start + LENGTH_BYTES, start + this.needed), this.version);
      start += this.needed;
      this.onFrame(frame);
    }
    this.pieces = start === bytes.length ? [] : [bytes.subarray(start)];
    this.held = bytes.length - start;
  }
}

/** Checks the head at once: garbage is found before its length has come. */
function frameLength(bytes: Uint8Array, start: number, spoken: number): number {
  const length = new DataView(bytes.buffer, bytes.byteOffset + start).getUint32(0, true);
  const version = bytes[start + LENGTH_BYTES];
  const kind = bytes[start + LENGTH_BYTES + 1];
  if (length < 2 || length > MAX_FRAME_BYTES) {
    throw new ProtocolError(`a frame of ${length} bytes; 2 to ${MAX_FRAME_BYTES} can be`);
  }
  if (version !== spoken) {
    throw new ProtocolError(`a frame of protocol version ${version}; this side speaks version ${spoken}`);
  }
  if (kind >= FRAME_KINDS.length) throw new ProtocolError(`a frame of kind ${kind}, which there is not`);
  return length;
}

function decodeFields(bytes: Uint8Array, version: number): Frame {
  const reader = new ByteReader(bytes);
  reader.u8();
  const frame = readFields(reader, FRAME_KINDS[reader.u8()], version);
  reader.end();
  return frame;
}
