import { hasFusedMultiplyAdd, Library, tileFunction } from '../../../executor/testing/index.js';
import { operandWords, type TileForm } from '../../../tensor/index.js';
import { FunctionBuilder, ModuleBuilder } from '../../../wasm/index.js';
import { chunkTiles, fillTile, tileAreas, tileWords } from '../probes/index.js';

const pages = 8;
const wordsAt = 64;
const resultAt = 65_536;
const scratchAt = 2 * 65_536;
/** What lies around and in what a function writes before it runs. */
const filling = 0xa5a5a5a5;

/** A form's tile function in a module of its own, with memory for one tile. */
export class CompiledTile {
  /** Computes the tile that lies in memory once more. */
  readonly again: () => void;
  readonly moduleBytes: Uint8Array;
  private readonly memory: Uint32Array;
  private readonly outputWords: number;
  private readonly scratchEnd: number;

  /** @param fuses whether relaxed vector instructions may be used */
  constructor(form: TileForm, fuses = hasFusedMultiplyAdd()) {
    const module = new ModuleBuilder(pages);
    const tile = tileFunction(form);
    const index = tile.index(new Library(module, fuses));
    const run = new FunctionBuilder([], []);
    run.i32(wordsAt).i32(resultAt).i32(scratchAt).call(index);
    module.add(run, 'run');
    this.moduleBytes = module.finish();
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    const instance = new WebAssembly.Instance(new WebAssembly.Module(this.moduleBytes), { node: { memory } });
    this.again = instance.exports['run'] as () => void;
    this.memory = new Uint32Array(memory.buffer).fill(filling);
    this.outputWords = operandWords(form.d);
    this.scratchEnd = (scratchAt + tile.scratchBytes + 3) >> 2;
  }

  /**
   * D's words.
   * @throws RangeError where it wrote behind its result or its scratch
   */
  run(words: Uint32Array): Uint32Array {
    const { memory, outputWords } = this;
    memory.set(words, wordsAt >> 2);
    this.again();
    const end = (resultAt >> 2) + outputWords;
    if (memory[end] !== filling || memory[this.scratchEnd] !== filling)
      throw new RangeError('a tile function wrote where nothing is its own');
    return memory.slice(resultAt >> 2, end);
  }
}

/** A random tile's words, drawn in the `mode`th of the probes' ways. */
export function drawnTile(form: TileForm, mode: number): Uint32Array {
  return fillTile(tileAreas(form), 3, mode * chunkTiles, tileWords(form).input);
}
