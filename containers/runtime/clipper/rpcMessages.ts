import type { InputType } from '../../protocol/index.js';

/** The version of Clipper's RPC between frontends and containers that is spoken. */
export const RPC_VERSION = 3;

const MESSAGE_TYPES = { newContainer: 0, content: 1, heartbeat: 2 } as const;
const PREDICT_REQUEST = 0;

/** What a heartbeat says to a container. */
export const HEARTBEATS = { keepAlive: 0, sendMetadata: 1 } as const;
export type Heartbeat = keyof typeof HEARTBEATS;

/** In order of Clipper's numbers. */
const INPUT_TYPE_CODES: readonly InputType[] = ['bytes', 'integers', 'floats', 'doubles', 'strings'];

export type ContainerMessage =
  | { readonly kind: 'heartbeat' }
  | {
      readonly kind: 'newContainer';
      readonly model: Buffer;
      readonly version: Buffer;
      /** undefined: none that there is. */
      readonly inputType: InputType | undefined;
      /** As it came, for a message. */
      readonly inputTypeText: string;
      /** Only Clipper's library for C++ sends an input type so. */
      readonly isSurelyCpp: boolean;
      /** undefined: it said none, as containers before version 2 do. */
      readonly rpcVersion: number | undefined;
    }
  | {
      readonly kind: 'content';
      readonly messageId: number;
      /** As the header says them; undefined where it contradicts itself or what came. */
      readonly outputs: readonly Buffer[] | undefined;
      /** Why there are none. */
      readonly problem?: string;
    }
  | { readonly kind: 'malformed'; readonly problem: string };

/** What a frontend sends begins so. */
function head(type: number): Buffer[] {
  return [Buffer.alloc(0), u32(RPC_VERSION), u32(type)];
}

export function heartbeatFrames(heartbeat: Heartbeat): readonly Buffer[] {
  return [...head(MESSAGE_TYPES.heartbeat), u32(HEARTBEATS[heartbeat])];
}

/** A request for predictions: id, kind of request, length of the header, the header (type, count, bytes of each input), and a frame an input. */
export function predictFrames(
  messageId: number,
  inputType: InputType,
  inputs: readonly Uint8Array[],
): readonly Uint8Array[] {
  const header = Buffer.alloc(8 * (2 + inputs.length));
  let at = writeU64(header, INPUT_TYPE_CODES.indexOf(inputType), 0);
  at = writeU64(header, inputs.length, at);
  for (const { length } of inputs) at = writeU64(header, length, at);
  const headerLength = Buffer.alloc(8);
  writeU64(headerLength, header.length, 0);
  return [
    ...head(MESSAGE_TYPES.content),
    u32(messageId),
    u32(PREDICT_REQUEST),
    headerLength,
    header,
    ...inputs,
  ];
}

/** What a container has sent. Frames more than there should be are passed over, as Clipper does. */
export function readContainerMessage(frames: readonly Buffer[]): ContainerMessage {
  const [delimiter, type] = frames;
  if (delimiter.length > 0) return malformed('its first frame is not empty');
  if (frames.length < 2 || type.length < 4) return malformed('it has no message type');
  switch (type.readUInt32LE(0)) {
    case MESSAGE_TYPES.heartbeat:
      return { kind: 'heartbeat' };
    case MESSAGE_TYPES.newContainer:
      return readNewContainer(frames.slice(2));
    case MESSAGE_TYPES.content:
      return readContent(frames.slice(2));
    default:
      return malformed(`its message type is ${type.readUInt32LE(0)}, which there is not`);
  }
}

function readNewContainer(frames: readonly Buffer[]): ContainerMessage {
  if (frames.length < 3) return malformed('its registration lacks a name, a version or an input type');
  const [model, version, inputType] = frames;
  const rpcVersion = frames.at(3);
  if (rpcVersion !== undefined && rpcVersion.length < 4)
    return malformed('its RPC version has no four bytes');
  const inputTypeText = inputType.toString('latin1', 0, 32);
  return {
    kind: 'newContainer',
    model,
    version,
    inputType: inputTypeOf(inputTypeText),
    inputTypeText,
    isSurelyCpp: inputTypeText.length > 1,
    rpcVersion: rpcVersion?.readUInt32LE(0),
  };
}

/**
 * The number at the text's beginning: containers in C++ send as many bytes of it as their version has, so that anything may follow
 * its one digit where the version has two or more.
 */
function inputTypeOf(text: string): InputType | undefined {
  const digits = /^\s*\+?(\d{1,9})/.exec(text)?.[1];
  return digits === undefined ? undefined : INPUT_TYPE_CODES.at(Number(digits));
}

function readContent(frames: readonly Buffer[]): ContainerMessage {
  const [id] = frames;
  if (frames.length < 1 || id.length < 4) return malformed('its answer has no message id');
  const messageId = id.readUInt32LE(0);
  const problem = contentProblem(frames);
  return problem === undefined
    ? { kind: 'content', messageId, outputs: frames.slice(3) }
    : { kind: 'content', messageId, outputs: undefined, problem };
}

function contentProblem(frames: readonly Buffer[]): string | undefined {
  if (frames.length < 3) return 'its answer has no header';
  const [, headerLength, header, ...outputs] = frames;
  if (headerLength.length < 8 || headerLength.readBigUInt64LE(0) !== BigInt(header.length)) {
    return `the header of its answer has ${header.length} bytes, and not what its length says`;
  }
  if (header.length < 8) return 'the header of its answer has no count';
  const count = header.readBigUInt64LE(0);
  if (count !== BigInt(outputs.length))
    return `the header of its answer says ${count} outputs, and ${outputs.length} came`;
  if (header.length < 8 * (1 + outputs.length)) return 'the header of its answer lacks sizes of outputs';
  for (const [at, output] of outputs.entries()) {
    const said = header.readBigUInt64LE(8 * (1 + at));
    if (said !== BigInt(output.length)) {
      return `the header of its answer says ${said} bytes for output ${at}, and ${output.length} came`;
    }
  }
  return undefined;
}

function malformed(problem: string): ContainerMessage {
  return { kind: 'malformed', problem };
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function writeU64(bytes: Buffer, value: number, at: number): number {
  return bytes.writeBigUInt64LE(BigInt(value), at);
}
