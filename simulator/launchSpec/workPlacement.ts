import { resolve } from 'node:path';
import type { ModuleSymbol } from '../driver/index.js';
import type { ArgsOf, NodeSession } from './nodeSession.js';
import { LaunchSpecError } from './launchSpecError.js';
import {
  placeNamedBuffers,
  placeSpec,
  placeSymbols,
  type PlacedBuffer,
  type PlacedOutput,
  type SpecHost,
} from './placement.js';
import { entryOf, readPtx } from './specFiles.js';
import { invalid, type LaunchEntry, type WorkSpec } from './workSchema.js';

/** A buffer or variable to report at the end, and whose it is. */
export interface WorkOutput extends PlacedOutput {
  readonly context: number;
  readonly contextName: string | undefined;
  /** The entry whose argument holds it. */
  readonly launch?: number;
}

interface LoadedPtx {
  readonly text: string;
  readonly handle: number;
  readonly symbols: readonly ModuleSymbol[];
}

/** One context of the spec: its modules and buffers. */
export class WorkContext {
  readonly outputs: WorkOutput[] = [];
  private readonly buffers: PlacedBuffer[] = [];
  private readonly modules = new Map<string, LoadedPtx>();

  constructor(
    private readonly session: NodeSession,
    readonly handle: number,
    readonly name: string | undefined,
    private readonly baseDir: string,
  ) {}

  /** Allocates and fills its part of the spec's own buffers. @throws LaunchSpecError */
  placeBuffers({ buffers, contexts }: WorkSpec): void {
    const own = Object.entries(buffers).filter(([each, { context }]) => {
      if (context === undefined && Object.keys(contexts).length > 1) {
        throw invalid(
          `buffers.${each}.context`,
          `is missing; expected one of ${Object.keys(contexts).join(', ')}`,
        );
      }
      return context === undefined || context === this.name;
    });
    const placed = own.map(([each, { spec }]) => ({ spec, path: `buffers.${each}` }));
    this.take(placeNamedBuffers(placed, this.host([])));
  }

  /** Sets variables of the spec's module. @throws LaunchSpecError */
  setSymbols(ptx: string, symbols: WorkSpec['symbols']): void {
    const module = this.module(ptx, 'ptx');
    this.take(placeSymbols(symbols, this.host(module.symbols), this.buffers));
  }

  /** Places a launch's own buffers and packs its arguments. @throws LaunchSpecError that names the entry */
  place(entry: LaunchEntry, index: number, commonPtx: string | undefined): ArgsOf<'launch'> {
    const path = `launches[${index}]`;
    const {
      ptx = commonPtx,
      kernel,
      grid,
      block,
      dynamicSharedBytes,
      cooperative,
      cluster,
      nonPortableCluster,
      launchClass,
      args,
    } = entry;
    if (ptx === undefined) throw invalid(`${path}.ptx`, 'is missing; give it here, or once for all launches');
    const module = this.module(ptx, entry.ptx === undefined ? 'ptx' : `${path}.ptx`);
    const { params, ...placed } = within(path, () =>
      placeSpec(
        { args, symbols: {} },
        entryOf(module.text, { ptx, kernel }),
        this.host(module.symbols),
        this.buffers,
      ),
    );
    this.take(placed, index);
    const controls = launchClass === undefined ? {} : { controls: { launchClass } };
    return {
      module: module.handle,
      kernel,
      grid,
      block,
      dynamicSharedBytes,
      params,
      cooperative,
      cluster,
      nonPortableCluster,
      ...controls,
    };
  }

  /** @throws LaunchSpecError where the context has none of that name */
  buffer(name: string, path: string): PlacedBuffer {
    const found = this.buffers.find(({ spec }) => spec.name === name);
    if (found !== undefined) return found;
    const names = this.buffers.flatMap(({ spec }) => spec.name ?? []).join(', ') || 'none';
    const where = this.name === undefined ? '' : ` in context '${this.name}'`;
    throw invalid(path, `no buffer has the name '${name}'${where}; there are: ${names}`);
  }

  private take(
    {
      buffers,
      outputs,
    }: { readonly buffers: readonly PlacedBuffer[]; readonly outputs: readonly PlacedOutput[] },
    launch?: number,
  ): void {
    this.buffers.push(...buffers);
    const owner = { context: this.handle, contextName: this.name };
    this.outputs.push(
      ...outputs.map((output) => ({ ...output, ...owner, ...(launch === undefined ? {} : { launch }) })),
    );
  }

  private module(ptx: string, path: string): LoadedPtx {
    const known = this.modules.get(ptx);
    if (known !== undefined) return known;
    const text = within(path === 'ptx' ? '' : path.slice(0, -'.ptx'.length), () =>
      readPtx(resolve(this.baseDir, ptx)),
    );
    const { handle = 0, symbols = [] } = within(path, () =>
      this.session.call('moduleLoad', { ptx: text, file: ptx }, { context: this.handle }),
    );
    const loaded = { text, handle, symbols };
    this.modules.set(ptx, loaded);
    return loaded;
  }

  private host(symbols: readonly ModuleSymbol[]): SpecHost {
    const { session } = this;
    const to = { context: this.handle };
    return {
      allocate: (bytes) => session.call('malloc', { bytes }, to).address ?? 0,
      write: (address, bytes) => {
        if (session.node.memory.isDeclaredOnly) return;
        session.call('memcpyHostToDevice', { address, bytes, pinned: true }, to);
      },
      free: (address) => session.call('free', { address }, to),
      createObject: (resource, sampler) =>
        session.call('objectCreate', { resource, sampler }, to).handle ?? 0,
      symbols,
    };
  }
}

/** Names the place in the spec of what goes wrong inside. */
export function within<T>(path: string, attempt: () => T): T {
  try {
    return attempt();
  } catch (error) {
    if (!(error instanceof LaunchSpecError) || path === '') throw error;
    const { code, message, field, failure, printed } = error;
    const isField = field !== undefined && message.startsWith(field);
    throw new LaunchSpecError(
      code,
      `${path}${isField ? '.' : ': '}${message}`,
      field === undefined ? path : `${path}.${field}`,
      failure,
      printed,
    );
  }
}
