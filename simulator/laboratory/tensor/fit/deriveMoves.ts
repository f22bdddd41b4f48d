import { elementBits } from '../../../tensor/index.js';
import type { MoveForm } from '../forms/index.js';
import type { MoveMap } from '../moves/index.js';

/** What a move was given and left. */
export interface MoveCase {
  readonly input: Uint32Array;
  readonly output: Uint32Array;
}

/**
 * Finds which element of the input each element of the output is, by what was seen of random words: the one that agrees in all cases,
 * the first of several. Where the output is nought in all of them it was not written.
 * @returns undefined where some element is none of the input's
 */
export function deriveMove(form: MoveForm, cases: readonly MoveCase[]): MoveMap | undefined {
  const bits = elementBits(form.matrix?.type ?? 'f32');
  const inputs = signatures(cases.map(({ input }) => elements(input, bits)));
  const outputs = signatures(cases.map(({ output }) => elements(output, bits)));
  const first = new Map<string, number>();
  const skipped = form.kind === 'wmma.store' ? elements(new Uint32Array(memoryWords(form)), bits).length : 0;
  inputs.forEach((signature, at) => {
    // A store moves registers, which lie behind the memory's old words.
    if (at >= skipped && !first.has(signature)) first.set(signature, at);
  });
  const nothing = cases.map(() => '0').join();
  const map = outputs.map((signature) => first.get(signature) ?? (signature === nothing ? -1 : -2));
  return map.includes(-2) ? undefined : Int32Array.from(map);
}

function memoryWords(form: MoveForm): number {
  return form.inputs.find(({ kind }) => kind === 'memory')?.count ?? 0;
}

function elements(words: Uint32Array, bits: number): string[] {
  if (bits === 64)
    return Array.from({ length: words.length / 2 }, (_, at) => {
      const [low = 0, high = 0] = words.subarray(2 * at);
      return low === 0 && high === 0 ? '0' : `${high.toString(16)}.${low.toString(16)}`;
    });
  const per = 32 / bits;
  const mask = bits === 32 ? 0xffffffff : 2 ** bits - 1;
  return Array.from({ length: words.length * per }, (_, at) =>
    ((((words[Math.floor(at / per)] ?? 0) >>> ((at % per) * bits)) & mask) >>> 0).toString(16),
  );
}

/** Of each element its values in all cases. */
function signatures(cases: readonly (readonly string[])[]): string[] {
  const [first = []] = cases;
  return first.map((_, at) => cases.map((values) => values[at] ?? '').join());
}
