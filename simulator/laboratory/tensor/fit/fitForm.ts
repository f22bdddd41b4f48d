import {
  type FloatFormat,
  type FusedModel,
  type MetadataMap,
  type Model,
  PreparedTile,
  type TileForm,
  elementsOf,
  fittedModel,
  floatFormat,
} from '../../../tensor/index.js';
import { chains, integers, rules, scalars, structures } from './candidates.js';

/** What a card was given in one tile, and left. */
export interface TileCase {
  /** Where it is from, for reports: `crafted 3`, `random 65`. */
  readonly name: string;
  readonly input: Uint32Array;
  readonly output: Uint32Array;
}

/** The first element of a tile that a model has otherwise. */
export interface Difference {
  readonly tile: string;
  readonly element: number;
  readonly card: string;
  readonly model: string;
}

export type Fit =
  | { readonly model: Model; readonly equivalent: number; readonly metadata?: MetadataMap }
  /** No model explains every tile: the one that explains most, and the first that it does not. */
  | { readonly nearest: Model; readonly explained: number; readonly difference: Difference };

export interface FitOptions {
  /** Models of other forms, which are tried after the form's own of {@link fittedModel} and before the search. */
  readonly known?: readonly Model[];
  /** Goes on after the first model that explains all, to count those that no tile tells from it. */
  readonly isExhaustive?: boolean;
}

/** A tile with what the card left of it. */
interface SeenTile {
  readonly name: string;
  readonly tile: PreparedTile;
  readonly results: readonly (number | bigint)[];
}

/**
 * Finds the model that explains every tile.
 * @throws RangeError where there is no tile
 */
export function fitForm(
  form: TileForm,
  cases: readonly TileCase[],
  metadata?: MetadataMap,
  options: FitOptions = {},
): Fit {
  if (cases.length === 0) throw new RangeError(`no tile of ${form.name}`);
  const seen = cases.map((each) => seenTile(form, each, metadata));
  const kinds = { f64: ['chain'], s32: ['integer'] }[form.d.type as 'f64'] ?? ['fused', 'scalar'];
  const isExhaustive = options.isExhaustive === true;
  const same = (isExhaustive ? [] : [fittedModel(form), ...(options.known ?? [])]).find(
    (model) => kinds.includes(model.kind) && seen.every((each) => differenceOf(model, each) === undefined),
  );
  const found: Fit = same === undefined ? search(form, seen, isExhaustive) : { model: same, equivalent: 1 };
  return 'model' in found && metadata !== undefined ? { ...found, metadata } : found;
}

function search(form: TileForm, seen: readonly SeenTile[], isExhaustive: boolean): Fit {
  if (form.d.type === 'f64') return best(chains(form), seen);
  if (form.d.type === 's32') return best(integers(form), seen);
  if (form.a.type === 'f16' && form.shape.k === 4) {
    const fit = best(scalars(form), seen);
    if ('model' in fit) return fit;
  }
  // Tiles full of ordinary results tell most structures apart at once, crafted ones those that remain.
  const order = [...seen].sort((one, other) => ordinaryCount(other) - ordinaryCount(one));
  let nearest: { readonly fit: Fit; readonly explained: number } | undefined;
  let closest: { readonly structure: FusedModel; readonly agreed: number } | undefined;
  let found: { readonly model: Model; readonly equivalent: number } | undefined;
  for (const structure of structures(form)) {
    const agreed = ordinaryAgreement(structure, order);
    if (agreed < order.length) {
      if (closest === undefined || agreed > closest.agreed) closest = { structure, agreed };
      continue;
    }
    const fit = best(rules(structure), seen);
    if (!('model' in fit)) {
      if (nearest === undefined || fit.explained > nearest.explained)
        nearest = { fit, explained: fit.explained };
    } else {
      found = { model: found?.model ?? fit.model, equivalent: (found?.equivalent ?? 0) + fit.equivalent };
      if (!isExhaustive) return found;
    }
  }
  if (found !== undefined) return found;
  if (nearest !== undefined) return nearest.fit;
  if (closest === undefined) throw new RangeError(`no structure for ${form.name}`);
  return best(rules(closest.structure), seen);
}

/** How many results of a tile are numbers as any. */
function ordinaryCount({ tile, results }: SeenTile): number {
  const format = floatFormat(tile.form.d.type);
  if (format === undefined) return results.length;
  const top = 2 ** format.exponentBits - 1;
  return results.filter((result) => {
    const field = typeof result === 'bigint' ? top : (result >>> format.fractionBits) & top;
    return field !== 0 && field !== top;
  }).length;
}

/** Of how many models that fail it is told how many tiles they explain. */
const mostCounted = 48;

/** The first model that explains all; else the one that explains most. */
function best(models: Iterable<Model>, seen: readonly SeenTile[]): Fit {
  let nearest: Model | undefined;
  let most = -1;
  let model: Model | undefined;
  let equivalent = 0;
  let counted = 0;
  // The tile that refused the last model is likely to refuse the next.
  let order = [...seen];
  for (const candidate of models) {
    const refusing = order.findIndex((each) => differenceOf(candidate, each) !== undefined);
    if (refusing < 0) {
      model ??= candidate;
      equivalent++;
      continue;
    }
    const [first] = order.splice(refusing, 1);
    if (first !== undefined) order = [first, ...order];
    if (model !== undefined || ++counted > mostCounted) continue;
    const explained = seen.filter((each) => differenceOf(candidate, each) === undefined).length;
    if (explained > most) {
      most = explained;
      nearest = candidate;
    }
  }
  if (model !== undefined) return { model, equivalent };
  if (nearest === undefined) throw new RangeError('no model to try');
  const chosen = nearest;
  for (const each of seen) {
    const difference = differenceOf(chosen, each);
    if (difference !== undefined) return { nearest, explained: most, difference };
  }
  throw new RangeError('a model that explains all was taken for one that does not');
}

function seenTile(form: TileForm, { name, input, output }: TileCase, metadata?: MetadataMap): SeenTile {
  const { bits, wide } = elementsOf(form.d, output);
  const results = form.d.type === 'f64' ? [...wide] : [...bits];
  return { name, tile: new PreparedTile(form, input, metadata), results };
}

/** How many tiles, in order, agree in what no rule changes; counts up to the first that does not. */
function ordinaryAgreement(model: Model, order: readonly SeenTile[]): number {
  let agreed = 0;
  for (const { tile, results } of order) {
    const dot = tile.dot(model);
    const format = floatFormat(tile.form.d.type);
    for (let element = 0; element < results.length; element++) {
      const [result, seen] = [dot(element), results[element] ?? 0];
      if (result === seen || typeof result === 'bigint' || typeof seen === 'bigint') continue;
      if (format === undefined || !isOpen(result, seen, format)) return agreed;
    }
    agreed++;
  }
  return agreed;
}

/** Whether two results may be the same by another rule: either is no number, both are nought, or one is and the other subnormal. */
function isOpen(one: number, other: number, { exponentBits, fractionBits }: FloatFormat): boolean {
  const top = 2 ** exponentBits - 1;
  const [oneField, otherField] = [(one >>> fractionBits) & top, (other >>> fractionBits) & top];
  if (oneField === top || otherField === top) return true;
  const mask = 2 ** (exponentBits + fractionBits) - 1;
  return oneField === 0 && otherField === 0 && ((one & mask) === 0 || (other & mask) === 0);
}

function differenceOf(model: Model, { name, tile, results }: SeenTile): Difference | undefined {
  const dot = tile.dot(model);
  for (let element = 0; element < results.length; element++) {
    const result = dot(element);
    if (result !== results[element])
      return { tile: name, element, card: (results[element] ?? 0).toString(16), model: result.toString(16) };
  }
  return undefined;
}
