import { LAUNCH_CLASSES } from '../../simulator/scheduling/index.js';
import {
  INPUT_TYPES,
  OLDEST_PROTOCOL_VERSION,
  PRINT_STREAMS,
  PROTOCOL_VERSION,
  type BatchItem,
  type ContainerFrame,
  type FrontendFrame,
  type ItemResult,
  type KnownAnswer,
  type KnownAnswers,
  type ServiceParts,
} from './frames.js';
import type { ByteReader, ByteWriter } from './streamBytes.js';

export type Frame = FrontendFrame | ContainerFrame;

/** What a field holds, for whoever makes up frames. */
export type FieldShape =
  | 'u32'
  | 'f64'
  | 'text'
  | 'flag'
  | 'item'
  | 'parts'
  | 'result'
  | 'golden'
  | { readonly choices: readonly unknown[] }
  | { readonly optional: FieldShape }
  | { readonly list: FieldShape };

/** How a value of a frame is written, and read again. */
interface Field<T> {
  readonly shape: FieldShape;
  /** The first protocol version that has it; absent: all have. */
  readonly since?: number;
  write(this: void, writer: ByteWriter, value: T): void;
  read(this: void, reader: ByteReader): T;
}

/** In the order in which they are written. A frame that gets a field does not compile until it stands here. */
type FieldsOf<F> = { readonly [K in Exclude<keyof F, 'kind'>]-?: Field<F[K]> };

const u32: Field<number> = {
  shape: 'u32',
  write: (writer, value) => writer.u32(value),
  read: (reader) => reader.u32(),
};
const f64: Field<number> = {
  shape: 'f64',
  write: (writer, value) => writer.f64(value),
  read: (reader) => reader.f64(),
};
const text: Field<string> = {
  shape: 'text',
  write: (writer, value) => writer.text(value),
  read: (reader) => reader.text(),
};

/** Only that it is so is said. */
const flag: Field<boolean | undefined> = {
  shape: 'flag',
  write: (writer, value) => writer.u8(value === true ? 1 : 0),
  read: (reader) => (reader.choice('flag', [false, true]) ? true : undefined),
};

function optional<T>({ shape, write, read }: Field<T>): Field<T | undefined> {
  return {
    shape: { optional: shape },
    write: (writer, value) => writer.optional(value, (present) => write(writer, present)),
    read: (reader) => reader.optional(() => read(reader)),
  };
}

function oneOf<T>(what: string, choices: readonly T[]): Field<T> {
  return {
    shape: { choices },
    write: (writer, value) => writer.u8(choices.indexOf(value)),
    read: (reader) => reader.choice(what, choices),
  };
}

/** @param leastBytes of an item, as `ByteReader.list` takes it */
function listOf<T>(leastBytes: number, { shape, write, read }: Field<T>): Field<readonly T[]> {
  return {
    shape: { list: shape },
    write: (writer, values) => {
      writer.u32(values.length);
      for (const value of values) write(writer, value);
    },
    read: (reader) => reader.list(leastBytes, () => read(reader)),
  };
}

const item: Field<BatchItem> = {
  shape: 'item',
  write: (writer, { id, budgetNs, bytes }) => {
    writer.u32(id);
    writer.f64(budgetNs);
    writer.bytes(bytes);
  },
  read: (reader) => {
    const id = reader.u32();
    const budgetNs = reader.f64();
    return { id, budgetNs, bytes: reader.bytes() };
  },
};

const parts: Field<ServiceParts> = {
  shape: 'parts',
  write: (writer, { waitNs, inputNs, outputNs }) => {
    writer.f64(waitNs);
    writer.f64(inputNs);
    writer.f64(outputNs);
  },
  read: (reader) => {
    const waitNs = reader.f64();
    const inputNs = reader.f64();
    return { waitNs, inputNs, outputNs: reader.f64() };
  },
};

const FAILURE_CODES = ['invalidInput', 'modelError', 'kernelFault', 'cancelled', 'undecided'] as const;
/** What the byte of a result says: an answer, an answer with scores, or a failure's code. */
const ANSWER = 'answer';
const SCORED_ANSWER = 'scoredAnswer';
const RESULT_KINDS = [ANSWER, SCORED_ANSWER, ...FAILURE_CODES] as const;

const result: Field<ItemResult> = {
  shape: 'result',
  write: (writer, value) => {
    writer.u32(value.id);
    if (!value.ok) {
      writer.u8(RESULT_KINDS.indexOf(value.code));
      writer.text(value.message);
      return;
    }
    writer.u8(RESULT_KINDS.indexOf(value.scores === undefined ? ANSWER : SCORED_ANSWER));
    writer.text(value.output);
    if (value.scores === undefined) return;
    writer.u32(value.scores.length);
    for (const score of value.scores) writer.f32(score);
  },
  read: (reader) => {
    const id = reader.u32();
    const what = reader.choice('result', RESULT_KINDS);
    const said = reader.text();
    if (what === ANSWER) return { id, ok: true, output: said };
    if (what !== SCORED_ANSWER) return { id, ok: false, code: what, message: said };
    return { id, ok: true, output: said, scores: Float32Array.from(reader.list(4, () => reader.f32())) };
  },
};

const f64s = listOf(8, f64);
const optionalText = optional(text);
const optionalF64s = optional(f64s);

const knownAnswer: Field<KnownAnswer> = {
  shape: 'golden',
  write: (writer, { input, label, scores }) => {
    f64s.write(writer, input);
    optionalText.write(writer, label);
    optionalF64s.write(writer, scores);
  },
  read: (reader) => {
    const input = f64s.read(reader);
    const label = optionalText.read(reader);
    const scores = optionalF64s.read(reader);
    return {
      input,
      ...(label === undefined ? {} : { label }),
      ...(scores === undefined ? {} : { scores }),
    };
  },
};
const knownAnswers = listOf(6, knownAnswer);

/** What the byte of golden inputs says: there are some, or there is something wrong with them. */
const GOLDEN_KINDS = ['answers', 'problem'] as const;

const golden: Field<KnownAnswers | { readonly problem: string }> = {
  shape: 'golden',
  write: (writer, value) => {
    if ('problem' in value) {
      writer.u8(GOLDEN_KINDS.indexOf('problem'));
      writer.text(value.problem);
      return;
    }
    writer.u8(GOLDEN_KINDS.indexOf('answers'));
    writer.f64(value.tolerance);
    knownAnswers.write(writer, value.cases);
  },
  read: (reader) => {
    if (reader.choice('golden', GOLDEN_KINDS) === 'problem') return { problem: reader.text() };
    const tolerance = reader.f64();
    return { tolerance, cases: knownAnswers.read(reader) };
  },
};

/** Peers of an earlier version neither write it nor read it. */
function since<T>(version: number, field: Field<T>): Field<T> {
  return { ...field, since: version };
}

/** A kind's number is its place. */
const FRAMES: { readonly [K in Frame['kind']]: FieldsOf<Extract<Frame, { readonly kind: K }>> } = {
  hello: {
    protocolVersion: u32,
    model: text,
    version: text,
    replica: text,
    inputType: oneOf('input type', INPUT_TYPES),
    inputLength: optional(u32),
    maxBatchSize: u32,
    credits: u32,
    golden: since(2, optional(golden)),
  },
  predict: {
    batchId: f64,
    traceparent: optional(text),
    launchClass: optional(oneOf('launch class', LAUNCH_CLASSES)),
    isSuspect: flag,
    items: listOf(16, item),
  },
  cancel: { batchId: f64, itemIds: listOf(4, u32) },
  result: {
    batchId: f64,
    serviceNs: f64,
    parts: optional(parts),
    calls: optional(u32),
    results: listOf(9, result),
  },
  credit: { credits: u32 },
  printed: { text, stream: optional(oneOf('stream', PRINT_STREAMS)) },
  down: { reason: text, isOutside: since(2, flag) },
};

export const FRAME_KINDS = Object.keys(FRAMES) as Frame['kind'][];

interface NamedField {
  readonly name: string;
  readonly field: Field<unknown>;
}

/** By version and kind: a version is a list of fields, looked up once a frame. */
const FIELDS = new Map<number, ReadonlyMap<Frame['kind'], readonly NamedField[]>>();
for (let version = OLDEST_PROTOCOL_VERSION; version <= PROTOCOL_VERSION; version++) {
  FIELDS.set(version, new Map(FRAME_KINDS.map((kind) => [kind, fieldsOf(kind, version)])));
}

function fieldsOf(kind: Frame['kind'], version: number): readonly NamedField[] {
  return Object.entries<Field<unknown>>(FRAMES[kind])
    .map(([name, field]) => ({ name, field }))
    .filter(({ field }) => (field.since ?? OLDEST_PROTOCOL_VERSION) <= version);
}

/** What a kind of frame consists of, in a version of the protocol. */
export function frameShape(
  kind: Frame['kind'],
  version = PROTOCOL_VERSION,
): readonly (readonly [name: string, FieldShape])[] {
  return fieldsOf(kind, version).map(({ name, field }) => [name, field.shape]);
}

export function writeFields(writer: ByteWriter, frame: Frame, version: number): void {
  const values = frame as unknown as Readonly<Record<string, unknown>>;
  for (const { name, field } of FIELDS.get(version)?.get(frame.kind) ?? []) {
    // What is said of itself is what is spoken here.
    field.write(writer, name === 'protocolVersion' ? version : values[name]);
  }
}

/** What is absent is no property of the frame. @throws ProtocolError for a field that cannot be */
export function readFields(reader: ByteReader, kind: Frame['kind'], version: number): Frame {
  const frame: Record<string, unknown> = { kind };
  for (const { name, field } of FIELDS.get(version)?.get(kind) ?? []) {
    const value = field.read(reader);
    if (value !== undefined) frame[name] = value;
  }
  return frame as unknown as Frame;
}
