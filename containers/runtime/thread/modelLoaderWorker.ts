/** The thread that loads models for the process's GPU nodes (see modelLoader.ts). */
import { setFlagsFromString } from 'node:v8';
import { parentPort, type MessagePort } from 'node:worker_threads';
import { PreparationsSent } from '../../../simulator/cluster/index.js';
import type { WantedCode } from '../../../simulator/executor/index.js';
import { ModelError } from '../../models/index.js';
import type { KernelModelStart } from '../nodeHost.js';
import type { LoaderConnection, LoadReply, LoadRequest } from './loaderMessages.js';
import { FUEL_PER_BLOCK } from './nodeLimits.js';
import { RehearsalNode } from './rehearsal.js';

// V8 would leave each function to the first call, in a thread that serves. (The longest launch of a fresh server's five models
// beside 200 queries a second: 11 ms of CPU time with that, 4 without.)
setFlagsFromString('--no-wasm-lazy-compilation');

/** By device profile; what one node's model has had worked out serves the next. */
const rehearsals = new Map<string, RehearsalNode>();

function rehearsalOn(gpu: string): RehearsalNode {
  let found = rehearsals.get(gpu);
  if (found === undefined) rehearsals.set(gpu, (found = new RehearsalNode(gpu, FUEL_PER_BLOCK)));
  return found;
}

function serve({ port, gpus }: LoaderConnection): void {
  const sent = new PreparationsSent();
  port.on('message', (message: LoadRequest) => {
    if (message.kind === 'load') load(port, sent, cardOf(gpus, message.request), message);
    else make(port, gpus, message.wanted);
  });
}

/** A start on a GPU that is not there is refused by the node. */
function cardOf(gpus: readonly string[], { gpu = 0 }: KernelModelStart): string {
  return gpus[gpu] ?? gpus[0];
}

function load(
  port: MessagePort,
  sent: PreparationsSent,
  gpu: string,
  { line, request, isObserved }: Extract<LoadRequest, { kind: 'load' }>,
): void {
  const reply = (message: LoadReply, transfer: ArrayBuffer[] = []): void =>
    port.postMessage(message, transfer);
  try {
    const rehearsal = rehearsalOn(gpu);
    const { model, downReason } = rehearsal.rehearse(request, isObserved);
    if (downReason !== undefined) {
      reply({ kind: 'refused', line, reason: downReason });
      return;
    }
    const buffers = new Set([...model.weights.values()].map(({ buffer }) => buffer as ArrayBuffer));
    const preparation = sent.newIn(rehearsal.preparation());
    reply({ kind: 'loaded', line, model, preparation }, [...buffers]);
  } catch (error) {
    // Whatever else is wrong here ends the thread, and nodes load by themselves.
    if (!(error instanceof ModelError)) throw error;
    reply({ kind: 'refused', line, reason: error.message });
  }
}

/** The same code runs on every card: whichever rehearsal has the kernel makes it. */
function make(port: MessagePort, gpus: readonly string[], wanted: WantedCode): void {
  for (const gpu of new Set(gpus)) {
    const kernel = rehearsalOn(gpu).codeOf(wanted);
    if (kernel === undefined) continue;
    port.postMessage({ kind: 'made', kernel } satisfies LoadReply);
    return;
  }
}

if (parentPort === null) throw new Error('modelLoaderWorker runs as a worker thread only');
parentPort.on('message', serve);
