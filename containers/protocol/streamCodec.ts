import {
  INPUT_TYPES,
  PRINT_STREAMS,
  PROTOCOL_VERSION,
  type BatchItem,
  type ContainerFrame,
  type FrontendFrame,
  type HelloFrame,
  type ItemResult,
} from './frames.js';
import { ByteReader, ByteWriter, ProtocolError } from './streamBytes.js';

/**
 * Frames as bytes on a socket, little-endian: u32 length of what follows, u8 protocol version, u8 kind, the kind's
 * fields. Texts are u32 length and UTF-8.
 */
export const MAX_FRAME_BYTES = 64 * 1024 * 1024;

/** Bytes before a frame's fields. */
const LENGTH_BYTES = 4;
const HEAD_BYTES = LENGTH_BYTES + 2;

const KINDS = ['hello', 'predict', 'cancel', 'result', 'credit', 'printed', 'down'] as const;
const FAILURE_CODES = ['invalidInput', 'modelError', 'kernelFault', 'cancelled', 'undecided'] as const;
/** What the byte of a result says: an answer, an answer with scores, or a failure's code. */
const ANSWER = 'answer';
const SCORED_ANSWER = 'scoredAnswer';
const RESULT_KINDS = [ANSWER, SCORED_ANSWER, ...FAILURE_CODES] as const;

type Frame = FrontendFrame | ContainerFrame;

/** @throws ProtocolError when the frame would be longer than `MAX_FRAME_BYTES`. */
export function encodeFrame(frame: Frame): Uint8Array {
  const writer = new ByteWriter(HEAD_BYTES + (frame.kind === 'predict' ? inputBytes(frame.items) : 0));
  writer.u32(0);
  writer.u8(PROTOCOL_VERSION);
  writer.u8(KINDS.indexOf(frame.kind));
  writeFields(writer, frame);
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

function writeFields(writer: ByteWriter, frame: Frame): void {
  switch (frame.kind) {
    case 'hello':
      writer.u32(frame.protocolVersion);
      writer.text(frame.model);
      writer.text(frame.version);
      writer.text(frame.replica);
      writer.u8(INPUT_TYPES.indexOf(frame.inputType));
      writer.optional(frame.inputLength, (length) => writer.u32(length));
      writer.u32(frame.maxBatchSize);
      writer.u32(frame.credits);
      return;
    case 'predict':
      writer.f64(frame.batchId);
      writer.optional(frame.traceparent, (text) => writer.text(text));
      writer.u8(frame.isSuspect === true ? 1 : 0);
      writer.u32(frame.items.length);
      for (const { id, budgetNs, bytes } of frame.items) {
        writer.u32(id);
        writer.f64(budgetNs);
        writer.bytes(bytes);
      }
      return;
    case 'cancel':
      writer.f64(frame.batchId);
      writer.u32(frame.itemIds.length);
      for (const id of frame.itemIds) writer.u32(id);
      return;
    case 'result':
      writer.f64(frame.batchId);
      writer.f64(frame.serviceNs);
      writer.optional(frame.parts, ({ waitNs, inputNs, outputNs }) => {
        writer.f64(waitNs);
        writer.f64(inputNs);
        writer.f64(outputNs);
      });
      writer.optional(frame.calls, (calls) => writer.u32(calls));
      writer.u32(frame.results.length);
      for (const result of frame.results) writeResult(writer, result);
      return;
    case 'credit':
      writer.u32(frame.credits);
      return;
    case 'printed':
      writer.text(frame.text);
      writer.optional(frame.stream, (stream) => writer.u8(PRINT_STREAMS.indexOf(stream)));
      return;
    case 'down':
      writer.text(frame.reason);
      return;
  }
}

function writeResult(writer: ByteWriter, result: ItemResult): void {
  writer.u32(result.id);
  if (!result.ok) {
    writer.u8(RESULT_KINDS.indexOf(result.code));
    writer.text(result.message);
    return;
  }
  writer.u8(RESULT_KINDS.indexOf(result.scores === undefined ? ANSWER : SCORED_ANSWER));
  writer.text(result.output);
  if (result.scores === undefined) return;
  writer.u32(result.scores.length);
  for (const score of result.scores) writer.f32(score);
}

/** Puts frames together from the pieces that a socket gives. After an error nothing more can be read. */
export class FrameReader {
  private pieces: Uint8Array[] = [];
  private held = 0;
  /** Bytes without which there is nothing to do. */
  private needed = HEAD_BYTES;

  constructor(private readonly onFrame: (frame: Frame) => void) {}

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
      this.needed = LENGTH_BYTES + frameLength(bytes, start);
      if (left < this.needed) break;
      const frame = decodeFields(bytes.subarray(start + LENGTH_BYTES, start + this.needed));
      start += this.needed;
      this.onFrame(frame);
    }
    this.pieces = start === bytes.length ? [] : [bytes.subarray(start)];
    this.held = bytes.length - start;
  }
}

/** Checks the head at once: garbage is found before its length has come. */
function frameLength(bytes: Uint8Array, start: number): number {
  const length = new DataView(bytes.buffer, bytes.byteOffset + start).getUint32(0, true);
  const version = bytes[start + LENGTH_BYTES];
  const kind = bytes[start + LENGTH_BYTES + 1];
  if (length < 2 || length > MAX_FRAME_BYTES) {
    throw new ProtocolError(`a frame of ${length} bytes; 2 to ${MAX_FRAME_BYTES} can be`);
  }
  if (version !== PROTOCOL_VERSION) {
    throw new ProtocolError(
      `a frame of protocol version ${version}; this side speaks version ${PROTOCOL_VERSION}`,
    );
  }
  if (kind >= KINDS.length) throw new ProtocolError(`a frame of kind ${kind}, which there is not`);
  return length;
}

function decodeFields(bytes: Uint8Array): Frame {
  const reader = new ByteReader(bytes);
  reader.u8();
  const frame = readFields(reader, KINDS[reader.u8()]);
  reader.end();
  return frame;
}

function readFields(reader: ByteReader, kind: Frame['kind']): Frame {
  switch (kind) {
    case 'hello':
      return readHello(reader);
    case 'predict': {
      const batchId = reader.f64();
      const traceparent = reader.optional(() => reader.text());
      const isSuspect = reader.u8() !== 0;
      const items = reader.list(16, () => {
        const id = reader.u32();
        const budgetNs = reader.f64();
        return { id, budgetNs, bytes: reader.bytes() };
      });
      return {
        kind,
        batchId,
        items,
        ...(traceparent === undefined ? {} : { traceparent }),
        ...(isSuspect ? { isSuspect } : {}),
      };
    }
    case 'cancel':
      return { kind, batchId: reader.f64(), itemIds: reader.list(4, () => reader.u32()) };
    case 'result': {
      const batchId = reader.f64();
      const serviceNs = reader.f64();
      const parts = reader.optional(() => {
        const waitNs = reader.f64();
        const inputNs = reader.f64();
        return { waitNs, inputNs, outputNs: reader.f64() };
      });
      const calls = reader.optional(() => reader.u32());
      const results = reader.list(9, () => readResult(reader));
      return {
        kind,
        batchId,
        serviceNs,
        results,
        ...(parts === undefined ? {} : { parts }),
        ...(calls === undefined ? {} : { calls }),
      };
    }
    case 'credit':
      return { kind, credits: reader.u32() };
    case 'printed': {
      const text = reader.text();
      const stream = reader.optional(() => reader.choice('stream', PRINT_STREAMS));
      return { kind, text, ...(stream === undefined ? {} : { stream }) };
    }
    case 'down':
      return { kind, reason: reader.text() };
  }
}

function readHello(reader: ByteReader): HelloFrame {
  const protocolVersion = reader.u32();
  const model = reader.text();
  const version = reader.text();
  const replica = reader.text();
  const inputType = reader.choice('input type', INPUT_TYPES);
  const inputLength = reader.optional(() => reader.u32());
  const maxBatchSize = reader.u32();
  const credits = reader.u32();
  return {
    kind: 'hello',
    protocolVersion,
    model,
    version,
    replica,
    inputType,
    ...(inputLength === undefined ? {} : { inputLength }),
    maxBatchSize,
    credits,
  };
}

function readResult(reader: ByteReader): ItemResult {
  const id = reader.u32();
  const what = reader.choice('result', RESULT_KINDS);
  const text = reader.text();
  if (what === ANSWER) return { id, ok: true, output: text };
  if (what !== SCORED_ANSWER) return { id, ok: false, code: what, message: text };
  return { id, ok: true, output: text, scores: Float32Array.from(reader.list(4, () => reader.f32())) };
}
