/** The thread that analyses kernels for the process's GPU nodes (see kernelAnalyst.ts). */
import { join } from 'node:path';
import { parentPort, type MessagePort } from 'node:worker_threads';
import { analyzeKernel, type KernelSummary } from '../../../simulator/idempotency/index.js';
import { lowerModule, parseModule } from '../../../simulator/ptx/index.js';
import { packageRoot } from '../../models/index.js';
import { AnalysisStore, codeIdentity } from './analysisStore.js';
import type { AnalysisReply, AnalysisRequest, AnalystConnection } from './analystMessages.js';

/** What analysis is made of: the reading of PTX too. */
const ANALYSER = ['dist/simulator/idempotency', 'dist/simulator/ptx'];

interface Asked {
  readonly request: AnalysisRequest;
  readonly port: MessagePort;
  readonly store: AnalysisStore | undefined;
}

/** By key; what one node has had analysed serves the next. */
const known = new Map<string, KernelSummary>();
const queue: Asked[] = [];
let analyser: string | undefined;

function connect({ port, cacheDirectory }: AnalystConnection): void {
  let store: AnalysisStore | undefined;
  if (cacheDirectory !== undefined) {
    analyser ??= codeIdentity(ANALYSER.map((folder) => join(packageRoot(), folder)));
    store = new AnalysisStore(cacheDirectory, analyser);
  }
  port.on('message', (request: AnalysisRequest) => {
    queue.push({ request, port, store });
    if (queue.length === 1) setImmediate(next);
  });
}

/** One kernel; then whoever has connected meanwhile is heard. */
function next(): void {
  const asked = queue[0];
  asked.port.postMessage(answer(asked));
  queue.shift();
  if (queue.length > 0) setImmediate(next);
}

function answer({ request, store }: Asked): AnalysisReply {
  const { key, kernel, ptx, file } = request;
  const beginNs = performance.now() * 1e6;
  try {
    let summary = known.get(key) ?? store?.read(key);
    const isRemembered = summary !== undefined;
    if (summary === undefined) {
      summary = analyzeKernel(lowerModule(parseModule(ptx, file)), kernel);
      store?.write(key, summary);
    }
    known.set(key, summary);
    const hostNs = performance.now() * 1e6 - beginNs;
    return { kind: 'analysed', analysis: { key, summary }, hostNs, isRemembered };
  } catch (error) {
    return { kind: 'failed', key, reason: error instanceof Error ? error.message : String(error) };
  }
}

if (parentPort === null) throw new Error('kernelAnalystWorker runs as a worker thread only');
parentPort.on('message', connect);
