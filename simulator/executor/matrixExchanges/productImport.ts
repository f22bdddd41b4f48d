import { computeTile, fittedModel, productForm, productNames, type TileModel } from '../../tensor/index.js';
import { operandWords } from '../../tensor/index.js';

/** Name of the import by which compiled code asks for a product that it does not write: (number, words, result). */
export const PRODUCT_IMPORT = 'matrixProduct';

let numbers: ReadonlyMap<string, number> | undefined;

/** A product's number, the same in every thread. */
export function productNumber(name: string): number {
  numbers ??= new Map(productNames().map((each, index) => [each, index]));
  return numbers.get(name) ?? -1;
}

interface Sized extends TileModel {
  readonly words: number;
}

const models = new Map<number, Sized>();

function modelOf(number: number): Sized {
  let found = models.get(number);
  if (found === undefined) {
    const form = productForm(productNames()[number] ?? '');
    if (form === undefined) throw new RangeError(`no product ${number}`);
    const metadata = form.sparse === undefined ? 0 : 32;
    const words = [form.a, form.b, form.c].reduce((sum, operand) => sum + operandWords(operand), metadata);
    models.set(number, (found = { form, model: fittedModel(form), words }));
  }
  return found;
}

/** The function behind the import: reads a product's operands in memory and leaves its result there, as `computeTile` lays them out. */
export function productImport(
  memory: WebAssembly.Memory,
): (number: number, at: number, result: number) => void {
  return (number, at, result) => {
    const model = modelOf(number);
    const words = new Uint32Array(memory.buffer, at, model.words).slice();
    new Uint32Array(memory.buffer).set(computeTile(model, words), result / 4);
  };
}
