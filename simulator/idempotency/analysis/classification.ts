import { isTrap } from '../../ptx/index.js';
import type { IrFunction } from '../../ptx/index.js';
import type { Cause, KernelClass, SummaryReason } from '../summary.js';
import { callTraps } from './execution/blockExecutor.js';
import type { Findings, FoundAccess, FoundHazard } from './execution/findings.js';
import { isTainted } from './execution/memoryTransfer.js';
import type { Path } from './execution/path.js';
import type { KernelContext } from './transfer/operands.js';

export interface Classification {
  readonly class: KernelClass;
  readonly reason: SummaryReason;
}

const causes: Readonly<Record<FoundHazard['what'], Cause>> = {
  atomic: 'SO',
  sideEffect: 'IF',
  indirectCall: 'IF',
  recursion: 'IF',
};

/** The class of a kernel, as far as the text alone decides it. */
export function classify(context: KernelContext, findings: Findings): Classification {
  const reads = findings.accesses.filter((access) => access.kind === 'read');
  const writes = findings.accesses.filter((access) => access.kind === 'write');
  return (
    ofHazards(findings) ??
    ofNondeterminism(writes) ??
    ofOneSide(findings, reads, writes) ??
    ofSameAddress(context, reads, writes) ??
    ofUnknownAddresses(reads, writes) ?? {
      class: 'conditional',
      reason: { text: 'whether reads and writes meet depends on the arguments', lines: [] },
    }
  );
}

/** An analysis that gave up: over calls that nobody can follow, or over the paths. */
export function failure(kernel: IrFunction, text: string): SummaryReason {
  const calls = kernel.instructions.filter(({ opcode, modifiers }) => {
    return isTrap(opcode) && callTraps[modifiers[0] ?? ''] !== undefined;
  });
  const call = callTraps[calls[0]?.modifiers[0] ?? ''];
  if (call === undefined) return { cause: 'PE', text, lines: [kernel.line] };
  return {
    cause: 'IF',
    text: call.text,
    lines: [...new Set(calls.map(({ line }) => line))].sort((a, b) => a - b),
  };
}

function refused(cause: Cause, text: string, lines: readonly number[]): Classification {
  const ascending = [...new Set(lines)].sort((a, b) => a - b);
  return { class: 'nonIdempotent', reason: { cause, text, lines: ascending } };
}

function ofHazards({ hazards }: Findings): Classification | undefined {
  const order: readonly FoundHazard['what'][] = ['recursion', 'indirectCall', 'atomic', 'sideEffect'];
  for (const what of order) {
    const found = hazards.filter((hazard) => hazard.what === what);
    const [first] = found;
    if (first !== undefined)
      return refused(
        causes[what],
        first.text,
        found.map((hazard) => hazard.line),
      );
  }
  return undefined;
}

function ofNondeterminism(writes: readonly FoundAccess[]): Classification | undefined {
  const address = writes.filter((write) => write.address.tainted);
  if (address.length > 0) {
    const text = 'where it stores depends on a value that two runs may see differently';
    return refused(
      'NA',
      text,
      address.map((write) => write.line),
    );
  }
  const condition = writes.filter((write) => isTainted(write.path));
  if (condition.length === 0) return undefined;
  const text = 'whether it stores depends on a value that two runs may see differently';
  return refused(
    'NC',
    text,
    condition.map((write) => write.line),
  );
}

/** Whether the places of a kernel's stores may differ between two runs of a launch. */
export function isNondeterministic({ accesses }: Findings): boolean {
  return ofNondeterminism(accesses.filter((access) => access.kind === 'write')) !== undefined;
}

function ofOneSide(
  { conditions }: Findings,
  reads: readonly FoundAccess[],
  writes: readonly FoundAccess[],
): Classification | undefined {
  if ((reads.length > 0 && writes.length > 0) || conditions.length > 0) return undefined;
  const what = writes.length === 0 ? 'writes no global memory' : 'reads no global memory';
  return { class: 'idempotent', reason: { text: `the kernel ${what}`, lines: [] } };
}

/** The same symbolic address read and written, wherever the arguments let the kernel come that far. */
function ofSameAddress(
  context: KernelContext,
  reads: readonly FoundAccess[],
  writes: readonly FoundAccess[],
): Classification | undefined {
  for (const write of writes) {
    for (const read of reads) {
      const distance = context.arithmetic.subtract(read.address, write.address);
      if (distance.op !== 'constant') continue;
      if (distance.value >= write.bytes || -distance.value >= read.bytes) continue;
      if (isConditional(read) || isConditional(write)) continue;
      return isWrittenFirst(read, write)
        ? refused('MO', 'it writes an address before it reads it', [read.line, write.line])
        : refused('SO', 'it reads and writes the same address', [read.line, write.line]);
    }
  }
  return undefined;
}

/** Whether there are launches in which the access does not happen: then the launch decides. */
function isConditional({ path }: FoundAccess): boolean {
  return path.since().some((condition) => condition.op !== 'constant');
}

/** Whether a thread that reads there has been at the write before. */
function isWrittenFirst(read: FoundAccess, write: FoundAccess): boolean {
  return write.instruction < read.instruction && extendsPath(read.path, write.path);
}

/** Reads of what the thread itself has written. */
export function readsOfOwn({ accesses }: Findings): ReadonlySet<FoundAccess> {
  const writes = accesses.filter((access) => access.kind === 'write');
  const isOwn = (read: FoundAccess): boolean =>
    writes.some(
      (write) => write.address === read.address && write.bytes >= read.bytes && isWrittenFirst(read, write),
    );
  return new Set(accesses.filter((access) => access.kind === 'read' && isOwn(access)));
}

function extendsPath(path: Path, above: Path): boolean {
  for (let step: Path | undefined = path; step !== undefined; step = step.parent)
    if (step === above) return true;
  return false;
}

/** An address that may be anything, under no condition that a launch can check. */
function ofUnknownAddresses(
  reads: readonly FoundAccess[],
  writes: readonly FoundAccess[],
): Classification | undefined {
  for (const access of [...writes, ...reads]) {
    const { address, path } = access;
    if (address.op !== 'unknown' || address.source === undefined || Number.isFinite(address.hi)) continue;
    if (path.since().some((condition) => condition.op !== 'constant')) continue;
    const { cause, line, text } = address.source;
    return refused(cause, `an address that may be anything (${text})`, [access.line, line]);
  }
  return undefined;
}
