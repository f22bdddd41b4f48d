import type { IrFunction, IrModule } from '../../ptx/index.js';
import { isUpdate, lowerModule } from '../../ptx/index.js';
import type { KernelSummary, SummaryReason } from '../summary.js';
import type { SolverNotes } from '../solver/index.js';
import { summarizeAccess } from './access/accessSummary.js';
import { SummaryTables } from './access/summaryTables.js';
import { classify, failure, isNondeterministic, readsOfOwn, type Classification } from './classification.js';
import { Findings, type FoundCondition } from './execution/findings.js';
import { LocalMemory } from './execution/localMemory.js';
import { Path } from './execution/path.js';
import { racingLoads } from './execution/racingLoads.js';
import { storesMayRace, type BlockShape } from './execution/racingStores.js';
import { RegionExecutor } from './execution/regionExecutor.js';
import { ThreadState } from './execution/threadState.js';
import { AnalysisBudget } from './expressions/expressionTable.js';
import { loopExecutor } from './loops/loopExecutor.js';
import { COPIES_OF_KERNEL, Unrolling, WORK_OF_UNROLLING } from './loops/unrolling.js';
import { KernelContext } from './transfer/operands.js';

export interface AnalysisOptions {
  /** What a solver has answered, and where questions for it go; without, only the analysis' own rules bound addresses. */
  readonly solver?: SolverNotes;
}

/**
 * Analyses one kernel: which global memory it may read and write, as functions of arguments, dimensions and thread, and
 * whether any launch of it can be repeated from the start after a kill at any point (PICKER, sections 2.6 to 2.10 of the
 * specification). What it cannot follow it takes for any value.
 *
 * @throws RangeError when the module has no entry of that name
 */
export function analyzeKernel(module: IrModule, entry: string, options: AnalysisOptions = {}): KernelSummary {
  const ir = lowerModule(module);
  const kernel = ir.functions.find((fn) => fn.isEntry && fn.name === entry);
  if (kernel === undefined) throw new RangeError(`${ir.file} has no kernel ${entry}`);
  if (kernel.refusal !== undefined) {
    const { line, instruction, reason } = kernel.refusal;
    const cause = instruction.startsWith('call') ? 'IF' : 'PE';
    return failed(kernel, { cause, text: `${instruction}: ${reason}`, lines: [line] });
  }
  try {
    return analyze(ir, kernel, options);
  } catch (error) {
    if (!(error instanceof AnalysisBudget)) throw error;
    return failed(kernel, failure(kernel, error.message));
  }
}

function analyze(ir: IrModule, kernel: IrFunction, { solver }: AnalysisOptions): KernelSummary {
  const compacted = classified(ir, kernel, 0);
  // What no loop changes is not worth the work.
  const isOpen = compacted.found.class === 'conditional' || compacted.found.reason.cause === 'PE';
  const unrolled = isOpen && compacted.unrolling.isWanted ? unroll(ir, kernel, solver) : undefined;
  return unrolled ?? summarize(compacted, solver);
}

/** The same with loops that follow no rule told iteration by iteration; undefined where that is of no use, or too much. */
function unroll(
  ir: IrModule,
  kernel: IrFunction,
  solver: SolverNotes | undefined,
): KernelSummary | undefined {
  try {
    const run = classified(ir, kernel, COPIES_OF_KERNEL);
    const isOfUse = run.unrolling.isDone && run.found.class !== 'nonIdempotent';
    return isOfUse ? summarize(run, solver) : undefined;
  } catch (error) {
    if (!(error instanceof AnalysisBudget)) throw error;
    return undefined;
  }
}

interface Execution {
  readonly context: KernelContext;
  readonly findings: Findings;
  readonly unrolling: Unrolling;
  /** Stores to shared memory race where blocks have several rows of threads alone. */
  readonly isRaceOfRows: boolean;
}

interface ClassifiedExecution extends Execution {
  readonly found: Classification;
}

function classified(ir: IrModule, kernel: IrFunction, copies: number): ClassifiedExecution {
  let run = execute(ir, kernel, 'any', copies);
  if (run.isRaceOfRows && isNondeterministic(run.findings)) {
    // Code for blocks of one row of threads; others are refused at launch.
    run = execute(ir, kernel, 'row', copies);
    run.findings.conditions.push(oneRow(run.context));
  }
  return { ...run, found: classify(run.context, run.findings) };
}

function execute(ir: IrModule, kernel: IrFunction, blocks: BlockShape, copies: number): Execution {
  const tainted = new Set<'shared' | 'local'>(usesSharedAtomics(kernel) ? ['shared'] : []);
  const exchanges = new Set<string>();
  const racing = racingLoads(kernel);
  let isRaceOfRows = false;
  for (;;) {
    const context = new KernelContext(ir, kernel);
    if (copies > 0) context.table.allow(WORK_OF_UNROLLING);
    const findings = new Findings();
    const unrolling = new Unrolling(copies);
    const region = new RegionExecutor(context, loopExecutor(unrolling));
    region.runKernel(
      { path: Path.start(context.conditions), state: new ThreadState([], LocalMemory.empty()) },
      { findings, loops: [], taintedSpaces: tainted, taintedExchanges: exchanges, racingLoads: racing },
    );
    // What was loaded before a tainted store was found may be tainted too.
    const before = tainted.size + exchanges.size;
    for (const exchange of findings.taintedExchanges) exchanges.add(exchange);
    for (const space of findings.taintedSpaces) tainted.add(space);
    if (!tainted.has('shared')) {
      const mayRace = (shape: BlockShape): boolean =>
        storesMayRace(kernel, context, findings.sharedStores, shape);
      if (mayRace(blocks)) {
        tainted.add('shared');
        isRaceOfRows = !mayRace('row');
      }
    }
    if (tainted.size + exchanges.size === before) return { context, findings, unrolling, isRaceOfRows };
  }
}

function oneRow({ kernel, table, arithmetic, conditions }: KernelContext): FoundCondition {
  const others = (['ntid.y', 'ntid.z'] as const).map((name) =>
    conditions.equal(table.dimension(name), arithmetic.constant(1)),
  );
  return {
    condition: conditions.and(others),
    line: kernel.line,
    text: 'threads in several rows store to the same shared memory',
  };
}

function usesSharedAtomics(kernel: IrFunction): boolean {
  return kernel.instructions.some(
    ({ opcode, modifiers }) => isUpdate(opcode) && modifiers.some((each) => each.startsWith('shared')),
  );
}

function summarize(
  { context, findings, found }: ClassifiedExecution,
  solver: SolverNotes | undefined,
): KernelSummary {
  const { kernel, ir } = context;
  const tables = new SummaryTables(context);
  // Where the class decides, nothing is worth asking.
  const asked = found.class === 'conditional' ? solver : undefined;
  const own = readsOfOwn(findings);
  const accesses = findings.accesses.flatMap((access) =>
    summarizeAccess(context, tables, access, asked).map((each) =>
      own.has(access) ? { ...each, writtenFirst: true as const } : each,
    ),
  );
  const conditions = findings.conditions.map(({ condition, line, text }) => ({
    node: tables.node(condition),
    cause: 'PE' as const,
    text,
    line,
  }));
  return {
    version: 1,
    kernel: kernel.name,
    class: found.class,
    reason: found.reason,
    nodes: tables.nodes,
    variables: tables.variables,
    conditions,
    accesses,
    isComplete: true,
    symbols: [...tables.symbols].map((name) => ({
      name,
      bytes: ir.variables.find((variable) => variable.name === name)?.bytes ?? 0,
    })),
  };
}

function failed(kernel: IrFunction, reason: SummaryReason): KernelSummary {
  return {
    version: 1,
    kernel: kernel.name,
    class: 'nonIdempotent',
    reason,
    nodes: [],
    variables: [],
    conditions: [],
    accesses: [],
    isComplete: false,
    symbols: [],
  };
}
