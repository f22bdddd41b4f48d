import { ModelError } from '../../modelError.js';
import type { GraphValue } from './graphOps.js';
import type { OnnxNode, OnnxTensor } from './onnxModel.js';

export type NodeInput = { readonly value: GraphValue } | { readonly constant: OnnxTensor };

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
    return 'value' in input
      ? input.value
      : this.refuse(`input ${place} is a constant, only values of the query are supported`);
  }

  /** An input that is the same for every query. */
  constant(place: number): OnnxTensor {
    const input = this.input(place);
    return 'constant' in input
      ? input.constant
      : this.refuse(
          `input ${place} ('${this.node.inputs[place]}') depends on the query, only a constant is supported`,
        );
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
