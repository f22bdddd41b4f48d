import { isUtf8 } from 'node:buffer';
import {
  ELEMENT_BYTES,
  type InputType,
  LAUNCH_CLASSES,
  type LaunchClass,
} from '../../containers/protocol/index.js';
import type { Features } from '../../selection/index.js';
import { ServiceError } from '../errors/index.js';
import { decodeFeatures, encodeFeatures } from './featureBlock.js';
import {
  Flag,
  FrameType,
  HEAD_BYTES,
  LAUNCH_CLASS_SHIFT,
  MAGIC,
  Request,
  VERSION,
  WIRE_INPUT_TYPES,
  WIRE_LAUNCH_CLASSES,
} from './layout.js';

export interface PredictFrame {
  readonly id: number;
  readonly application: string;
  readonly inputType: InputType;
  /** Little-endian elements of the input type; UTF-8 for strings. */
  readonly input: Uint8Array;
  /** undefined: what selection chooses. */
  readonly version?: string | undefined;
  readonly context?: string | undefined;
  /** Microseconds; undefined: the application's own. */
  readonly objectiveUs?: number | undefined;
  /** undefined: as the application says. */
  readonly strict?: boolean | undefined;
  /** 1 (most urgent) to 5. */
  readonly priority?: number | undefined;
  /** undefined: the application's. */
  readonly launchClass?: LaunchClass | undefined;
  readonly features?: Features | undefined;
}

export interface FeedbackFrame {
  readonly id: number;
  readonly application: string;
  /** undefined: a loss is there. */
  readonly label?: string | undefined;
  /** One of query id and input. */
  readonly queryId?: string | undefined;
  readonly inputType?: InputType;
  readonly input?: Uint8Array;
  readonly loss?: number | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly context?: string | undefined;
  /** With an input. */
  readonly features?: Features | undefined;
}

const STRICTNESS = Flag.strict | Flag.lenient;

const NO_BYTES = new Uint8Array(0);

/** Bytes that are no frame of this protocol at all: the connection has nothing more to say. */
export class GarbageError extends Error {
  override readonly name = 'GarbageError';

  constructor(
    message: string,
    /** Of WebSocket: 1002 or 1003. */
    readonly closeCode: 1002 | 1003,
  ) {
    super(message);
  }
}

/** @throws GarbageError when the bytes do not begin as a frame does. */
export function checkHead(frame: Buffer): void {
  if (frame.length < HEAD_BYTES) {
    throw new GarbageError(`a binary frame has at least ${HEAD_BYTES} bytes, ${frame.length} came`, 1002);
  }
  if (frame[0] !== MAGIC) throw new GarbageError('a binary frame begins with the byte 0x57', 1003);
  if (frame[1] !== VERSION) {
    throw new GarbageError(`binary frames are of version ${VERSION}, ${frame[1]} came`, 1003);
  }
}

export function frameType(frame: Buffer): number {
  return frame[2];
}

export function frameId(frame: Buffer): number {
  return frame.readUInt32LE(4);
}

/** A part of a request frame by its length field, one after the other. */
class Parts {
  private at: number = Request.names;
  readonly input: Uint8Array | undefined;

  constructor(
    private readonly frame: Buffer,
    hasLoss: boolean,
    readonly inputType: InputType,
    hasKey = false,
    /** Where the size of its features stands; undefined: it has none. */
    private readonly featureBytesAt?: number,
  ) {
    if (frame.length < Request.names) {
      throw malformed(`this frame has at least ${Request.names} bytes, ${frame.length} came`);
    }
    const elements = frame.readUInt32LE(Request.elements);
    const names =
      frame[Request.applicationBytes] +
      frame[Request.secondNameBytes] +
      frame.readUInt16LE(Request.contextBytes) +
      frame.readUInt16LE(Request.labelBytes) +
      (hasKey ? frame.readUInt16LE(Request.idempotencyKeyBytes) : 0) +
      (hasOwnFeatureBytes(featureBytesAt) ? frame.readUInt16LE(featureBytesAt) : 0);
    const inputAt = Request.names + names + (hasLoss ? 8 : 0);
    const expected = inputAt + elements * ELEMENT_BYTES[inputType];
    if (expected !== frame.length) {
      throw malformed(`by its length fields the frame has ${expected} bytes, ${frame.length} came`);
    }
    if (elements > 0) {
      // A copy: the frame is a part of what the socket read, which must not live as long as the input does.
      this.input = new Uint8Array(frame.length - inputAt);
      frame.copy(this.input, 0, inputAt);
    }
  }

  ascii(lengthAt: number): string {
    const from = this.at;
    this.at += this.frame[lengthAt];
    return this.frame.toString('latin1', from, this.at);
  }

  text(lengthAt: number, field: string): string {
    const bytes = this.frame.readUInt16LE(lengthAt);
    if (bytes === 0) return '';
    const part = this.frame.subarray(this.at, this.at + bytes);
    if (!isUtf8(part)) throw new ServiceError('not_utf8', `${field} is not valid UTF-8`, field);
    this.at += bytes;
    return part.toString('utf8');
  }

  /** @throws ServiceError `malformed_frame` */
  features(): Features | undefined {
    if (this.featureBytesAt === undefined) return undefined;
    const from = this.at;
    this.at += this.frame.readUInt16LE(this.featureBytesAt);
    return decodeFeatures(this.frame.subarray(from, this.at));
  }

  double(): number {
    const value = this.frame.readDoubleLE(this.at);
    this.at += 8;
    return value;
  }
}

/**
 * A frame whose head is checked. The input is a copy; an empty one is left to whoever checks inputs.
 * @throws ServiceError `malformed_frame`, `invalid_value`, `not_utf8`
 */
export function decodePredict(frame: Buffer): PredictFrame {
  const flags = checkFlags(frame, STRICTNESS | Flag.launchClass | Flag.predictFeatures);
  const strictness = flags & STRICTNESS;
  if (strictness === STRICTNESS) {
    throw new ServiceError('conflicting_fields', 'flags say both strict and not strict', 'flags');
  }
  const hasFeatures = (flags & Flag.predictFeatures) !== 0;
  const featuresAt = hasFeatures ? Request.predictFeatureBytes : undefined;
  const parts = new Parts(frame, false, readInputType(frame), false, featuresAt);
  if (!hasFeatures && frame.readUInt16LE(Request.labelBytes) !== 0) {
    throw new ServiceError('unknown_field', 'predict has no label', 'label');
  }
  const application = parts.ascii(Request.applicationBytes);
  const version = parts.ascii(Request.secondNameBytes);
  const objectiveUs = frame.readUInt32LE(Request.objectiveUs);
  const priority = frame[Request.priority];
  return {
    id: frameId(frame),
    application,
    inputType: parts.inputType,
    input: parts.input ?? NO_BYTES,
    version: version === '' ? undefined : version,
    context: parts.text(Request.contextBytes, 'context'),
    objectiveUs: objectiveUs === 0 ? undefined : objectiveUs,
    strict: strictness === 0 ? undefined : strictness === Flag.strict,
    priority: priority === 0 ? undefined : priority,
    launchClass: WIRE_LAUNCH_CLASSES[(flags & Flag.launchClass) >> LAUNCH_CLASS_SHIFT],
    // Behind the names, which are read by now.
    features: parts.features(),
  };
}

/**
 * A frame whose head is checked.
 * @throws ServiceError `malformed_frame`, `invalid_value`, `conflicting_fields`, `missing_field`, `not_utf8`
 */
export function decodeFeedback(frame: Buffer): FeedbackFrame {
  const flags = checkFlags(
    frame,
    Flag.loss | Flag.input | Flag.idempotencyKey | Flag.feedbackFeatures | Flag.noLabel,
  );
  const hasLoss = (flags & Flag.loss) !== 0;
  const hasKey = (flags & Flag.idempotencyKey) !== 0;
  const featuresAt = (flags & Flag.feedbackFeatures) === 0 ? undefined : Request.feedbackFeatureBytes;
  const parts = new Parts(frame, hasLoss, readInputType(frame), hasKey, featuresAt);
  const application = parts.ascii(Request.applicationBytes);
  const queryId = parts.ascii(Request.secondNameBytes);
  const context = parts.text(Request.contextBytes, 'context');
  const label = parts.text(Request.labelBytes, 'label');
  const idempotencyKey = hasKey ? parts.text(Request.idempotencyKeyBytes, 'idempotency_key') : undefined;
  const features = parts.features();
  const loss = hasLoss ? parts.double() : undefined;
  const hasInput = (flags & Flag.input) !== 0;
  if (hasInput && queryId !== '') {
    throw new ServiceError('conflicting_fields', 'give input or query_id, not both', 'query_id');
  }
  if (!hasInput && queryId === '') {
    throw new ServiceError('missing_field', 'query_id or input is required', 'query_id');
  }
  if (!hasInput && parts.input !== undefined) {
    throw malformed('the frame has elements, and its flags say that it has no input');
  }
  const isUnknown = (flags & Flag.noLabel) !== 0;
  if (isUnknown && label !== '') {
    throw new ServiceError(
      'conflicting_fields',
      'flags say that there is no label, and one is there',
      'label',
    );
  }
  return {
    id: frameId(frame),
    application,
    label: isUnknown ? undefined : label,
    ...(hasInput ? { inputType: parts.inputType, input: parts.input ?? NO_BYTES } : { queryId }),
    loss,
    idempotencyKey,
    context,
    features,
  };
}

/** Where a label's size stands in feedback, the size of features stands in predict: it is counted there. */
function hasOwnFeatureBytes(featureBytesAt: number | undefined): featureBytesAt is number {
  return featureBytesAt !== undefined && featureBytesAt !== Request.labelBytes;
}

function checkFlags(frame: Buffer, known: number): number {
  const flags = frame[3];
  if ((flags & ~known) !== 0) {
    throw new ServiceError(
      'invalid_value',
      `flags 0x${flags.toString(16)} has a bit that means nothing`,
      'flags',
    );
  }
  return flags;
}

function readInputType(frame: Buffer): InputType {
  // A frame too short for it is refused by its length.
  const number = frame.length > Request.inputType ? frame[Request.inputType] : 0;
  const type = WIRE_INPUT_TYPES[number];
  if (type !== undefined) return type;
  const names = WIRE_INPUT_TYPES.map((name, index) => `${index} ${name}`).join(', ');
  throw new ServiceError('invalid_value', `input_type must be one of ${names}, ${number} came`, 'input_type');
}

function malformed(message: string): ServiceError {
  return new ServiceError('malformed_frame', message);
}

/** @throws RangeError when a name is longer than its length field can say, or a launch class is none. */
export function encodePredict(frame: PredictFrame): Buffer {
  const strictness = frame.strict === undefined ? 0 : frame.strict ? Flag.strict : Flag.lenient;
  const block = frame.features === undefined ? undefined : encodeFeatures(frame.features);
  const flags =
    strictness |
    (classNumber(frame.launchClass) << LAUNCH_CLASS_SHIFT) |
    (block === undefined ? 0 : Flag.predictFeatures);
  const request = layOut(FrameType.predict, flags, frame, frame.version ?? '', '', undefined, '', block);
  request.writeUInt32LE(frame.objectiveUs ?? 0, Request.objectiveUs);
  if (block !== undefined) request.writeUInt16LE(block.length, Request.predictFeatureBytes);
  const { priority } = frame;
  if (priority !== undefined) {
    // In the frame 0 means none, and a part of a number would be cut off in silence.
    if (!Number.isInteger(priority) || priority < 1) {
      throw new RangeError(`priority must be a whole number from 1, not ${priority}`);
    }
    request.writeUInt8(priority, Request.priority);
  }
  return request;
}

/** @throws RangeError */
function classNumber(launchClass: LaunchClass | undefined): number {
  const number = WIRE_LAUNCH_CLASSES.indexOf(launchClass);
  if (number >= 0) return number;
  throw new RangeError(`launchClass must be one of ${LAUNCH_CLASSES.join(', ')}, not ${String(launchClass)}`);
}

/** @throws RangeError when a name is longer than its length field can say. */
export function encodeFeedback(frame: FeedbackFrame): Buffer {
  const { idempotencyKey: key } = frame;
  const flags =
    (frame.loss === undefined ? 0 : Flag.loss) |
    (frame.input === undefined ? 0 : Flag.input) |
    (key === undefined ? 0 : Flag.idempotencyKey) |
    (frame.features === undefined ? 0 : Flag.feedbackFeatures) |
    (frame.label === undefined ? Flag.noLabel : 0);
  const block = frame.features === undefined ? undefined : encodeFeatures(frame.features);
  const { queryId = '', label = '', loss } = frame;
  const request = layOut(FrameType.feedback, flags, frame, queryId, label, loss, key, block);
  if (block !== undefined) request.writeUInt16LE(block.length, Request.feedbackFeatureBytes);
  return request;
}

export function encodeCancel(id: number): Buffer {
  const frame = Buffer.allocUnsafe(HEAD_BYTES);
  writeHead(frame, 0, FrameType.cancel, 0, id);
  return frame;
}

/** The head of any frame. */
export function writeHead(target: Buffer, at: number, type: number, flags: number, id: number): void {
  target[at] = MAGIC;
  target[at + 1] = VERSION;
  target[at + 2] = type;
  target[at + 3] = flags;
  target.writeUInt32LE(id, at + 4);
}

function layOut(
  type: number,
  flags: number,
  request: {
    readonly id: number;
    readonly application: string;
    readonly context?: string | undefined;
    readonly inputType?: InputType;
    readonly input?: Uint8Array;
  },
  secondName: string,
  label: string,
  loss: number | undefined,
  key = '',
  block: Uint8Array = NO_BYTES,
): Buffer {
  const { id, application, context = '', inputType = WIRE_INPUT_TYPES[0], input = NO_BYTES } = request;
  const contextBytes = Buffer.byteLength(context);
  const labelBytes = Buffer.byteLength(label);
  const keyBytes = Buffer.byteLength(key);
  const names = application.length + secondName.length + contextBytes + labelBytes + keyBytes + block.length;
  const size = Request.names + names + (loss === undefined ? 0 : 8) + input.length;
  // Names of several kilobytes are refused by the server anyway; a length field that lied would be worse.
  if (application.length > 255)
    throw new RangeError('the name of the application has more than 255 characters');
  if (secondName.length > 255) throw new RangeError('a version or query id has more than 255 characters');
  const frame = Buffer.allocUnsafe(size);
  writeHead(frame, 0, type, flags, id);
  frame.writeUInt32LE(0, Request.objectiveUs);
  if (keyBytes > 0) frame.writeUInt16LE(keyBytes, Request.idempotencyKeyBytes);
  frame[Request.inputType] = WIRE_INPUT_TYPES.indexOf(inputType);
  frame[Request.applicationBytes] = application.length;
  frame[Request.secondNameBytes] = secondName.length;
  frame[Request.priority] = 0;
  frame.writeUInt16LE(contextBytes, Request.contextBytes);
  frame.writeUInt16LE(labelBytes, Request.labelBytes);
  frame.writeUInt32LE(input.length / ELEMENT_BYTES[inputType], Request.elements);
  let at: number = Request.names;
  at += frame.write(application, at, 'latin1');
  at += frame.write(secondName, at, 'latin1');
  at += frame.write(context, at, 'utf8');
  at += frame.write(label, at, 'utf8');
  at += frame.write(key, at, 'utf8');
  frame.set(block, at);
  at += block.length;
  if (loss !== undefined) at = frame.writeDoubleLE(loss, at);
  frame.set(input, at);
  return frame;
}
