import { createHash } from 'node:crypto';
import type { IrFunction, IrModule } from '../../ptx/index.js';
import {
  CompileError,
  compileKernel,
  FLUSH_JOURNAL,
  NOTHING_LEFT_OUT,
  optimisationKey,
  type CodeForm,
  type CompiledKernel,
  type Optimisation,
} from '../compiler/index.js';
import type { NodeMemory } from '../memory/index.js';
import type { CodeMaker, WantedCode } from './codeMaker.js';
import type { HostCalls } from './hostRuntime.js';
import { prepared, restored, type PreparedKernel } from './preparedKernels.js';

/** A kernel ready to run on one node's memory. */
export interface ReadyKernel {
  readonly compiled: CompiledKernel;
  /** `run(lo, hi)` of a kernel whose threads never wait, otherwise undefined. */
  readonly run: ((lo: number, hi: number) => number) | undefined;
  /** Runs blocks from `lo` on, the first from where it was left if `resumed` is 1; of kernels that have a driver. */
  readonly drive: ((lo: number, hi: number, resumed: number) => number) | undefined;
  /** Region functions by state. */
  readonly regions: readonly ((warp: number, mask: number) => number)[];
}

interface KernelSource {
  readonly ir: IrModule;
  readonly fn: IrFunction;
}

interface CompiledModule {
  readonly compiled: CompiledKernel;
  readonly module: WebAssembly.Module;
}

/** Imports declare the largest memory there is, so that one module fits every node. */
const MAX_PAGES = 65_536;
/** Compiled modules kept for all nodes of the process; one takes tens of kilobytes. */
const MAX_MODULES = 512;

const modules = new Map<string, CompiledModule>();
const contentKeys = new WeakMap<IrFunction, string>();

/** Kernels by content: the same text loaded again, in another context or node, is not compiled again. */
export class KernelCache {
  /** By `formNumber`. */
  private readonly byFunction: (WeakMap<IrFunction, ReadyKernel> | undefined)[] = [];
  private readonly byContent = new Map<string, ReadyKernel>();
  /** What this node's kernels were compiled from, by content. */
  private readonly sources = new Map<string, KernelSource>();
  readonly area: number;
  private readonly maker: CodeMaker | undefined;
  /** Keys of what the maker has been asked for. */
  private readonly asked = new Set<string>();

  /**
   * @param flushJournal empties the access journal when it is full. @param host functions of the device runtime
   * @param without what is left out of every form @param where where the area of threaded code begins, and who else makes code
   */
  constructor(
    private readonly memory: Pick<NodeMemory, 'memory'>,
    private readonly flushJournal: () => void,
    private readonly host: HostCalls,
    private readonly without: ReadonlySet<Optimisation>,
    { area = 0, maker }: { readonly area?: number; readonly maker?: CodeMaker | undefined } = {},
  ) {
    this.area = area;
    this.maker = maker;
  }

  /** @throws CompileError. */
  get(ir: IrModule, fn: IrFunction, asked: CodeForm = {}): ReadyKernel {
    // Every launch passes here: no object and no text until a kernel is new.
    const byFunction = (this.byFunction[formNumber(asked)] ??= new WeakMap());
    const known = byFunction.get(fn);
    if (known !== undefined) return known;
    const form = { ...asked, without: this.without };
    const key = this.keyOf(ir, fn, asked);
    let ready = this.byContent.get(key);
    if (ready === undefined) {
      this.sources.set(contentKey(ir, fn), { ir, fn });
      if (this.sources.size > MAX_MODULES) dropOldest(this.sources);
      ready = this.instantiate(compiledModule(key, ir, fn, form));
      this.byContent.set(key, ready);
      if (this.byContent.size > MAX_MODULES) dropOldest(this.byContent);
    }
    byFunction.set(fn, ready);
    return ready;
  }

  /** Whether a kernel has been asked for in this form. */
  hasHere(fn: IrFunction, form: CodeForm): boolean {
    return this.byFunction[formNumber(form)]?.has(fn) === true;
  }

  /** Whether a kernel need not be compiled in this form. */
  has(ir: IrModule, fn: IrFunction, asked: CodeForm): boolean {
    const key = this.keyOf(ir, fn, asked);
    return this.byContent.has(key) || modules.has(key) || takenOver.has(key);
  }

  /**
   * Whether code that is not here is made by another thread, which is asked the first time. Whoever has other code of the
   * kernel goes on in that.
   */
  isToCome(ir: IrModule, fn: IrFunction, form: CodeForm): boolean {
    if (this.maker?.isThere !== true || this.hasHere(fn, form) || this.has(ir, fn, form)) return false;
    const key = this.keyOf(ir, fn, form);
    if (!this.asked.has(key)) {
      this.asked.add(key);
      if (this.asked.size > MAX_MODULES) dropOldest(this.asked);
      this.maker.ask({ content: contentKey(ir, fn), form });
    }
    return true;
  }

  /**
   * Makes code that another thread wants, of a kernel that has been asked for here.
   * @returns undefined when it was not, or not lately. @throws CompileError.
   */
  make({ content, form }: WantedCode): PreparedKernel | undefined {
    const source = this.sources.get(content);
    if (source === undefined) return undefined;
    const key = this.keyOf(source.ir, source.fn, form);
    const whole = { ...form, without: this.without };
    const { compiled, module } = compiledModule(key, source.ir, source.fn, whole);
    return prepared(key, compiled, module);
  }

  /** What has been compiled for this node, for other threads. */
  prepared(): PreparedKernel[] {
    return [...this.byContent.keys()].flatMap((key) => {
      const found = modules.get(key);
      return found === undefined ? [] : [prepared(key, found.compiled, found.module)];
    });
  }

  /** One of them. */
  preparedKernel(ir: IrModule, fn: IrFunction, asked: CodeForm): PreparedKernel | undefined {
    const key = this.keyOf(ir, fn, asked);
    const found = modules.get(key);
    return found === undefined ? undefined : prepared(key, found.compiled, found.module);
  }

  private keyOf(ir: IrModule, fn: IrFunction, form: CodeForm): string {
    return `${keyOf({ ...form, without: this.without })} ${contentKey(ir, fn)}`;
  }

  private instantiate({ compiled, module }: CompiledModule): ReadyKernel {
    const node = {
      memory: this.memory.memory,
      area: this.area,
      [FLUSH_JOURNAL]: this.flushJournal,
      ...this.host,
      ...compiled.imports,
    } as Record<string, WebAssembly.ImportValue>;
    const { exports } = new WebAssembly.Instance(module, { node });
    const regions =
      compiled.shape === 'blocks' ? [] : [...compiled.syncPoints.keys(), compiled.syncPoints.length];
    return {
      compiled,
      run: exports['run'] as ReadyKernel['run'],
      drive: exports['drive'] as ReadyKernel['drive'],
      regions: regions.map((region) => exports[`region${region}`] as (warp: number, mask: number) => number),
    };
  }
}

function compiledModule(key: string, ir: IrModule, fn: IrFunction, form: CodeForm): CompiledModule {
  let found = modules.get(key);
  if (found === undefined) {
    const compile = (): CompiledKernel => compileKernel(ir, fn, MAX_PAGES, form);
    const taken = takenOver.get(key);
    takenOver.delete(key);
    const restoredKernel = taken === undefined ? undefined : restored(taken, fn, compile);
    if (taken !== undefined && restoredKernel !== undefined)
      found = { compiled: restoredKernel, module: taken.module };
    else {
      const compiled = compile();
      found = { compiled, module: wasmModule(compiled, fn) };
    }
    if (modules.size >= MAX_MODULES) dropOldest(modules);
  } else {
    modules.delete(key);
  }
  modules.set(key, found);
  return found;
}

/** @throws CompileError for code beyond what V8 takes. */
function wasmModule({ bytes }: CompiledKernel, fn: IrFunction): WebAssembly.Module {
  try {
    return new WebAssembly.Module(bytes);
  } catch (error) {
    // Node's types know no WebAssembly.CompileError.
    if (!(error instanceof Error) || error.name !== 'CompileError') throw error;
    throw new CompileError('tooLarge', `${fn.name}: ${error.message}`, fn.line);
  }
}

/** Kernels that another thread has compiled, until they are asked for. */
const takenOver = new Map<string, PreparedKernel>();

/** Spares this thread the compilation of what another has compiled. */
export function takeOver(kernels: readonly PreparedKernel[]): void {
  for (const kernel of kernels) {
    if (modules.has(kernel.key)) continue;
    if (takenOver.size >= MAX_MODULES) dropOldest(takenOver);
    takenOver.set(kernel.key, kernel);
  }
}

function dropOldest(kept: Map<string, unknown> | Set<string>): void {
  const oldest = kept.keys().next();
  if (oldest.done !== true) kept.delete(oldest.value);
}

/** Tells the forms of one cache apart, as their keys do. */
function formNumber({ groups = 0, observed, resumable, threaded, alwaysTogether }: CodeForm): number {
  return (
    16 * groups +
    (observed === true ? 1 : 0) +
    (resumable === true ? 2 : 0) +
    (threaded === true ? 4 : 0) +
    (alwaysTogether === true ? 8 : 0)
  );
}

function keyOf(form: CodeForm): string {
  const { groups = 0, observed, resumable, threaded, without = NOTHING_LEFT_OUT } = form;
  const forms = `${observed === true ? 'o' : ''}${resumable === true ? 'r' : ''}${threaded === true ? 't' : ''}`;
  return `${groups}${form.alwaysTogether === true ? 'a' : ''}${forms}-${optimisationKey(without)}`;
}

/** What the compiled code depends on: the function and the extents of the module's variables, not their addresses. */
function contentKey(ir: IrModule, fn: IrFunction): string {
  let key = contentKeys.get(fn);
  if (key === undefined) {
    const variables = ir.variables.map(({ name, space, bytes, align, isExtern }) => [
      name,
      space,
      bytes,
      align,
      isExtern,
    ]);
    key = createHash('sha256')
      .update(JSON.stringify([fn, variables]))
      .digest('hex');
    contentKeys.set(fn, key);
  }
  return key;
}
