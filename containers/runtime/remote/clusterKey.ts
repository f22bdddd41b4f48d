import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { readTextFile, START_FILE } from '../../../simulator/files/index.js';
import { reasonOf } from '../../../simulator/text/index.js';

/** Shorter keys can be guessed from one overheard proof. */
const LEAST_CHARACTERS = 32;
const BINDING_BYTES = 32;
const BINDING_LABEL = 'EXPORTER-windjammer-cluster';

/** @throws Error with what is wrong with the file */
export function readClusterKey(file: string): Buffer {
  let text: string;
  try {
    text = readTextFile(file, START_FILE).trim();
  } catch (cause) {
    throw new Error(`the cluster key ${file} cannot be read: ${reasonOf(cause)}`, { cause });
  }
  if (text.length < LEAST_CHARACTERS) {
    throw new Error(
      `the cluster key ${file} has ${text.length} characters, ${LEAST_CHARACTERS} are needed; make one with 'openssl rand -hex 32'`,
    );
  }
  return Buffer.from(text);
}

/** What both sides have said to each other before one of them proves that it has the key. */
export interface Handshake {
  readonly frontend: string;
  readonly incarnation: number;
  readonly node: string;
  readonly version: number;
  readonly frontendNonce: string;
  readonly nodeNonce: string;
}

/** Proves that one side has the key, and that this very connection is meant: of no use on any other. */
export function proofOf(key: Buffer, role: 'frontend' | 'node', said: Handshake, socket: Socket): string {
  const { frontend, incarnation, node, version, frontendNonce, nodeNonce } = said;
  // Of the TLS session: whoever sits between two sessions has two.
  const binding =
    socket instanceof TLSSocket
      ? socket.exportKeyingMaterial(BINDING_BYTES, BINDING_LABEL, Buffer.alloc(0)).toString('hex')
      : '';
  const text = JSON.stringify([
    role,
    frontend,
    incarnation,
    node,
    version,
    frontendNonce,
    nodeNonce,
    binding,
  ]);
  return createHmac('sha256', key).update(text).digest('hex');
}

export function isSameProof(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
