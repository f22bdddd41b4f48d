import { z } from 'zod';
import { INPUT_TYPES, LAUNCH_CLASSES, ProtocolError } from '../../protocol/index.js';
import type { ContainerStart } from '../modelContainer.js';
import type { KernelModelStart } from '../nodeHost.js';
import { LINK_ERROR_CODES } from './linkError.js';

const bytes = z.number().min(0);

/** Of what runs in a process of its own. */
const process = {
  path: z.string(),
  memoryMiB: z.int().positive().optional(),
  environment: z.array(z.string()).optional(),
  limits: z
    .object({
      startMs: z.number().positive().optional(),
      batchMs: z.number().positive().optional(),
      closeMs: z.number().positive().optional(),
    })
    .optional(),
};

/** Lets what is not known here pass: a peer of the next version may say more. */
const start = z.looseObject({
  model: z.string(),
  version: z.string(),
  replica: z.string(),
  inputType: z.enum(INPUT_TYPES),
  inputLength: z.int().positive().optional(),
  contentHash: z.string().optional(),
  gpu: z.int().min(0).optional(),
  memory: z.object({ arrayBytes: bytes, moduleBytes: bytes, backingBytes: bytes }).optional(),
  container: z.discriminatedUnion('kind', [
    z.looseObject({
      kind: z.literal('kernelModel'),
      path: z.string(),
      launchClass: z.enum(LAUNCH_CLASSES).optional(),
    }),
    z.looseObject({ kind: z.literal('constant'), output: z.string() }),
    z.looseObject({ kind: z.literal('process'), ...process }),
    z.looseObject({ kind: z.literal('python'), ...process, python: z.string().min(1).optional() }),
    z.looseObject({ kind: z.literal('exec'), ...process, command: z.string().min(1) }),
  ]),
});

const version = z.int().min(0).max(255);
const versions = z.object({ oldest: version, newest: version });
const line = z.int().positive().max(0xffff_ffff);

/** The first: who dials, and what it speaks. */
const hello = z.object({
  kind: z.literal('hello'),
  versions,
  /** The same in every connection of one frontend, which counts them. */
  frontend: z.string().min(1).max(200),
  incarnation: z.int().positive(),
  /** That is to answer; any when absent. */
  node: z.string().optional(),
  nonce: z.string(),
});
const proof = z.object({ kind: z.literal('proof'), proof: z.string() });

const fromFrontend = z.discriminatedUnion('kind', [
  hello,
  proof,
  z.object({ kind: z.literal('start'), line, request: z.unknown() }),
  z.object({ kind: z.literal('stop'), line }),
  z.object({ kind: z.literal('watch'), watched: z.boolean() }),
  z.object({ kind: z.literal('record'), limit: z.number().positive() }),
  z.object({ kind: z.literal('stopRecording') }),
  z.object({ kind: z.literal('ping') }),
  /** It ends, and gives back all that it holds. */
  z.object({ kind: z.literal('bye') }),
]);

const fromNode = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('challenge'),
    version,
    node: z.string().min(1),
    nonce: z.string(),
    /** Whether a proof of the cluster's key is asked for. */
    asksKey: z.boolean(),
  }),
  /** `proof` where a key was asked for; `gpus` by their device profiles. */
  z.object({
    kind: z.literal('welcome'),
    proof: z.string().optional(),
    gpus: z.array(z.string()).readonly(),
  }),
  z.object({ kind: z.literal('refused'), code: z.enum(LINK_ERROR_CODES as [string]), message: z.string() }),
  z.object({ kind: z.literal('report'), report: z.unknown() }),
  z.object({ kind: z.literal('timeline'), text: z.string() }),
  z.object({ kind: z.literal('timelineEnd'), failure: z.string().optional() }),
  /** Nothing new is started here, and what runs ends. */
  z.object({ kind: z.literal('draining') }),
  z.object({ kind: z.literal('pong') }),
]);

export type FromFrontend = z.infer<typeof fromFrontend>;
export type FromNode = z.infer<typeof fromNode>;
export type Hello = z.infer<typeof hello>;
export type VersionRange = z.infer<typeof versions>;

/** @throws ProtocolError */
export function readFromFrontend(message: unknown): FromFrontend {
  return checked(fromFrontend, message);
}

/** @throws ProtocolError */
export function readFromNode(message: unknown): FromNode {
  return checked(fromNode, message);
}

/** What to start, and of a kernel model where. */
export type RemoteStart = ContainerStart & Pick<KernelModelStart, 'gpu' | 'memory'>;

/** What to start; or what is wrong with the request, by field. */
export function readStart(request: unknown): RemoteStart | string {
  const found = start.safeParse(request);
  if (found.success) return found.data as unknown as RemoteStart;
  return problemOf(found.error);
}

function checked<T>(schema: z.ZodType<T>, message: unknown): T {
  const found = schema.safeParse(message);
  if (found.success) return found.data;
  const kind = (message as { readonly kind?: unknown } | null)?.kind;
  throw new ProtocolError(`a message of kind '${String(kind).slice(0, 40)}': ${problemOf(found.error)}`);
}

function problemOf({ issues: [issue] }: z.ZodError): string {
  const field = issue.path.join('.');
  return field === '' ? issue.message : `${field}: ${issue.message}`;
}
