/** The thread that analyses kernels for the process's GPU nodes (see kernelAnalyst.ts). */
import { isDeepStrictEqual } from 'node:util';
import { join } from 'node:path';
import { parentPort, type MessagePort } from 'node:worker_threads';
import {
  compileVerdicts,
  type KernelAnalysis,
  type KernelSummary,
  type VerdictCode,
} from '../../../simulator/idempotency/index.js';
import { lowerModule, parseModule } from '../../../simulator/ptx/index.js';
import { packageRoot } from '../../../simulator/files/index.js';
import { reasonOf } from '../../../simulator/text/index.js';
import { giveWay, installedSolver, proveAlone, SolverThread } from '../../proving/index.js';
import { AnalysisStore, codeIdentity, type KernelFindings } from './analysisStore.js';
import type { AnalysisReply, AnalysisRequest, AnalystConnection } from './analystMessages.js';
import { KernelProver } from './kernelProver.js';

/** What analysis is made of: the reading of PTX too. */
const ANALYSER = ['dist/simulator/idempotency', 'dist/simulator/ptx', 'dist/containers/proving'];

interface Asked {
  readonly request: AnalysisRequest;
  readonly port: MessagePort;
  readonly store: AnalysisStore | undefined;
  /** Name and version of the solver that is there for it. */
  readonly solver: string | undefined;
}

const nowNs = (): number => performance.now() * 1e6;

/** By key; what one node has had analysed serves the next. */
const known = new Map<string, KernelFindings>();
const queue: Asked[] = [];
const compiled = new WeakMap<KernelSummary, VerdictCode>();
/** By key, who is told what a solver proves. */
const proving = new Map<string, Asked[]>();
const prover = new KernelProver(new SolverThread(), nowNs);
let analyser: string | undefined;

function connect({ port, cacheDirectory, solverPackage }: AnalystConnection): void {
  let store: AnalysisStore | undefined;
  if (cacheDirectory !== undefined) {
    analyser ??= codeIdentity(ANALYSER.map((folder) => join(packageRoot(), folder)));
    store = new AnalysisStore(cacheDirectory, analyser);
  }
  const solver = installedSolver(solverPackage);
  port.on('message', (request: AnalysisRequest) => {
    queue.push({ request, port, store, solver });
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

function answer(asked: Asked): AnalysisReply {
  const { request, store, solver } = asked;
  const { key, kernel, ptx, file } = request;
  const beginNs = nowNs();
  try {
    let found = known.get(key) ?? store?.read(key);
    const isRemembered = found !== undefined;
    if (found === undefined) {
      found = proveAlone(lowerModule(parseModule(ptx, file)), kernel);
      store?.write(key, found);
    }
    known.set(key, found);
    if (found.isOpen && solver !== undefined && found.solver !== solver) prove(asked, solver);
    const isUnasked = found.isOpen && solver === undefined && found.solver === undefined;
    const analysis = withCode(key, found.summary);
    const hostNs = nowNs() - beginNs;
    return { kind: 'analysed', analysis, hostNs, isRemembered, isUnasked };
  } catch (error) {
    return { kind: 'failed', key, reason: reasonOf(error) };
  }
}

/** The thread that runs launches must not wait for code: it is compiled here, once for all nodes. */
function withCode(key: string, summary: KernelSummary): KernelAnalysis {
  let code = compiled.get(summary);
  if (code === undefined) {
    code = compileVerdicts(summary);
    compiled.set(summary, code);
  }
  return { key, summary, code };
}

function prove(asked: Asked, solver: string): void {
  const { request, store } = asked;
  const { key } = request;
  const waiting = proving.get(key);
  if (waiting !== undefined) {
    waiting.push(asked);
    return;
  }
  proving.set(key, [asked]);
  prover.prove(request, (summary, hostNs) => {
    const before = known.get(key);
    const isBroken = summary === undefined;
    // Not kept on disk where the solver broke: it may have been short of memory.
    const found = isBroken ? before && { ...before, solver } : { summary, isOpen: true, solver };
    if (found !== undefined) known.set(key, found);
    if (found !== undefined && !isBroken) store?.write(key, found);
    const isNews = !isBroken && !isDeepStrictEqual(summary, before?.summary);
    const reply: AnalysisReply = {
      kind: 'proved',
      hostNs,
      isBroken,
      ...(isNews ? { analysis: withCode(key, summary) } : {}),
    };
    for (const { port } of proving.get(key) ?? []) port.postMessage(reply);
    proving.delete(key);
  });
}

if (parentPort === null) throw new Error('kernelAnalystWorker runs as a worker thread only');
giveWay();
parentPort.on('message', connect);
