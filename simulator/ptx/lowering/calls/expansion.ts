import { isCall, isPlainLoad, isStore, isa } from '../../isa/index.js';
import type {
  IrFunction,
  IrInstruction,
  IrOperand,
  IrParameter,
  IrPrototype,
  IrVariable,
  ScalarType,
} from '../../ir.js';
import { typeBytes } from '../../scalarTypes.js';
import type { CallGraph } from './callGraph.js';
import { address, DraftCode, register, type DraftInstruction, type DraftNames } from './draftCode.js';
import { emitDispatch } from './indirectCall.js';
import type { ParameterStorages } from './parameterStorage.js';
import type { FormalStorages } from './sharedBodies.js';
import { runtimeFunction, type RuntimeFunction } from './runtimeFunctions.js';

/** A call that cannot be made executable. */
export class CallRefusal extends Error {
  constructor(
    readonly line: number,
    readonly instruction: string,
    readonly reason: string,
  ) {
    super(reason);
  }
}

/** What the bodies of one entry have in common. */
export interface ExpansionPlan {
  readonly graph: CallGraph;
  readonly names: DraftNames;
  readonly storages: ParameterStorages;
  readonly shared: ReadonlySet<string>;
  readonly formals: FormalStorages;
  /** Names of the module's variables. */
  readonly moduleNames: ReadonlySet<string>;
  /** Copies of a function in one body use the same registers, since no two of them ever run at once. */
  readonly reusesRegisters: boolean;
}

/** One copy of a function inside a body. */
interface Instance {
  readonly fn: IrFunction;
  readonly registers: readonly number[];
  readonly labels: readonly number[];
  /** Name in the function → storage, of parameters and returns. */
  readonly storages: ReadonlyMap<string, string>;
  readonly variables: ReadonlyMap<string, string>;
  /** Where a return leads; undefined for the entry itself, whose returns end the thread. */
  readonly returnLabel: number | undefined;
}

/** Expands one body, the entry's or a shared function's: all that it calls and does not share is copied into it. */
export class BodyExpansion {
  readonly code: DraftCode;
  /** Variables of the functions in this body, each once. */
  readonly variables = new Map<string, IrVariable>();
  private instances = 0;
  private readonly copiesOf = new Map<string, number>();
  private readonly registersOf = new Map<string, readonly number[]>();

  constructor(
    private readonly plan: ExpansionPlan,
    /** Name of the function whose body this is. */
    readonly name: string,
  ) {
    this.code = new DraftCode(plan.names);
  }

  expandEntry(entry: IrFunction): void {
    this.expand(this.instance(entry, [], [], undefined));
  }

  expandShared(fn: IrFunction, returnLabel: number): void {
    const formals = this.plan.formals.get(fn.name);
    this.expand(this.instance(fn, formals?.args ?? [], formals?.returns ?? [], returnLabel));
  }

  private instance(
    fn: IrFunction,
    args: readonly string[],
    returns: readonly string[],
    returnLabel: number | undefined,
  ): Instance {
    const { names, storages, moduleNames } = this.plan;
    const copy = this.copiesOf.get(fn.name) ?? 0;
    this.copiesOf.set(fn.name, copy + 1);
    const isOutermost = this.instances++ === 0 && fn.isEntry;
    const suffix = isOutermost ? '' : `$${fn.name}${copy === 0 ? '' : `$${copy}`}`;
    const named = new Map<string, string>();
    if (!fn.isEntry) {
      fn.parameters.forEach((each, index) => named.set(each.name, args[index] ?? ''));
      fn.returns.forEach((each, index) => named.set(each.name, returns[index] ?? ''));
    }
    for (const each of fn.callParameters) {
      named.set(each.name, storages.declare(each.bytes, each.align, this.name));
    }
    const variables = new Map<string, string>();
    for (const variable of fn.variables) {
      const keepsName = isOutermost && !moduleNames.has(variable.name);
      const name = keepsName ? variable.name : `${variable.name}$${fn.name}`;
      variables.set(variable.name, name);
      this.variables.set(name, { ...variable, name });
    }
    return {
      fn,
      registers: this.registersFor(fn, suffix),
      labels: fn.blocks.map((block) => names.label((block.label ?? `$block${block.index}`) + suffix)),
      storages: named,
      variables,
      returnLabel,
    };
  }

  private registersFor(fn: IrFunction, suffix: string): readonly number[] {
    const before = this.registersOf.get(fn.name);
    if (this.plan.reusesRegisters && before !== undefined) return before;
    const made = fn.registers.map(({ name, type }) => this.plan.names.register(name + suffix, type));
    this.registersOf.set(fn.name, made);
    return made;
  }

  private expand(instance: Instance): void {
    const { fn } = instance;
    for (const block of fn.blocks) {
      this.code.place(instance.labels[block.index] ?? 0);
      for (let index = block.first; index <= block.last; index++) {
        const instruction = fn.instructions[index];
        if (instruction !== undefined) this.expandInstruction(instruction, instance);
      }
    }
  }

  private expandInstruction(instruction: IrInstruction, instance: Instance): void {
    if (isCall(instruction.opcode)) {
      this.expandCall(instruction, instance);
      return;
    }
    const renamed = this.renamed(instruction, instance);
    if (isa(instruction.opcode).effects.kind === 'return' && instance.returnLabel !== undefined) {
      const isLast = instruction.index === instance.fn.instructions.length - 1;
      if (!isLast || instruction.guard !== undefined) {
        this.code.branch(instruction.line, instance.returnLabel, renamed.guard);
      }
      return;
    }
    this.emit(instance.fn.isEntry ? renamed : inLocalMemory(renamed));
  }

  private emit(instruction: DraftInstruction): void {
    this.plan.storages.note(instruction);
    this.code.emit(instruction);
  }

  // --- calls ---

  private expandCall(instruction: IrInstruction, instance: Instance): void {
    const { line, guard } = instruction;
    const { names, graph } = this.plan;
    const skip = guard === undefined ? undefined : names.label(`$skip${names.labels.length}`);
    if (guard !== undefined && skip !== undefined) {
      const of = instance.registers[guard.register] ?? 0;
      this.code.branch(line, skip, { register: of, negated: !guard.negated });
    }
    const [target, ...args] = instruction.sources;
    const signature = this.signatureOf(instruction);
    if (
      args.length !== signature.parameters.length ||
      instruction.destinations.length !== signature.returns.length
    ) {
      throw refuse(
        instruction,
        `the call passes ${args.length} values for ${signature.parameters.length} parameters and takes ` +
          `${instruction.destinations.length} of ${signature.returns.length} returns`,
      );
    }
    const passed = args.map((arg, index) =>
      this.passArgument(instruction, arg, signature.parameters[index], instance),
    );
    const taken = instruction.destinations.map((operand, index) =>
      this.takeReturn(instruction, operand, signature.returns[index], instance, passed),
    );
    const returns = taken.map(({ storage }) => storage);
    if (target?.kind === 'register') {
      const pointer = instance.registers[target.register] ?? 0;
      emitDispatch(this.code, line, pointer, graph.calleesOf(instruction), graph, (name) =>
        this.callByName(instruction, name, passed, returns),
      );
    } else if (target?.kind === 'symbol') {
      this.callByName(instruction, target.name, passed, returns);
    } else throw refuse(instruction, 'the target of a call is a function or a register');
    for (const { finish } of taken) finish();
    if (skip !== undefined) this.code.place(skip);
  }

  private signatureOf(call: IrInstruction): IrPrototype {
    const [target] = call.sources;
    if (target?.kind !== 'symbol') {
      if (call.prototype === undefined) throw refuse(call, 'an indirect call without a prototype');
      return call.prototype;
    }
    const callee = this.plan.graph.find(target.name);
    if (callee !== undefined) return callee;
    const runtime = runtimeFunction(target.name);
    if (runtime === undefined) throw refuse(call, `${target.name} is not defined in this module`);
    const results = runtime.result === undefined ? [] : [runtime.result];
    return { parameters: runtime.parameters.map(parameterOf), returns: results.map(parameterOf) };
  }

  /** The storage that holds an argument: the variable that is passed, or a new one for a register or number. */
  private passArgument(
    call: IrInstruction,
    operand: IrOperand,
    parameter: IrParameter | undefined,
    instance: Instance,
  ): string {
    const storage = operand.kind === 'symbol' ? instance.storages.get(operand.name) : undefined;
    if (storage !== undefined) return storage;
    if (operand.kind === 'symbol' || parameter === undefined) {
      throw refuse(call, 'an argument is a .param variable, a register or a number');
    }
    const fresh = this.plan.storages.declare(parameter.bytes, parameter.align, this.name);
    this.emit({
      line: call.line,
      opcode: 'st',
      modifiers: ['param', parameter.type],
      types: [parameter.type],
      destinations: [],
      sources: [address(fresh, 0), this.renamedOperand(operand, instance)],
    });
    return fresh;
  }

  private takeReturn(
    call: IrInstruction,
    operand: IrOperand,
    parameter: IrParameter | undefined,
    instance: Instance,
    passed: readonly string[],
  ): { storage: string; finish: () => void } {
    const storage = operand.kind === 'symbol' ? instance.storages.get(operand.name) : undefined;
    if (storage !== undefined) {
      if (!passed.includes(storage)) return { storage, finish: () => undefined };
      const fresh = this.declareLike(storage);
      return { storage: fresh, finish: () => this.copy(call.line, fresh, storage) };
    }
    if (operand.kind === 'symbol' || parameter === undefined) {
      throw refuse(call, 'a return value is taken by a .param variable or a register');
    }
    const fresh = this.plan.storages.declare(parameter.bytes, parameter.align, this.name);
    if (operand.kind === 'sink') return { storage: fresh, finish: () => undefined };
    const finish = (): void =>
      this.emit({
        line: call.line,
        opcode: 'ld',
        modifiers: ['param', parameter.type],
        types: [parameter.type],
        destinations: [this.renamedOperand(operand, instance)],
        sources: [address(fresh, 0)],
      });
    return { storage: fresh, finish };
  }

  private declareLike(storage: string): string {
    const { bytes, align } = this.plan.storages.extentOf(storage);
    return this.plan.storages.declare(bytes, align, this.name);
  }

  private copy(line: number, from: string, to: string): void {
    this.plan.storages.join(from, to);
    this.emit({
      line,
      opcode: 'mov',
      modifiers: [],
      types: [],
      destinations: [],
      sources: [],
      storageCopy: { from, to },
    });
  }

  private callByName(
    call: IrInstruction,
    name: string,
    args: readonly string[],
    returns: readonly string[],
  ): void {
    const { graph, shared, storages, formals, names } = this.plan;
    const callee = graph.find(name);
    if (callee === undefined) {
      const runtime = runtimeFunction(name);
      if (runtime === undefined) throw refuse(call, `${name} is not defined in this module`);
      this.callRuntime(call.line, runtime, args, returns);
      return;
    }
    this.checkSizes(call, callee.parameters, args);
    this.checkSizes(call, callee.returns, returns);
    if (shared.has(name)) {
      const own = formals.get(name);
      args.forEach((arg, index) => storages.join(arg, own?.args[index] ?? arg));
      returns.forEach((storage, index) => storages.join(storage, own?.returns[index] ?? storage));
      this.emit({
        line: call.line,
        opcode: 'call',
        modifiers: [],
        types: [],
        destinations: [],
        sources: [],
        sharedCall: { callee: name, args, returns },
      });
      return;
    }
    const returnLabel = names.label(`$return${names.labels.length}`);
    this.expand(this.instance(callee, args, returns, returnLabel));
    this.code.place(returnLabel);
  }

  private checkSizes(call: IrInstruction, formal: readonly IrParameter[], given: readonly string[]): void {
    formal.forEach((parameter, index) => {
      const bytes = this.plan.storages.bytesOf(given[index] ?? '');
      if (bytes === parameter.bytes) return;
      throw refuse(call, `${parameter.name} has ${parameter.bytes} bytes, the call passes ${bytes}`);
    });
  }

  private callRuntime(
    line: number,
    runtime: RuntimeFunction,
    args: readonly string[],
    returns: readonly string[],
  ): void {
    const { names } = this.plan;
    const sources = runtime.parameters.map((type, index) => {
      const held = names.register(`%${runtime.opcode}${index}`, type);
      this.emit({
        line,
        opcode: 'ld',
        modifiers: ['param', type],
        types: [type],
        destinations: [register(held)],
        sources: [address(args[index] ?? '', 0)],
      });
      return register(held);
    });
    const { result } = runtime;
    const [storage] = returns;
    const held = result === undefined ? undefined : names.register(`%${runtime.opcode}`, result);
    this.code.add(line, runtime.opcode, {
      destinations: held === undefined ? [] : [register(held)],
      sources,
    });
    if (held !== undefined && result !== undefined && storage !== undefined) {
      this.emit({
        line,
        opcode: 'st',
        modifiers: ['param', result],
        types: [result],
        destinations: [],
        sources: [address(storage, 0), register(held)],
      });
    }
    if (runtime.then !== undefined) this.code.add(line, runtime.then, {});
  }

  // --- renaming ---

  private renamed(instruction: IrInstruction, instance: Instance): DraftInstruction {
    const { guard, carry, ...rest } = instruction;
    const rename = (register: number): number => instance.registers[register] ?? 0;
    return {
      ...rest,
      ...(guard === undefined ? {} : { guard: { ...guard, register: rename(guard.register) } }),
      ...(carry === undefined ? {} : { carry: { ...carry, register: rename(carry.register) } }),
      destinations: instruction.destinations.map((operand) => this.renamedOperand(operand, instance)),
      sources: instruction.sources.map((operand) => this.renamedOperand(operand, instance)),
    };
  }

  private renamedOperand(operand: IrOperand, instance: Instance): IrOperand {
    const name = (text: string): string =>
      instance.storages.get(text) ?? instance.variables.get(text) ?? text;
    switch (operand.kind) {
      case 'register':
      case 'negatedPredicate':
        return { ...operand, register: instance.registers[operand.register] ?? 0 };
      case 'address': {
        const { base } = operand;
        if (base === undefined) return operand;
        return { ...operand, base: typeof base === 'string' ? name(base) : (instance.registers[base] ?? 0) };
      }
      case 'symbol':
        return { ...operand, name: name(operand.name) };
      case 'vector':
        return { ...operand, elements: operand.elements.map((each) => this.renamedOperand(each, instance)) };
      case 'pair':
        return {
          ...operand,
          first: this.renamedOperand(operand.first, instance),
          second: this.renamedOperand(operand.second, instance),
        };
      case 'label':
        return { ...operand, block: instance.labels[operand.block] ?? 0 };
      case 'integer':
      case 'float':
      case 'special':
      case 'sink':
        return operand;
    }
  }
}

function parameterOf(type: ScalarType): IrParameter {
  const bytes = typeBytes(type);
  return { name: '', type, offset: 0, bytes, align: bytes };
}

/** Parameters of a function whose address is taken lie in local memory: accesses by that address go there. */
function inLocalMemory(instruction: DraftInstruction): DraftInstruction {
  const [target] = instruction.sources;
  const isPointer =
    ((isPlainLoad(instruction.opcode) || isStore(instruction.opcode)) &&
      target?.kind === 'address' &&
      typeof target.base !== 'string') ||
    instruction.opcode === 'cvta';
  if (!isPointer || !instruction.modifiers.some((each) => each === 'param' || each === 'param::func')) {
    return instruction;
  }
  return {
    ...instruction,
    modifiers: instruction.modifiers.map((each) => (/^param(::func)?$/.test(each) ? 'local' : each)),
  };
}

function refuse(call: IrInstruction, reason: string): CallRefusal {
  return new CallRefusal(call.line, [call.opcode, ...call.modifiers].join('.'), reason);
}
