import { ZmtpError } from './zmtpError.js';

/** Flags of a frame (ZMTP 3.1, "Framing"; 2.0 has no commands). */
export const MORE = 1;
export const LONG = 2;
export const COMMAND = 4;

const SIGNATURE_BYTES = 10;
/** The signature and the first byte of the version: enough to know how the peer goes on. */
export const OPENING_BYTES = SIGNATURE_BYTES + 1;
/** What follows of a greeting of ZMTP 3: minor version, mechanism, as-server, filler. */
export const GREETING_REST_BYTES = 53;
const MECHANISM_BYTES = 20;
const MECHANISM = 'NULL';

/** Sent before anything of the peer is known: a peer of any version takes its own way from here. */
export function opening(): Buffer {
  // The eighth byte is the length of an identity to peers of ZMTP 1.
  return Buffer.from([0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3]);
}

/** Version 3.1 without security. */
export function greetingRest(): Buffer {
  const rest = Buffer.alloc(GREETING_REST_BYTES);
  rest[0] = 1;
  rest.write(MECHANISM, 1, 'latin1');
  return rest;
}

/** The peer's major version of ZMTP, 2 or 3. @throws ZmtpError */
export function openedVersion(peer: Buffer): 2 | 3 {
  const major = peer[SIGNATURE_BYTES];
  if (major === 0) throw new ZmtpError('it speaks ZMTP 1.0: libzmq 3.2 or later is needed');
  return major < 3 ? 2 : 3;
}

/** @param first byte that has come. @throws ZmtpError where nothing of ZeroMQ begins so */
export function checkFirstByte(first: number): void {
  if (first !== 0xff) throw new ZmtpError('it speaks no ZeroMQ');
}

export function checkSignature(peer: Buffer): void {
  if ((peer[SIGNATURE_BYTES - 1] & 1) !== 1)
    throw new ZmtpError('it speaks ZMTP 1.0: libzmq 3.2 or later is needed');
}

/** @throws ZmtpError where the peer asks for security, which Clipper's containers do not */
export function checkGreetingRest(rest: Buffer): void {
  const mechanism = rest.toString('latin1', 1, 1 + MECHANISM_BYTES).replace(/\0+$/, '');
  if (mechanism !== MECHANISM) {
    throw new ZmtpError(
      `it asks for the security mechanism ${JSON.stringify(mechanism)}: ${MECHANISM} is the only one here`,
    );
  }
}

/** Socket types that a ROUTER talks with, by their numbers in ZMTP 2.0. */
const PEERS: ReadonlyMap<number, string> = new Map([
  [3, 'REQ'],
  [5, 'DEALER'],
  [6, 'ROUTER'],
]);
const ROUTER_NUMBER = 6;

/** ZMTP 2.0: our socket type and an empty identity. */
export function typeAndIdentity(): Buffer {
  return Buffer.from([ROUTER_NUMBER, 0, 0]);
}

/** @throws ZmtpError */
export function checkTypeNumber(type: number): void {
  if (!PEERS.has(type)) throw wrongType(`number ${type}`);
}

/** @throws ZmtpError */
export function checkReady(properties: ReadonlyMap<string, string>): void {
  const type = properties.get('socket-type');
  if (type === undefined || ![...PEERS.values()].includes(type)) throw wrongType(JSON.stringify(type ?? ''));
}

function wrongType(which: string): ZmtpError {
  return new ZmtpError(`its socket is of type ${which}: a container's is DEALER`);
}

/** A message of several frames, in one buffer of its own. */
export function messageBytes(frames: readonly Uint8Array[]): Buffer {
  let length = 0;
  for (const frame of frames) length += headerBytes(frame.length) + frame.length;
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  for (const [index, frame] of frames.entries()) {
    at = writeHeader(bytes, at, index < frames.length - 1 ? MORE : 0, frame.length);
    bytes.set(frame, at);
    at += frame.length;
  }
  return bytes;
}

export function commandBytes(name: string, data: Uint8Array): Buffer {
  const length = 1 + name.length + data.length;
  const bytes = Buffer.allocUnsafe(headerBytes(length) + length);
  let at = writeHeader(bytes, 0, COMMAND, length);
  at = bytes.writeUInt8(name.length, at);
  at += bytes.write(name, at, 'latin1');
  bytes.set(data, at);
  return bytes;
}

export function readyCommand(): Buffer {
  const name = 'Socket-Type';
  const value = 'ROUTER';
  const data = Buffer.alloc(1 + name.length + 4 + value.length);
  let at = data.writeUInt8(name.length, 0);
  at += data.write(name, at, 'latin1');
  at = data.writeUInt32BE(value.length, at);
  data.write(value, at, 'latin1');
  return commandBytes('READY', data);
}

/** @throws ZmtpError */
export function readCommand(body: Buffer): { readonly name: string; readonly data: Buffer } {
  const length = body.length === 0 ? 0 : body[0];
  if (length === 0 || length + 1 > body.length) throw new ZmtpError('it sent a command without a name');
  return { name: body.toString('latin1', 1, 1 + length), data: body.subarray(1 + length) };
}

/** Properties of READY, by their names in small letters. @throws ZmtpError */
export function readProperties(data: Buffer): ReadonlyMap<string, string> {
  const properties = new Map<string, string>();
  let at = 0;
  while (at < data.length) {
    const nameEnd = at + 1 + data[at];
    if (nameEnd + 4 > data.length) throw new ZmtpError('it sent a READY that ends inside a property');
    const valueEnd = nameEnd + 4 + data.readUInt32BE(nameEnd);
    if (valueEnd > data.length) throw new ZmtpError('it sent a READY that ends inside a property');
    properties.set(
      data.toString('latin1', at + 1, nameEnd).toLowerCase(),
      data.toString('latin1', nameEnd + 4, valueEnd),
    );
    at = valueEnd;
  }
  return properties;
}

function headerBytes(length: number): number {
  return length > 255 ? 9 : 2;
}

function writeHeader(bytes: Buffer, at: number, flags: number, length: number): number {
  if (length <= 255) return bytes.writeUInt8(length, bytes.writeUInt8(flags, at));
  return bytes.writeBigUInt64BE(BigInt(length), bytes.writeUInt8(flags | LONG, at));
}
