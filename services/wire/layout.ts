import {
  INPUT_TYPES,
  type InputType,
  LAUNCH_CLASSES,
  type LaunchClass,
} from '../../containers/protocol/index.js';
import type { DefaultReason, FeedbackOutcome } from '../prediction/index.js';

/*
 * Binary frames of the WebSocket interface, as docs/reference/websocket.md lays them out. Numbers are little-endian. Every frame
 * begins with magic, version, type, flags (one byte each) and the client's id (u32).
 */
export const MAGIC = 0x57;
export const VERSION = 1;
/** What every frame begins with. */
export const HEAD_BYTES = 8;

export const FrameType = {
  predict: 1,
  feedback: 2,
  cancel: 3,
  prediction: 0x81,
  feedbackAnswer: 0x82,
  error: 0xff,
} as const;

export const MAX_ID = 0xffff_ffff;

export const Flag = {
  /** predict: an error in place of a default output. */
  strict: 1,
  /** predict: the default output, also where the application says otherwise. */
  lenient: 2,
  /** predict: two bits, a launch class by its number in `WIRE_LAUNCH_CLASSES`; none: the application's. */
  launchClass: 12,
  /** predict: features stand behind the names. */
  predictFeatures: 16,
  /** feedback: eight bytes of loss stand before the input. */
  loss: 1,
  /** feedback: an input is there, not a query id. */
  input: 2,
  /** feedback: a key of its sender stands behind the label. */
  idempotencyKey: 4,
  /** feedback: features stand behind the names. */
  feedbackFeatures: 8,
  /** feedback: nobody knows the true output, and a loss is there. */
  noLabel: 16,
  /** prediction: the output is the application's default. */
  isDefault: 1,
  /** prediction: every model's part came from the cache. */
  cached: 2,
  /** feedback answer: what was learned is on disk. */
  durable: 1,
  /** error: when to try again stands at the end. */
  retryAfter: 1,
} as const;

/** Where predict and feedback keep what; names and payload follow. */
export const Request = {
  objectiveUs: 8,
  /** Of feedback, which has no objective: bytes of the sender's key. */
  idempotencyKeyBytes: 8,
  /** Of feedback. */
  feedbackFeatureBytes: 10,
  inputType: 12,
  applicationBytes: 13,
  /** Of the model version in predict, of the query id in feedback. */
  secondNameBytes: 14,
  /** Of predict; 0: none. */
  priority: 15,
  contextBytes: 16,
  labelBytes: 18,
  /** Of predict, which has no label. */
  predictFeatureBytes: 18,
  elements: 20,
  names: 24,
} as const;

export const PredictionAnswer = {
  status: 8,
  defaultReason: 10,
  models: 11,
  queryIdBytes: 12,
  confidence: 16,
  outputBytes: 24,
  names: 28,
} as const;

export const FeedbackAnswer = { status: 8, joined: 10, bytes: 12 } as const;

export const ErrorAnswer = { status: 8, codeBytes: 10, fieldBytes: 12, messageBytes: 14, names: 16 } as const;

/** Input types by their number in a frame. */
export const WIRE_INPUT_TYPES: readonly InputType[] = INPUT_TYPES;

/** Launch classes by the number in the flags of predict; 0 is none. */
export const WIRE_LAUNCH_CLASSES: readonly (LaunchClass | undefined)[] = [undefined, ...LAUNCH_CLASSES];

/** Where that number begins among the flags. */
export const LAUNCH_CLASS_SHIFT = 2;

/** Reasons by their number in a frame; 0 is none. */
export const WIRE_DEFAULT_REASONS: readonly (DefaultReason | undefined)[] = [
  undefined,
  'no_linked_model',
  'no_replica',
  'deadline',
  'model_error',
  'overload',
  'low_confidence',
];

/** Where judged predictions came from, by number in a frame. */
export const WIRE_JOINED: readonly FeedbackOutcome['joined'][] = [
  'none',
  'query',
  'cache',
  'evaluated',
  'repeated',
  'queued',
  'pinned',
];
