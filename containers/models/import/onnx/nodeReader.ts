import { ModelError } from '../../modelError.js';
import type { GraphValue } from './graphOps.js';
import type { OnnxNode, OnnxTensor } from './onnxModel.js';

/** The batch's extent, which is a number only when a query runs. */
export const BATCH = 'batch';

/** Whole numbers of which some are the batch's extent: what Shape gives, and what is made of it. */
export interface ExtentList {
  readonly extents: readonly (number | typeof BATCH)[];
  /** One number, and no list of one. */
  readonly isScalar: boolean;
}

export type NodeInput =
  { readonly value: GraphValue } | { readonly constant: OnnxTensor } | { readonly list: ExtentList };

/** One node with its inputs, and refusals that name it. */
export class NodeReader {
  readonly where: string;

  constructor(
    readonly node: OnnxNode,
    place: number,
    private readonly file: string,
    private readonly inputs: readonly (NodeInput | undefined)[],
    /** Of the default operator set. */
    readonly opset: number,
  ) {
    const name = node.name === '' ? (node.outputs[0] ?? '') : node.name;
    this.where = `node ${place} (${node.opType} '${name}')`;
  }

  refuse(problem: string): never {
    throw new ModelError('importUnsupported', this.file, this.where, problem);
  }

  invalid(problem: string): never {
    throw new ModelError('importInvalid', this.file, this.where, problem);
  }

  input(place: number): NodeInput {
    return this.optional(place) ?? this.invalid(`input ${place} is missing`);
  }

  optional(place: number): NodeInput | undefined {
    return this.inputs[place];
  }

  /** An input that depends on the query. */
  value(place: number): GraphValue {
    const input = this.input(place);
    if ('value' in input) return input.value;
    const what = 'list' in input ? "made of the batch's extent" : 'a constant';
    return this.refuse(`input ${place} is ${what}, only values of the query are supported`);
  }

  /** An input that is the same for every query. */
  constant(place: number): OnnxTensor {
    const input = this.input(place);
    if ('constant' in input) return input.constant;
    const what = 'list' in input ? "the batch's extent" : 'the query';
    return this.refuse(
      `input ${place} ('${this.node.inputs[place]}') depends on ${what}, only a constant is supported`,
    );
  }

  /** Whole numbers, with at most one extent: of a constant, or made of a shape. */
  list(place: number): ExtentList {
    const input = this.input(place);
    if ('list' in input) return input.list;
    const { dims, values } = this.constant(place);
    if (dims.length > 1)
      this.refuse(`input ${place} has the shape [${dims.join(', ')}], only one extent is supported`);
    return { extents: Array.from(values), isScalar: dims.length === 0 };
  }

  /** Whole numbers of an input, or of an attribute as older operator sets have it; undefined: neither is there. */
  numbers(place: number, attribute: string): readonly number[] | undefined {
    if (this.optional(place) !== undefined) return Array.from(this.constant(place).values);
    return this.node.attributes.get(attribute)?.integers;
  }

  integer(name: string, otherwise: number): number {
    return this.node.attributes.get(name)?.integer ?? otherwise;
  }

  float(name: string, otherwise: number): number {
    return this.node.attributes.get(name)?.float ?? otherwise;
  }

  text(name: string, otherwise: string): string {
    return this.node.attributes.get(name)?.text ?? otherwise;
  }

  /** As many whole numbers as `otherwise` has. */
  integers(name: string, otherwise: readonly number[]): readonly number[] {
    const list = this.node.attributes.get(name)?.integers ?? otherwise;
    return list.length === otherwise.length
      ? list
      : this.invalid(
          `${name} has ${list.length} values, expected ${otherwise.length} (only images in two dimensions)`,
        );
  }
}
