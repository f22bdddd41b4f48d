import { isCall } from '../../isa/index.js';
import type { IrFunction, IrInstruction, IrModule, IrOperand, IrParameter, IrRefusal } from '../../ir.js';
import { isRuntimeFunction, undefinedFunction } from './runtimeFunctions.js';

/** Who calls whom in a module, indirect calls included, and which functions can run at all. */
export class CallGraph {
  private readonly byName: ReadonlyMap<string, IrFunction>;
  private readonly positions: ReadonlyMap<string, number>;
  private readonly addressTaken: ReadonlySet<string>;
  private readonly callees = new WeakMap<IrInstruction, readonly string[]>();
  private readonly refusals = new Map<string, IrRefusal | undefined>();
  /** Number of each function's strongly connected component. */
  private readonly components = new Map<string, number>();
  private readonly recursive = new Set<string>();

  constructor(private readonly ir: IrModule) {
    this.byName = new Map(ir.functions.map((fn) => [fn.name, fn]));
    this.positions = new Map(ir.functions.map((fn, index) => [fn.name, index]));
    this.addressTaken = addressesTaken(ir);
    this.findComponents();
  }

  find(name: string): IrFunction | undefined {
    return this.byName.get(name);
  }

  /** Place of a function among the module's, by which its address counts. */
  positionOf(name: string): number {
    return this.positions.get(name) ?? -1;
  }

  /** Functions that a call may reach: one when it is direct, else all whose address is taken and whose prototype fits. */
  calleesOf(call: IrInstruction): readonly string[] {
    let found = this.callees.get(call);
    if (found === undefined) {
      found = this.findCallees(call);
      this.callees.set(call, found);
    }
    return found;
  }

  private findCallees({ sources, prototype }: IrInstruction): readonly string[] {
    const [target] = sources;
    if (target?.kind === 'symbol') return [target.name];
    if (prototype === undefined) return [];
    if (prototype.targets !== undefined) return prototype.targets;
    return this.ir.functions
      .filter(
        (fn) =>
          !fn.isEntry &&
          this.addressTaken.has(fn.name) &&
          isAlike(fn.parameters, prototype.parameters) &&
          isAlike(fn.returns, prototype.returns),
      )
      .map((fn) => fn.name);
  }

  /** Whether a function may be called again before it returns. */
  isRecursive(name: string): boolean {
    return this.recursive.has(name);
  }

  /** Whether each of the two functions may be reached from the other. */
  areMutual(a: string, b: string): boolean {
    return this.isRecursive(a) && this.components.get(a) === this.components.get(b);
  }

  /** Why a function, or one that it calls by name, cannot run. Targets of indirect calls only fault when they are called. */
  refusalOf(fn: IrFunction): IrRefusal | undefined {
    if (!this.refusals.has(fn.name)) this.refusals.set(fn.name, this.findRefusal(fn));
    return this.refusals.get(fn.name);
  }

  private findRefusal(fn: IrFunction): IrRefusal | undefined {
    const seen = new Set([fn]);
    for (const reached of seen) {
      const found = this.ownRefusal(reached);
      if (found !== undefined) {
        return reached === fn
          ? found
          : { ...found, reason: `${found.reason} (in ${reached.name}, which it calls)` };
      }
      for (const call of callsOf(reached)) {
        const [target] = call.sources;
        const callee = target?.kind === 'symbol' ? this.byName.get(target.name) : undefined;
        if (callee !== undefined) seen.add(callee);
      }
    }
    return undefined;
  }

  private ownRefusal(fn: IrFunction): IrRefusal | undefined {
    if (fn.refusal !== undefined) return fn.refusal;
    for (const call of callsOf(fn)) {
      const refuse = (reason: string): IrRefusal => ({
        line: call.line,
        instruction: [call.opcode, ...call.modifiers].join('.'),
        reason,
      });
      const [target] = call.sources;
      if (target?.kind !== 'symbol') {
        if (call.prototype === undefined) return refuse('an indirect call without a prototype');
        continue;
      }
      const callee = this.byName.get(target.name);
      if (callee?.isEntry === true)
        return refuse(`${target.name} is a kernel, which device code cannot call`);
      if (callee === undefined && !isRuntimeFunction(target.name)) {
        return refuse(undefinedFunction(target.name));
      }
    }
    return undefined;
  }

  /** Tarjan's algorithm, without recursion of its own: chains of calls may be long. */
  private findComponents(): void {
    const order = new Map<string, number>();
    const low = new Map<string, number>();
    const open: string[] = [];
    const isOpen = new Set<string>();
    let components = 0;
    for (const root of this.ir.functions) {
      if (order.has(root.name)) continue;
      const work = [this.visit(root, order, low, open, isOpen)];
      for (let top = work.at(-1); top !== undefined; top = work.at(-1)) {
        const next = top.callees[top.at];
        top.at += 1;
        if (next !== undefined) {
          const callee = this.byName.get(next);
          if (next === top.name) this.recursive.add(next);
          if (callee === undefined) continue;
          if (!order.has(next)) work.push(this.visit(callee, order, low, open, isOpen));
          else if (isOpen.has(next)) lower(low, top.name, order.get(next) ?? 0);
          continue;
        }
        work.pop();
        const above = work.at(-1);
        if (above !== undefined) lower(low, above.name, low.get(top.name) ?? 0);
        if (low.get(top.name) !== order.get(top.name)) continue;
        const members = open.splice(open.indexOf(top.name));
        for (const member of members) {
          isOpen.delete(member);
          this.components.set(member, components);
          if (members.length > 1) this.recursive.add(member);
        }
        components += 1;
      }
    }
  }

  private visit(
    fn: IrFunction,
    order: Map<string, number>,
    low: Map<string, number>,
    open: string[],
    isOpen: Set<string>,
  ): { name: string; callees: readonly string[]; at: number } {
    low.set(fn.name, order.size);
    order.set(fn.name, order.size);
    open.push(fn.name);
    isOpen.add(fn.name);
    return { name: fn.name, callees: callsOf(fn).flatMap((call) => this.calleesOf(call)), at: 0 };
  }
}

export function callsOf(fn: IrFunction): IrInstruction[] {
  return fn.instructions.filter((instruction) => isCall(instruction.opcode));
}

function lower(low: Map<string, number>, name: string, value: number): void {
  low.set(name, Math.min(low.get(name) ?? value, value));
}

function isAlike(a: readonly IrParameter[], b: readonly IrParameter[]): boolean {
  return a.length === b.length && a.every((parameter, index) => parameter.bytes === b[index]?.bytes);
}

/** Functions that some table or some instruction other than a call names. */
function addressesTaken(ir: IrModule): Set<string> {
  const found = new Set<string>();
  for (const variable of ir.variables) for (const { symbol } of variable.relocations ?? []) found.add(symbol);
  const visit = (operand: IrOperand): void => {
    if (operand.kind === 'symbol') found.add(operand.name);
    else if (operand.kind === 'vector') operand.elements.forEach(visit);
  };
  for (const fn of ir.functions) {
    for (const { opcode, sources } of fn.instructions) if (!isCall(opcode)) sources.forEach(visit);
  }
  return found;
}
