import { ELEMENT_BYTES, type InputType } from '../../containers/protocol/index.js';
import { jsonText, parseExactly } from '../json/index.js';
import { decodeAnswer, encodeCancel, encodeFeedback, encodePredict, GarbageError } from '../wire/index.js';
import { RefusedError, UnexpectedAnswerError } from './clientErrors.js';
import type { ClientInput, Feedback, FeedbackResult, Prediction, PredictOptions } from './clientTypes.js';
import {
  feedbackFields,
  jsonInput,
  messageObjectiveUs,
  predictFields,
  readFeedbackResult,
  readFields,
  readPrediction,
  readRefusal,
} from './jsonBodies.js';

/** An answer by the id of its message; undefined: an error about a message without a readable id. */
export interface ReadAnswer {
  readonly id: number | undefined;
  readonly result: Prediction | FeedbackResult | RefusedError;
}

export interface MessageWriter {
  predict(id: number, application: string, input: ClientInput, options: PredictOptions): string | Buffer;
  feedback(id: number, application: string, feedback: Feedback): string | Buffer;
  cancel(id: number): string | Buffer;
}

export const JSON_MESSAGES: MessageWriter = {
  predict: (id, application, input, options) =>
    jsonText({
      type: 'predict',
      id,
      application,
      input: jsonInput(input),
      ...predictFields({ ...options, objectiveUs: messageObjectiveUs(options) }),
    }),
  feedback: (id, application, feedback) =>
    jsonText({ type: 'feedback', id, application, ...feedbackFields(feedback) }),
  cancel: (id) => JSON.stringify({ type: 'cancel', id }),
};

/** Binary frames: the type of an input is that of its array; plain arrays of numbers are doubles. */
export const BINARY_MESSAGES: MessageWriter = {
  predict: (id, application, input, options) => {
    const { version, context, strict, priority, launchClass, features } = options;
    const objectiveUs = messageObjectiveUs(options);
    const query = { version, context, objectiveUs, strict, priority, launchClass, features };
    return encodePredict({ id, application, ...typedInput(input), ...query });
  },
  feedback: (id, application, feedback) => {
    const { queryId, input, label, idempotencyKey, features, context } = feedback;
    return encodeFeedback({
      id,
      application,
      queryId,
      ...(input === undefined ? {} : typedInput(input)),
      label: label === undefined ? undefined : String(label),
      loss: binaryLoss(feedback),
      idempotencyKey,
      features,
      context,
    });
  },
  cancel: encodeCancel,
};

/** @throws RangeError */
function binaryLoss({ loss, reward, losses }: Feedback): number | undefined {
  if (losses !== undefined) {
    throw new RangeError('losses of single models go over HTTP and in JSON messages, not in binary frames');
  }
  if (loss !== undefined && reward !== undefined) throw new RangeError('give loss or reward, not both');
  return reward === undefined ? loss : 1 - reward;
}

function typedInput(input: ClientInput): { readonly inputType: InputType; readonly input: Uint8Array } {
  if (typeof input === 'string') return { inputType: 'strings', input: new TextEncoder().encode(input) };
  if (input instanceof Uint8Array) return { inputType: 'bytes', input };
  let view: Float64Array | Float32Array | Int32Array;
  if (input instanceof Float32Array || input instanceof Int32Array || input instanceof Float64Array)
    view = input;
  else view = Float64Array.from(input);
  const inputType =
    view instanceof Float64Array ? 'doubles' : view instanceof Float32Array ? 'floats' : 'integers';
  const bytes = view.length * ELEMENT_BYTES[inputType];
  return { inputType, input: new Uint8Array(view.buffer, view.byteOffset, bytes) };
}

/** @throws UnexpectedAnswerError */
export function readAnswer(data: Buffer, isBinary: boolean): ReadAnswer {
  return isBinary ? readBinary(data) : readJson(data);
}

function readBinary(data: Buffer): ReadAnswer {
  let frame: ReturnType<typeof decodeAnswer>;
  let output: unknown;
  try {
    frame = decodeAnswer(data);
    output = frame.kind === 'prediction' ? parseExactly(frame.output) : undefined;
  } catch (cause) {
    if (!(cause instanceof GarbageError || cause instanceof SyntaxError)) throw cause;
    throw new UnexpectedAnswerError(`this is no answer of Windjammer: ${cause.message}`, { cause });
  }
  const { id } = frame;
  switch (frame.kind) {
    case 'error':
      return {
        id,
        result: new RefusedError(frame.code, frame.status, frame.message, frame.field, frame.retryAfterMs),
      };
    case 'feedback':
      return { id, result: { joined: frame.joined, durable: frame.durable } };
    case 'prediction': {
      const { queryId, isDefault, defaultReason, confidence, cached, models } = frame;
      const reason = defaultReason === undefined ? {} : { defaultReason };
      return { id, result: { queryId, output, isDefault, ...reason, confidence, cached, models } };
    }
  }
}

function readJson(data: Buffer): ReadAnswer {
  let value: unknown;
  try {
    value = parseExactly(data.toString('utf8'));
  } catch (cause) {
    throw new UnexpectedAnswerError('a text message is not JSON', { cause });
  }
  const fields = readFields(value);
  const id = typeof fields.id === 'number' ? fields.id : undefined;
  if (fields.type === 'feedback') return { id, result: readFeedbackResult(fields) };
  if (fields.type === 'prediction') return { id, result: readPrediction(fields) };
  const refusal = readRefusal(fields, typeof fields.status === 'number' ? fields.status : 0);
  if (refusal !== undefined) return { id, result: refusal };
  throw new UnexpectedAnswerError(`no answer has the type ${JSON.stringify(fields.type)}`);
}
