import { isCall } from '../../isa/index.js';
import type { IrFunction, IrModule, IrVariable } from '../../ir.js';
import { CallGraph } from './callGraph.js';
import { DraftCode, DraftNames, finishFunction } from './draftCode.js';
import { BodyExpansion, CallRefusal, type ExpansionPlan } from './expansion.js';
import { sharedFunctions } from './inlinePlan.js';
import { placeVariables, resolveMemory, type BodyMemory } from './memoryPlaces.js';
import { ParameterStorages } from './parameterStorage.js';
import { BodyLinker, type Body } from './sharedBodies.js';

export interface CallLoweringOptions {
  /** Instructions that an entry may grow to by copying what it calls; beyond, calls share bodies. */
  readonly budget?: number;
  /** Registers from which on the copies of a function use the same ones. */
  readonly mostRegisters?: number;
}

const BUDGET = 40_000;
/** WebAssembly engines take 50,000 locals a function. */
const MOST_REGISTERS = 20_000;

/**
 * Makes every entry executable without `call`. A function that does not call itself, directly or through others, is
 * copied to where it is called. Recursive functions, and what would exceed the budget, get one body an entry, entered by
 * jumps and left by `brx.idx` over the places behind its calls; what a recursive call must not change lies on a stack
 * in local memory. An indirect call tests its pointer against all functions that it can name. An entry that reaches
 * what is not defined, or cannot run, carries a refusal.
 *
 * Beyond PTX, lowered code holds the instructions `vprintf d, format, arguments`, `assertfail message, file, line,
 * function, charSize`, `malloc d, size` and `free p`, and `trap` with the code of its fault as modifier.
 */
export function lowerCalls(ir: IrModule, options: CallLoweringOptions = {}): IrModule {
  const isConcerned = (fn: IrFunction): boolean =>
    fn.isEntry && fn.refusal === undefined && fn.instructions.some((each) => isCall(each.opcode));
  if (!ir.functions.some(isConcerned)) return ir;
  const graph = new CallGraph(ir);
  const functions = ir.functions.map((fn) => (isConcerned(fn) ? lowerEntry(fn, ir, graph, options) : fn));
  return { ...ir, functions };
}

function lowerEntry(
  entry: IrFunction,
  ir: IrModule,
  graph: CallGraph,
  options: CallLoweringOptions,
): IrFunction {
  const refusal = graph.refusalOf(entry);
  if (refusal !== undefined) return { ...entry, refusal };
  try {
    const lowered = new EntryLowering(entry, ir, graph, options.budget ?? BUDGET, false).lower();
    if (lowered.registers.length <= (options.mostRegisters ?? MOST_REGISTERS)) return lowered;
    return new EntryLowering(entry, ir, graph, options.budget ?? BUDGET, true).lower();
  } catch (error) {
    if (!(error instanceof CallRefusal)) throw error;
    const { line, instruction, reason } = error;
    return { ...entry, refusal: { line, instruction, reason } };
  }
}

class EntryLowering {
  private readonly names = new DraftNames();
  private readonly storages = new ParameterStorages(this.names);
  private readonly shared: readonly IrFunction[];
  private readonly plan: ExpansionPlan;
  private readonly variables = new Map<string, IrVariable>();

  constructor(
    private readonly entry: IrFunction,
    ir: IrModule,
    private readonly graph: CallGraph,
    budget: number,
    reusesRegisters: boolean,
  ) {
    const shared = sharedFunctions(entry, graph, budget);
    this.shared = ir.functions.filter((fn) => shared.has(fn.name));
    const declare = (fn: IrFunction, which: 'parameters' | 'returns'): string[] =>
      fn[which].map(({ bytes, align }) => this.storages.declare(bytes, align, fn.name));
    this.plan = {
      graph,
      names: this.names,
      storages: this.storages,
      shared,
      formals: new Map(
        this.shared.map((fn) => [
          fn.name,
          { args: declare(fn, 'parameters'), returns: declare(fn, 'returns') },
        ]),
      ),
      moduleNames: new Set(ir.variables.map(({ name }) => name)),
      reusesRegisters,
    };
  }

  lower(): IrFunction {
    const { entry, names, plan, storages } = this;
    const own = new BodyExpansion(plan, entry.name);
    own.expandEntry(entry);
    const bodies = this.shared.map((fn) => {
      const expansion = new BodyExpansion(plan, fn.name);
      const returnLabel = names.label(`$leave$${fn.name}`);
      expansion.expandShared(fn, returnLabel);
      return { fn, expansion, returnLabel };
    });
    // Only now is it known how each parameter is accessed.
    const ownMemory = this.place(own, false);
    const memories = bodies.map(({ fn, expansion }) =>
      this.place(expansion, this.graph.isRecursive(fn.name)),
    );
    let code = resolveMemory(own, storages, ownMemory);
    if (bodies.length > 0) {
      const start = names.label(entry.name);
      const head: Body = {
        name: entry.name,
        code,
        start,
        returnLabel: -1,
        returnId: -1,
        isRecursive: false,
        variableBytes: 0,
      };
      const shared = bodies.map(({ fn, expansion, returnLabel }, index): Body => {
        const memory = memories[index];
        return {
          name: fn.name,
          code: memory === undefined ? new DraftCode(names) : resolveMemory(expansion, storages, memory),
          start: names.label(fn.name),
          returnLabel,
          returnId: names.register(`%return$${fn.name}`, 'b32'),
          isRecursive: this.graph.isRecursive(fn.name),
          variableBytes: memory?.frameBytes ?? 0,
        };
      });
      const linker = new BodyLinker(head, shared, entry, this.graph, storages, plan.formals);
      const stack = linker.link();
      if (stack !== undefined) this.variables.set(stack.name, stack);
      code = linker.code;
    }
    return finishFunction(entry, code, [...this.variables.values()]);
  }

  private place(expansion: BodyExpansion, isRecursive: boolean): BodyMemory {
    const memory = placeVariables(expansion, this.storages, isRecursive);
    for (const variable of memory.variables) this.variables.set(variable.name, variable);
    return memory;
  }
}
