import { LAUNCH_CLASSES } from '../../simulator/scheduling/index.js';
import {
  INPUT_TYPES,
  PRINT_STREAMS,
  type BatchItem,
  type ContainerFrame,
  type FrontendFrame,
  type HelloFrame,
  type ItemResult,
  type ServiceParts,
} from './frames.js';
import type { ByteReader, ByteWriter } from './streamBytes.js';

export type Frame = FrontendFrame | ContainerFrame;

/** How a value of a frame is written, and read again. */
interface Field<T> {
  write(this: void, writer: ByteWriter, value: T): void;
  read(this: void, reader: ByteReader): T;
}

/** Stays in its process: a line of bytes carries none. */
type Local = keyof Pick<HelloFrame, 'golden'>;

/** In the order in which they are written. A frame that gets a field does not compile until it stands here. */
type FieldsOf<F> = { readonly [K in Exclude<keyof F, 'kind' | Local>]-?: Field<F[K]> };

const u32: Field<number> = {
  write: (writer, value) => writer.u32(value),
  read: (reader) => reader.u32(),
};
const f64: Field<number> = {
  write: (writer, value) => writer.f64(value),
  read: (reader) => reader.f64(),
};
const text: Field<string> = {
  write: (writer, value) => writer.text(value),
  read: (reader) => reader.text(),
};

/** Only that it is so is said. */
const flag: Field<boolean | undefined> = {
  write: (writer, value) => writer.u8(value === true ? 1 : 0),
  read: (reader) => (reader.choice('flag', [false, true]) ? true : undefined),
};

function optional<T>({ write, read }: Field<T>): Field<T | undefined> {
  return {
    write: (writer, value) => writer.optional(value, (present) => write(writer, present)),
    read: (reader) => reader.optional(() => read(reader)),
  };
}

function oneOf<T>(what: string, choices: readonly T[]): Field<T> {
  return {
    write: (writer, value) => writer.u8(choices.indexOf(value)),
    read: (reader) => reader.choice(what, choices),
  };
}

/** @param leastBytes of an item, as `ByteReader.list` takes it */
function listOf<T>(leastBytes: number, { write, read }: Field<T>): Field<readonly T[]> {
  return {
    write: (writer, values) => {
      writer.u32(values.length);
      for (const value of values) write(writer, value);
    },
    read: (reader) => reader.list(leastBytes, () => read(reader)),
  };
}

const item: Field<BatchItem> = {
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
  down: { reason: text },
};

export const FRAME_KINDS = Object.keys(FRAMES) as Frame['kind'][];

interface NamedField {
  readonly name: string;
  readonly field: Field<unknown>;
}

const FIELDS = new Map<Frame['kind'], readonly NamedField[]>(
  FRAME_KINDS.map((kind) => [
    kind,
    Object.entries<Field<unknown>>(FRAMES[kind]).map(([name, field]) => ({ name, field })),
  ]),
);

export function writeFields(writer: ByteWriter, frame: Frame): void {
  const values = frame as unknown as Readonly<Record<string, unknown>>;
  for (const { name, field } of FIELDS.get(frame.kind) ?? []) field.write(writer, values[name]);
}

/** What is absent is no property of the frame. @throws ProtocolError for a field that cannot be */
export function readFields(reader: ByteReader, kind: Frame['kind']): Frame {
  const frame: Record<string, unknown> = { kind };
  for (const { name, field } of FIELDS.get(kind) ?? []) {
    const value = field.read(reader);
    if (value !== undefined) frame[name] = value;
  }
  return frame as unknown as Frame;
}
