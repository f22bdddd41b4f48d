import { createHash } from 'node:crypto';
import { loadModule, type AddressSpace, type LoadedModule, type NodeMemory } from '../executor/index.js';
import { lowerModule, parseModule, takeLowered, type IrModule } from '../ptx/index.js';
import { moduleMemory } from './contextMemory.js';
import type { ContextState, ModuleState } from './driverState.js';

/** Parsed modules by text, and loaded ones by handle. Nothing here is state: all of it can be made again. */
export class ModuleLibrary {
  private readonly parsed = new Map<string, IrModule>();
  private readonly loaded = new Map<number, LoadedModule>();

  constructor(
    private readonly memory: NodeMemory,
    shared?: ModuleLibrary,
    /** Told of every module that is loaded, or made again. */
    private readonly onLoaded: (module: LoadedModule, ptx: string) => void = () => undefined,
  ) {
    // IR never changes, so a copy of a node goes on with the same objects, and with the code compiled for them.
    if (shared !== undefined) for (const [identity, ir] of shared.parsed) this.parsed.set(identity, ir);
  }

  /** @throws PtxParseError, LoadError or MemoryError. */
  load(ptx: string, file: string, space: AddressSpace, handle: number): ModuleState {
    const identity = createHash('sha256').update(file).update('\0').update(ptx).digest('hex');
    const ir = this.parse(identity, ptx, file);
    const loaded = loadModule(ir, space);
    this.loaded.set(handle, loaded);
    this.onLoaded(loaded, ptx);
    return { handle, identity, ptx, file, symbols: loaded.symbols, memory: moduleMemory(loaded.ir) };
  }

  /** A context's module, made again after a copy of the node. */
  find(context: ContextState, handle: number): LoadedModule | undefined {
    const known = this.loaded.get(handle);
    if (known !== undefined) return context.modules.has(handle) ? known : undefined;
    const module = context.modules.get(handle);
    const space = this.memory.space(context.space);
    if (module === undefined || space === undefined) return undefined;
    const loaded: LoadedModule = {
      ir: lowerModule(this.parse(module.identity, module.ptx, module.file)),
      space,
      symbols: module.symbols,
    };
    this.loaded.set(handle, loaded);
    this.onLoaded(loaded, module.ptx);
    return loaded;
  }

  /** Every module as it is executed, by the identity of its text: for a library in another thread. */
  lowered(): ReadonlyMap<string, IrModule> {
    return new Map([...this.parsed].map(([identity, ir]) => [identity, lowerModule(ir)]));
  }

  /** Takes over what another library has parsed and lowered. */
  takeOver(modules: ReadonlyMap<string, IrModule>): void {
    for (const [identity, ir] of modules) {
      if (this.parsed.has(identity)) continue;
      takeLowered(ir);
      this.parsed.set(identity, ir);
    }
  }

  forget(handle: number): void {
    this.loaded.delete(handle);
  }

  private parse(identity: string, ptx: string, file: string): IrModule {
    let ir = this.parsed.get(identity);
    if (ir === undefined) this.parsed.set(identity, (ir = parseModule(ptx, file)));
    return ir;
  }
}
