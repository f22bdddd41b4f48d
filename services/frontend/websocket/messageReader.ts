import type { InputForm, InputType } from '../../../containers/protocol/index.js';
import { describeValue, ServiceError } from '../../errors/index.js';
import {
  checkHead,
  decodeFeedback,
  decodePredict,
  frameId,
  frameType,
  FrameType,
  MAX_ID,
} from '../../wire/index.js';
import { checkBinaryInput, checkInputType } from '../binaryInputs.js';
import { encodeInput } from '../inputs.js';
import {
  PREDICT_FIELDS,
  readPredictRequest,
  nearestDoubles,
  readUpdateRequest,
  UPDATE_FIELDS,
  type PredictRequest,
  type UpdateRequest,
} from '../requests.js';

export type MessageKind = 'predict' | 'feedback' | 'cancel';

/** A message of a client whose envelope is read and whose content is not. */
export interface Message {
  readonly id: number;
  /** undefined: an error for `id`. */
  readonly kind: MessageKind | undefined;
  readonly application: string;
  readonly traceparent: string | undefined;
  predict(): PredictRequest;
  feedback(): UpdateRequest;
  /** The input of what was read before, as bytes that the engine may keep. @returns an error in its place. */
  input(form: InputForm): Uint8Array | ServiceError;
}

/** Envelopes are read before anything else, so that every error names the message that it is about. */
export class JsonMessage implements Message {
  readonly id: number;
  readonly kind: MessageKind | undefined;
  private readonly fields: Readonly<Record<string, unknown>>;

  /**
   * @param value of the message's JSON
   * @throws ServiceError when there is no id to answer to.
   */
  constructor(value: unknown) {
    this.fields = nearestDoubles(readFields(value));
    const { id, type } = this.fields;
    if (id === undefined) throw new ServiceError('missing_field', 'id is required', 'id');
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id > MAX_ID) {
      const message = `id must be a whole number from 0 to ${MAX_ID}, ${describeValue(id)} came`;
      throw new ServiceError(typeof id === 'number' ? 'invalid_value' : 'wrong_type', message, 'id');
    }
    this.id = id;
    this.kind = type === 'predict' || type === 'feedback' || type === 'cancel' ? type : undefined;
  }

  get application(): string {
    const { application } = this.fields;
    if (application === undefined) {
      throw new ServiceError('missing_field', 'application is required', 'application');
    }
    if (typeof application === 'string') return application;
    const message = `application must be a string, ${describeValue(application)} came`;
    throw new ServiceError('wrong_type', message, 'application');
  }

  get traceparent(): string | undefined {
    const { traceparent } = this.fields;
    return typeof traceparent === 'string' ? traceparent : undefined;
  }

  predict(): PredictRequest {
    const { input, input_batch: batch, votes } = this.fields;
    if (batch !== undefined) {
      const message = 'input_batch is for HTTP: send each input as a message of its own';
      throw new ServiceError('unknown_field', message, 'input_batch');
    }
    if (votes !== undefined && votes !== false) {
      throw new ServiceError('unknown_field', 'votes are for HTTP', 'votes');
    }
    // What is read below would offer an input_batch in its place.
    if (input === undefined) throw new ServiceError('missing_field', 'input is required', 'input');
    return readPredictRequest(this.fields);
  }

  feedback(): UpdateRequest {
    return readUpdateRequest(this.fields);
  }

  input(form: InputForm): Uint8Array | ServiceError {
    return encodeInput(form, this.fields.input, 'input');
  }
}

/** Of any message; other fields are ignored. */
export const MESSAGE_FIELDS: ReadonlySet<string> = new Set([
  ...PREDICT_FIELDS,
  ...UPDATE_FIELDS,
  'type',
  'id',
  'application',
  'traceparent',
]);

function readFields(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ServiceError('wrong_type', `a message must be a JSON object, ${describeValue(value)} came`);
  }
  return value as Readonly<Record<string, unknown>>;
}

export class BinaryMessage implements Message {
  readonly id: number;
  readonly kind: MessageKind | undefined;
  readonly traceparent = undefined;
  application = '';
  private sent: InputType | undefined;
  private bytes: Uint8Array | undefined;

  /** @throws GarbageError when the bytes are no frame at all. */
  constructor(private readonly frame: Buffer) {
    checkHead(frame);
    this.id = frameId(frame);
    this.kind = KINDS.get(frameType(frame));
  }

  predict(): PredictRequest {
    const frame = decodePredict(this.frame);
    this.application = frame.application;
    this.sent = frame.inputType;
    this.bytes = frame.input;
    // The same reader as JSON has, so that the same limits hold.
    return readPredictRequest({
      input: frame.input,
      version: frame.version,
      context: frame.context === '' ? undefined : frame.context,
      latency_slo_micros: frame.objectiveUs,
      strict: frame.strict,
      priority: frame.priority,
      launch_class: frame.launchClass,
      features: frame.features,
    });
  }

  feedback(): UpdateRequest {
    const frame = decodeFeedback(this.frame);
    this.application = frame.application;
    this.sent = frame.inputType;
    this.bytes = frame.input;
    return readUpdateRequest({
      query_id: frame.queryId,
      input: frame.input,
      label: frame.label,
      loss: frame.loss,
      features: frame.features,
      idempotency_key: frame.idempotencyKey,
      context: frame.context,
    });
  }

  input(form: InputForm): Uint8Array | ServiceError {
    const { sent, bytes } = this;
    if (sent === undefined || bytes === undefined) {
      return new ServiceError('missing_field', 'input is required', 'input');
    }
    return checkInputType(form.type, sent) ?? checkBinaryInput(form, bytes, 'input') ?? bytes;
  }
}

const KINDS: ReadonlyMap<number, MessageKind> = new Map([
  [FrameType.predict, 'predict'],
  [FrameType.feedback, 'feedback'],
  [FrameType.cancel, 'cancel'],
]);
