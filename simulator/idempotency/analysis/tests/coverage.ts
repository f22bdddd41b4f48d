import type { ExecutorLaunch } from '../../../executor/index.js';
import type { JournalEntry } from '../../../executor/testing/index.js';
import { ReferenceInterpreter } from '../../../executor/index.js';
import { analyzeKernel } from '../analyzeKernel.js';
import { ReferenceEvaluator } from './referenceEvaluator.js';
import type { KernelSummary } from '../../summary.js';

const FUEL = 50_000_000;

/**
 * Runs a launch on the reference interpreter and names every access to global memory that lies outside what the summary says
 * of its instruction, at most a few. None means that the summary covers the launch.
 */
export function uncoveredAccesses(launch: ExecutorLaunch, summary?: KernelSummary): string[] {
  const { module, kernel, shape, params } = launch;
  const told = summary ?? analyzeKernel(module.ir, kernel.name);
  const [x, y, z] = shape.grid;
  const result = new ReferenceInterpreter().run(launch, { lo: 0, hi: x * y * z }, 'observed', FUEL);
  if (!told.isComplete || result.journal === undefined) return [];
  const evaluator = new ReferenceEvaluator(told, {
    args: params,
    grid: shape.grid,
    block: shape.block,
    symbols: module.symbols,
  });
  if (!evaluator.isAdmitted) return [];
  const found: string[] = [];
  for (let index = 0; index < result.journal.length && found.length < 4; index++) {
    const entry = result.journal.at(index);
    // Constant memory is read-only: no summary speaks of it.
    if (kernel.instructions[entry.instruction]?.modifiers.includes('const') === true) continue;
    for (const kind of kindsOf(entry)) {
      if (!isCovered(told, evaluator, entry, kind)) {
        const line = kernel.instructions[entry.instruction]?.line ?? 0;
        found.push(`${kernel.name}:${line} ${kind} of ${entry.bytes} bytes at ${entry.address}`);
      }
    }
  }
  return found;
}

function kindsOf({ kind }: JournalEntry): readonly ('read' | 'write')[] {
  if (kind === 'atomic') return ['read', 'write'];
  return kind === 'load' ? ['read'] : ['write'];
}

function isCovered(
  summary: KernelSummary,
  evaluator: ReferenceEvaluator,
  entry: JournalEntry,
  kind: 'read' | 'write',
): boolean {
  const [first, last] = [BigInt(entry.address), BigInt(entry.address + entry.bytes - 1)];
  return summary.accesses.some((access, index) => {
    if (access.instruction !== entry.instruction || access.kind !== kind) return false;
    const bytes = evaluator.bytesOf(index);
    if (bytes === undefined) return false;
    return (bytes.lo === null || bytes.lo <= first) && (bytes.hi === null || bytes.hi >= last);
  });
}
