import { ERROR_CATALOGUE, type ErrorCode } from '../errors/index.js';
import type { Answer, AnsweringModel, DefaultReason, FeedbackOutcome } from '../prediction/index.js';
import {
  ErrorAnswer,
  FeedbackAnswer,
  Flag,
  FrameType,
  PredictionAnswer,
  WIRE_DEFAULT_REASONS,
  WIRE_JOINED,
} from './layout.js';
import { checkHead, frameId, frameType, GarbageError, writeHead } from './requestFrames.js';

/** An error as frames and JSON messages carry it. */
export interface WireError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly field?: string | undefined;
  readonly retryAfterMs?: number;
}

/** What a client reads out of an answer. */
export type AnswerFrame =
  | {
      readonly kind: 'prediction';
      readonly id: number;
      readonly queryId: string;
      /** JSON text. */
      readonly output: string;
      readonly isDefault: boolean;
      readonly defaultReason?: DefaultReason;
      readonly confidence: number;
      readonly cached: boolean;
      readonly models: readonly AnsweringModel[];
    }
  | {
      readonly kind: 'feedback';
      readonly id: number;
      readonly joined: FeedbackOutcome['joined'];
      readonly durable: boolean;
    }
  | {
      readonly kind: 'error';
      readonly id: number;
      readonly status: number;
      readonly code: string;
      readonly message: string;
      readonly field?: string;
      readonly retryAfterMs?: number;
    };

/** Longest message of an error; the rest is cut. */
const MAX_ERROR_TEXT_BYTES = 4096;

/** @param output JSON text. @returns bytes that `writePrediction` will need. */
export function predictionFrameBytes(answer: Answer, outputBytes: number): number {
  let bytes = PredictionAnswer.names + answer.queryId.length + outputBytes;
  for (const { name, version } of answer.models) bytes += 3 + name.length + version.length;
  return bytes;
}

/** Writes the frame at `at`. @param output JSON text of `outputBytes` bytes of UTF-8. */
export function writePrediction(
  target: Buffer,
  at: number,
  id: number,
  answer: Answer,
  output: string,
  outputBytes: number,
): void {
  const { queryId, models, defaultReason } = answer;
  const flags = (answer.isDefault ? Flag.isDefault : 0) | (answer.cached ? Flag.cached : 0);
  writeHead(target, at, FrameType.prediction, flags, id);
  target.writeUInt16LE(200, at + PredictionAnswer.status);
  target[at + PredictionAnswer.defaultReason] =
    defaultReason === undefined ? 0 : WIRE_DEFAULT_REASONS.indexOf(defaultReason);
  target[at + PredictionAnswer.models] = models.length;
  target[at + PredictionAnswer.queryIdBytes] = queryId.length;
  target.fill(0, at + PredictionAnswer.queryIdBytes + 1, at + PredictionAnswer.confidence);
  target.writeDoubleLE(answer.confidence, at + PredictionAnswer.confidence);
  target.writeUInt32LE(outputBytes, at + PredictionAnswer.outputBytes);
  let next = writeAscii(target, at + PredictionAnswer.names, queryId);
  next =
    outputBytes === output.length
      ? writeAscii(target, next, output)
      : next + target.write(output, next, 'utf8');
  for (const { name, version, cached } of models) {
    target[next] = cached ? 1 : 0;
    target[next + 1] = name.length;
    target[next + 2] = version.length;
    next = writeAscii(target, next + 3, name);
    next = writeAscii(target, next, version);
  }
}

/** Shorter texts are written here: calling into the runtime costs more than they do. */
const SHORT = 24;

function writeAscii(target: Buffer, at: number, text: string): number {
  if (text.length > SHORT) return at + target.write(text, at, 'latin1');
  for (let i = 0; i < text.length; i++) target[at + i] = text.charCodeAt(i);
  return at + text.length;
}

export function encodeFeedbackAnswer(id: number, { joined, durable }: FeedbackOutcome): Buffer {
  const frame = Buffer.alloc(FeedbackAnswer.bytes);
  writeHead(frame, 0, FrameType.feedbackAnswer, durable ? Flag.durable : 0, id);
  frame.writeUInt16LE(200, FeedbackAnswer.status);
  frame[FeedbackAnswer.joined] = WIRE_JOINED.indexOf(joined);
  return frame;
}

export function encodeError(id: number, error: WireError): Buffer {
  const field = utf8Head(error.field ?? '');
  const message = utf8Head(error.message);
  const { retryAfterMs } = error;
  const names = error.code.length + field.length + message.length;
  const frame = Buffer.alloc(ErrorAnswer.names + names + (retryAfterMs === undefined ? 0 : 4));
  writeHead(frame, 0, FrameType.error, retryAfterMs === undefined ? 0 : Flag.retryAfter, id);
  frame.writeUInt16LE(ERROR_CATALOGUE[error.code].status, ErrorAnswer.status);
  frame[ErrorAnswer.codeBytes] = error.code.length;
  frame.writeUInt16LE(field.length, ErrorAnswer.fieldBytes);
  frame.writeUInt16LE(message.length, ErrorAnswer.messageBytes);
  let at: number = ErrorAnswer.names;
  at += frame.write(error.code, at, 'latin1');
  frame.set(field, at);
  frame.set(message, at + field.length);
  if (retryAfterMs !== undefined) {
    frame.writeUInt32LE(Math.min(retryAfterMs, 0xffff_ffff), ErrorAnswer.names + names);
  }
  return frame;
}

/** The first bytes of a text, whole characters only. */
function utf8Head(text: string): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_ERROR_TEXT_BYTES) return bytes;
  let end = MAX_ERROR_TEXT_BYTES;
  while ((bytes[end] & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end);
}

/** @throws GarbageError when the bytes are no answer of this protocol. */
export function decodeAnswer(frame: Buffer): AnswerFrame {
  checkHead(frame);
  try {
    switch (frameType(frame)) {
      case FrameType.prediction:
        return decodePrediction(frame);
      case FrameType.feedbackAnswer:
        return {
          kind: 'feedback',
          id: frameId(frame),
          joined: WIRE_JOINED[frame.readUInt8(FeedbackAnswer.joined)] ?? 'none',
          durable: (frame[3] & Flag.durable) !== 0,
        };
      case FrameType.error:
        return decodeError(frame);
      default:
        throw new GarbageError(`no answer has the type ${frameType(frame)}`, 1003);
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new GarbageError('an answer is shorter than its length fields say', 1002);
  }
}

/** Reads a frame from front to back. */
class Reader {
  constructor(
    private readonly frame: Buffer,
    private at: number,
  ) {}

  byte(): number {
    this.at += 1;
    return this.frame.readUInt8(this.at - 1);
  }

  uint32(): number {
    this.at += 4;
    return this.frame.readUInt32LE(this.at - 4);
  }

  text(bytes: number): string {
    const from = this.at;
    this.at += bytes;
    if (this.at > this.frame.length) throw new RangeError('beyond the end');
    return this.frame.toString('utf8', from, this.at);
  }
}

function decodePrediction(frame: Buffer): AnswerFrame {
  const reader = new Reader(frame, PredictionAnswer.names);
  const queryId = reader.text(frame.readUInt8(PredictionAnswer.queryIdBytes));
  const output = reader.text(frame.readUInt32LE(PredictionAnswer.outputBytes));
  const models: AnsweringModel[] = [];
  for (let left = frame[PredictionAnswer.models]; left > 0; left--) {
    const cached = (reader.byte() & 1) !== 0;
    const nameBytes = reader.byte();
    const versionBytes = reader.byte();
    const name = reader.text(nameBytes);
    models.push({ name, version: reader.text(versionBytes), cached });
  }
  const reason = WIRE_DEFAULT_REASONS[frame[PredictionAnswer.defaultReason]];
  return {
    kind: 'prediction',
    id: frameId(frame),
    queryId,
    output,
    isDefault: (frame[3] & Flag.isDefault) !== 0,
    ...(reason === undefined ? {} : { defaultReason: reason }),
    confidence: frame.readDoubleLE(PredictionAnswer.confidence),
    cached: (frame[3] & Flag.cached) !== 0,
    models,
  };
}

function decodeError(frame: Buffer): AnswerFrame {
  const reader = new Reader(frame, ErrorAnswer.names);
  const code = reader.text(frame.readUInt8(ErrorAnswer.codeBytes));
  const field = reader.text(frame.readUInt16LE(ErrorAnswer.fieldBytes));
  const message = reader.text(frame.readUInt16LE(ErrorAnswer.messageBytes));
  return {
    kind: 'error',
    id: frameId(frame),
    status: frame.readUInt16LE(ErrorAnswer.status),
    code,
    message,
    ...(field === '' ? {} : { field }),
    ...((frame[3] & Flag.retryAfter) === 0 ? {} : { retryAfterMs: reader.uint32() }),
  };
}
