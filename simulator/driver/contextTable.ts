import {
  MemoryError,
  type AddressSpace,
  type DeviceAddressSpace,
  type LoadedModule,
  type NodeMemory,
} from '../executor/index.js';
import type { SavePlace } from '../faults/index.js';
import type { DeviceProfile } from '../gpu/index.js';
import { contextBytes, modulesBytes } from './contextMemory.js';
import type { CopyCommand } from './copyTraffic.js';
import type { ContextState, DriverState, ModuleState, StreamState } from './driverState.js';
import type { ModuleLibrary } from './moduleLibrary.js';
import { Refusal, failureOf } from './refusal.js';
import type { DefaultStream, ModuleSymbol } from './commands.js';
import { checkLaunchClass } from './launchClasses.js';
import type { LaunchClass } from '../scheduling/index.js';

/** What CUDA's runtime keeps there takes 32 bytes. */
const GRID_WORKSPACE_BYTES = 256;

/** Contexts and what they own: address space, allocations, modules, streams, events. */
export class ContextTable {
  constructor(
    private readonly state: DriverState,
    private readonly memory: NodeMemory,
    private readonly profiles: readonly DeviceProfile[],
    private readonly modules: ModuleLibrary,
  ) {}

  find(id: number): ContextState | undefined {
    return this.state.contexts.get(id);
  }

  require(id: number): ContextState {
    const context = this.find(id);
    if (context === undefined) throw new Refusal('invalidContext', `context: there is no context ${id}`);
    return context;
  }

  create(gpu: number, defaultStream: DefaultStream = 'perThread', launchClass?: LaunchClass): ContextState {
    if (!Number.isInteger(gpu) || gpu < 0 || gpu >= this.profiles.length) {
      throw new Refusal('invalidValue', `gpu: ${gpu}; this node has GPUs 0 to ${this.profiles.length - 1}`);
    }
    if (defaultStream !== 'perThread' && defaultStream !== 'legacy') {
      throw new Refusal(
        'invalidValue',
        `defaultStream: '${String(defaultStream)}'; it is 'perThread' or 'legacy'`,
      );
    }
    const ownBytes = contextBytes(this.profiles[gpu]);
    this.requireRoom(gpu, ownBytes, `gpu: a context takes ${ownBytes} bytes`);
    const context: ContextState = {
      id: this.state.nextHandle++,
      gpu,
      space: this.memory.createSpace(gpu).id,
      defaultStream,
      launchClass: checkLaunchClass(launchClass, 'launchClass'),
      streams: new Map([[0, { id: 0, priority: 0, nonBlocking: false, queue: [], lastEndNs: 0 }]]),
      events: new Map(),
      modules: new Map(),
      graphs: new Map(),
      graphExecs: new Map(),
      captures: new Map(),
      allocations: new Map(),
      ownBytes,
      inFlight: new Set(),
      barriers: [],
      judged: new Set(),
    };
    this.state.contexts.set(context.id, context);
    this.state.usedBytes[gpu] += ownBytes;
    return context;
  }

  destroy(context: ContextState): void {
    for (const bytes of context.allocations.values()) this.state.usedBytes[context.gpu] -= bytes;
    this.state.usedBytes[context.gpu] -= context.ownBytes;
    for (const handle of context.modules.keys()) this.modules.forget(handle);
    this.memory.destroySpace(this.space(context));
    if (context.saveSpace !== undefined) this.memory.destroySpace(this.saveSpace(context));
    this.state.contexts.delete(context.id);
  }

  space(context: ContextState): DeviceAddressSpace {
    const space = this.memory.space(context.space);
    if (space === undefined)
      throw new Refusal('invalidContext', `context: ${context.id} has no address space`);
    return space;
  }

  /** Of a copy to another context: where it writes. @throws Refusal when a fault killed that context */
  peerSpace(command: CopyCommand): DeviceAddressSpace | undefined {
    if (command.op !== 'memcpyPeer') return undefined;
    const peer = this.require(command.args.destinationContext);
    requireAlive(peer);
    return this.space(peer);
  }

  /** Priorities outside the card's range are taken as the nearest in it. */
  createStream(
    context: ContextState,
    priority: number,
    nonBlocking: boolean,
    launchClass?: LaunchClass,
  ): StreamState {
    if (!Number.isInteger(priority))
      throw new Refusal('invalidValue', `priority: ${priority} is not an integer`);
    const { streamPriorities } = this.profiles[context.gpu].limits;
    const stream: StreamState = {
      id: this.state.nextHandle++,
      priority: Math.min(streamPriorities - 1, Math.max(0, priority)),
      launchClass: checkLaunchClass(launchClass, 'launchClass'),
      nonBlocking,
      queue: [],
      lastEndNs: 0,
    };
    context.streams.set(stream.id, stream);
    return stream;
  }

  requireStream(context: ContextState, id: number): StreamState {
    const stream = context.streams.get(id);
    if (stream === undefined) {
      throw new Refusal('invalidStream', `stream: context ${context.id} has no stream ${id}`);
    }
    return stream;
  }

  destroyStream(context: ContextState, id: number): void {
    const stream = this.requireStream(context, id);
    if (id === 0) throw new Refusal('invalidStream', 'stream: the default stream 0 cannot be destroyed');
    if (stream.queue.length > 0) {
      throw new Refusal(
        'invalidStream',
        `stream: ${id} still has ${stream.queue.length} commands; synchronise it first`,
      );
    }
    context.streams.delete(id);
  }

  loadModule(context: ContextState, ptx: string, file: string): number {
    const handle = this.state.nextHandle++;
    let module: ModuleState;
    try {
      module = this.modules.load(ptx, file, this.space(context), handle);
    } catch (error) {
      const failure = failureOf(error, 'invalidModule');
      throw new Refusal(failure.code, failure.message);
    }
    const ownBytes = this.bytesWith(context, module);
    try {
      this.requireRoom(
        context.gpu,
        ownBytes - context.ownBytes,
        `${file}: variables, heap and printf buffer take ${ownBytes - context.ownBytes} bytes`,
      );
    } catch (error) {
      for (const address of module.symbols.values()) this.space(context).unmap(address);
      this.modules.forget(handle);
      throw error;
    }
    context.modules.set(handle, module);
    this.state.usedBytes[context.gpu] += ownBytes - context.ownBytes;
    context.ownBytes = ownBytes;
    return handle;
  }

  private bytesWith({ gpu, modules }: ContextState, module: ModuleState): number {
    const memories = [...modules.values(), module].map(({ memory }) => memory);
    return contextBytes(this.profiles[gpu]) + modulesBytes(memories);
  }

  /** @throws Refusal `outOfDeviceMemory` */
  private requireRoom(gpu: number, bytes: number, what: string): void {
    const { name, memory } = this.profiles[gpu];
    const free = memory.declaredBytes - this.state.usedBytes[gpu];
    if (bytes <= free) return;
    throw new Refusal(
      'outOfDeviceMemory',
      `${what}, but GPU ${gpu} (${name}) has ${free} of its ${memory.declaredBytes} bytes free`,
    );
  }

  /** Variables of a loaded module that copies can reach. */
  symbols(context: ContextState, handle: number): ModuleSymbol[] {
    const { ir, symbols } = this.requireModule(context, handle);
    return ir.variables.flatMap(({ name, space, bytes }) => {
      const address = symbols.get(name);
      if (address === undefined || (space !== 'global' && space !== 'const')) return [];
      return [{ name, space, address, bytes }];
    });
  }

  /** Zeroed memory where the blocks of a cooperative launch meet; no allocation of the user's. */
  mapGridWorkspace(context: ContextState): number {
    return this.space(context).map(GRID_WORKSPACE_BYTES, 'readWrite').virtualAddress;
  }

  unmapGridWorkspace(context: ContextState, address: number): void {
    this.space(context).unmap(address);
  }

  requireModule(context: ContextState, handle: number): LoadedModule {
    const module = this.modules.find(context, handle);
    if (module === undefined) {
      throw new Refusal('invalidHandle', `module: context ${context.id} has no module ${handle}`);
    }
    return module;
  }

  allocate(context: ContextState, bytes: number): number {
    if (!Number.isSafeInteger(bytes) || bytes < 1) {
      throw new Refusal('invalidValue', `bytes: ${bytes} is not a whole number of bytes, 1 or more`);
    }
    this.requireRoom(context.gpu, bytes, `bytes: ${bytes}`);
    const space: AddressSpace = this.space(context);
    const { virtualAddress } = space.map(bytes, 'readWrite');
    context.allocations.set(virtualAddress, bytes);
    this.state.usedBytes[context.gpu] += bytes;
    return virtualAddress;
  }

  /** Where copies of saved memory lie. */
  saveSpace(context: ContextState): DeviceAddressSpace {
    context.saveSpace ??= this.memory.createSpace(context.gpu).id;
    const space = this.memory.space(context.saveSpace);
    if (space === undefined) throw new Error(`context ${context.id} has lost its saved memory`);
    return space;
  }

  /** @returns undefined when there is no room, on the GPU or behind it */
  takeSaveArea(context: ContextState, bytes: number, place: SavePlace): number | undefined {
    const { usedBytes } = this.state;
    const { declaredBytes } = this.profiles[context.gpu].memory;
    if (place === 'device' && bytes > declaredBytes - usedBytes[context.gpu]) return undefined;
    try {
      const { virtualAddress } = this.saveSpace(context).map(bytes, 'readWrite');
      if (place === 'device') usedBytes[context.gpu] += bytes;
      return virtualAddress;
    } catch (error) {
      if (error instanceof MemoryError) return undefined;
      throw error;
    }
  }

  giveSaveArea(context: ContextState, address: number, bytes: number, place: SavePlace): void {
    this.saveSpace(context).unmap(address);
    if (place === 'device') this.state.usedBytes[context.gpu] -= bytes;
  }

  requireAllocation(context: ContextState, address: number): number {
    const bytes = context.allocations.get(address);
    if (bytes === undefined) {
      throw new Refusal(
        'invalidHandle',
        `address: no allocation of context ${context.id} starts at 0x${address.toString(16)}`,
      );
    }
    return bytes;
  }

  free(context: ContextState, address: number): void {
    const bytes = this.requireAllocation(context, address);
    this.space(context).unmap(address);
    context.allocations.delete(address);
    this.state.usedBytes[context.gpu] -= bytes;
  }
}

/** @throws Refusal when a kernel fault has killed the context */
export function requireAlive(context: ContextState): void {
  if (context.fault !== undefined) throw contextFaulted(context);
}

export function contextFaulted(context: ContextState): Refusal {
  return new Refusal(
    'contextFaulted',
    `context ${context.id} was killed by a kernel fault and must be destroyed: ${context.fault ?? ''}`,
  );
}
