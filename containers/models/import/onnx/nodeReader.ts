import { ModelError } from '../../modelError.js';
import {
  batchOfOperand,
  elementsOfShape,
  shapeOfOperand,
  typeOfOperand,
  type BatchPlace,
  type Emission,
  type ExtentList,
  type GraphOp,
  type GraphValue,
  type NodeInput,
  type Operand,
} from './graphValues.js';
import type { EncodedParts } from './encodedParts.js';
import type { OnnxNode, OnnxTensor } from './onnxModel.js';
import { addCopyInto } from '../layers/stridedLayers.js';
import type { Tensor } from '../modelDraft.js';
import { typeName } from './tensorValues.js';

/** A node would mix the queries of a batch: the graph may still run where one query is all that it takes. */
export class BatchMixing extends ModelError {}

/** Values of a constant that a few bytes of a file may make. */
const MOST_MADE = 2 ** 26;

/** One result of an op that is new. */
export interface NewResult {
  readonly shape: readonly number[];
  readonly batch: BatchPlace | undefined;
  readonly dataType: number;
}

/** One node with its inputs, and refusals that name it. */
export class NodeReader {
  readonly where: string;
  /** Operators of other domains have versions of their own. */
  private readonly operator: string;

  constructor(
    readonly node: OnnxNode,
    place: number,
    private readonly file: string,
    private readonly inputs: readonly (NodeInput | undefined)[],
    /** Of the default operator set. */
    readonly opset: number,
    /** The batch's extent where the file says it. */
    readonly fixedBatch: number | undefined,
    private readonly onOp: (op: GraphOp) => void,
    private readonly encoded: EncodedParts,
  ) {
    const name = node.name === '' ? (node.outputs[0] ?? '') : node.name;
    this.where = `node ${place} (${node.opType} '${name}')`;
    this.operator = node.domain === '' ? `operator set ${opset}` : node.domain;
  }

  refuse(problem: string): never {
    throw new ModelError('importUnsupported', this.file, this.where, `${problem} (${this.operator})`);
  }

  /** Refuses what would make one query's result depend on others. */
  refuseMixing(what: string): never {
    throw new BatchMixing(
      'importUnsupported',
      this.file,
      this.where,
      `${what} would mix the queries of a batch (${this.operator})`,
    );
  }

  invalid(problem: string): never {
    throw new ModelError('importInvalid', this.file, this.where, problem);
  }

  /**
   * Elements of a constant that the import computes.
   * @param known that there are already: as many may be moved
   */
  madeElements(shape: readonly number[], known = 0): number {
    const elements = elementsOfShape(shape);
    return elements <= Math.max(MOST_MADE, known) ? elements : this.refuse(`${elements} values are too many`);
  }

  get inputCount(): number {
    return this.inputs.length;
  }

  input(place: number): NodeInput {
    return this.optional(place) ?? this.invalid(`input ${place} is missing`);
  }

  optional(place: number): NodeInput | undefined {
    return this.inputs[place];
  }

  /** Whether anything reads this output, or may. */
  hasOutput(place: number): boolean {
    return (this.node.outputs[place] ?? '') !== '';
  }

  /** An input that depends on the query. */
  value(place: number): GraphValue {
    const input = this.input(place);
    if ('value' in input) return input.value;
    const what = 'list' in input ? "made of the batch's extent" : 'a constant';
    return this.refuse(`input ${place} is ${what}, only values of the query are supported`);
  }

  /** An input that is a value of the query, or the same for every query. */
  operand(place: number): Operand {
    const input = this.input(place);
    return 'list' in input ? { constant: this.constant(place) } : input;
  }

  optionalOperand(place: number): Operand | undefined {
    return this.optional(place) === undefined ? undefined : this.operand(place);
  }

  /** All inputs, none of which may be missing. */
  operands(): readonly Operand[] {
    return this.inputs.map((_, place) => this.operand(place));
  }

  /** Operands of numbers: texts can only be passed on. */
  numeric(place: number): Operand {
    const operand = this.operand(place);
    if ('value' in operand && operand.value.columns !== undefined) return this.refuseStrings(place);
    const isText =
      'value' in operand ? operand.value.texts !== undefined : operand.constant.texts !== undefined;
    return isText ? this.refuse(`input ${place} holds strings, only numbers are computed with`) : operand;
  }

  /** Strings of the query, each as its place among some categories; undefined: the input is none. */
  categories(place: number, categories: readonly string[]): Operand | undefined {
    const operand = this.operand(place);
    if (!('value' in operand) || operand.value.columns === undefined) return undefined;
    const { value } = operand;
    const { columns = [], shape, batch } = value;
    if (categories.length === 0) this.refuse(`it has no categories that are strings, as input ${place} is`);
    const apart = shape.map(() => 1);
    const parts = columns.map((column): Operand => ({
      value: { ...this.encoded.category(column, categories, apart), batch },
    }));
    return parts.length === 1
      ? { value: { ...this.encodedValue(parts[0]), shape } }
      : this.joined(parts, shape, batch);
  }

  private encodedValue(part: Operand): GraphValue {
    return 'value' in part ? part.value : this.invalid('a part is no constant');
  }

  private joined(
    parts: readonly Operand[],
    shape: readonly number[],
    batch: BatchPlace | undefined,
  ): Operand {
    const dataType = typeOfOperand(parts[0]);
    const result = this.result({ shape, batch, dataType }, parts, ({ draft, source }) => {
      const y = draft.tensor(draft.layerName('codes'), 'f64', parts.length);
      parts.forEach((part, place) => {
        addCopyInto(
          draft,
          source(part, 'f64'),
          y,
          [1],
          { start: 0, strides: [1] },
          { start: place, strides: [1] },
        );
      });
      return y;
    });
    return 'list' in result ? this.invalid('codes are no list') : result;
  }

  private refuseStrings(place: number): never {
    return this.refuse(
      `input ${place} holds strings of the query, which OneHotEncoder, LabelEncoder and CategoryMapper of ai.onnx.ml make numbers of: encode them before`,
    );
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

  /** A number of an input, or of an attribute as older operator sets have it. */
  number(place: number, attribute: string, otherwise: number): number {
    if (this.optional(place) !== undefined) return this.constant(place).values[0] ?? otherwise;
    return this.float(attribute, otherwise);
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

  texts(name: string): readonly string[] {
    return this.node.attributes.get(name)?.texts ?? [];
  }

  floats(name: string): readonly number[] {
    const attribute = this.node.attributes.get(name);
    if (attribute?.tensor !== undefined) return Array.from(attribute.tensor.values);
    return attribute?.floats ?? [];
  }

  integerList(name: string): readonly number[] | undefined {
    const attribute = this.node.attributes.get(name);
    return attribute?.tensor === undefined ? attribute?.integers : Array.from(attribute.tensor.values);
  }

  /** As many whole numbers as `otherwise` has. */
  integers(name: string, otherwise: readonly number[]): readonly number[] {
    const list = this.node.attributes.get(name)?.integers ?? otherwise;
    return list.length === otherwise.length
      ? list
      : this.invalid(`${name} has ${list.length} values, expected ${otherwise.length}`);
  }

  /** An axis of `rank`, counted from the end where it is below 0. */
  axis(given: number, rank: number): number {
    const axis = given < 0 ? given + rank : given;
    return Number.isInteger(axis) && axis >= 0 && axis < rank
      ? axis
      : this.invalid(`axis ${given} of ${rank} extents`);
  }

  /** The same, of an operand, whose batch must not lie along it. */
  ownAxis(given: number, operand: Operand): number {
    const shape = shapeOfOperand(operand);
    const axis = this.axis(given, shape.length);
    if (batchOfOperand(operand)?.axis === axis) this.refuseMixing(`axis ${given} of ${shape.length}`);
    return axis;
  }

  /** A new op's results. */
  results(
    results: readonly NewResult[],
    operands: readonly Operand[],
    emit: (emission: Emission) => readonly Tensor[],
  ): readonly NodeInput[] {
    operands.forEach((operand, place) => {
      if ('value' in operand && operand.value.columns !== undefined) this.refuseStrings(place);
    });
    const op: GraphOp = { kind: 'general', operands, emit };
    return this.resultsOf(op, results);
  }

  resultsOf(op: GraphOp, results: readonly NewResult[]): readonly NodeInput[] {
    for (const { shape } of results) {
      if (!(elementsOfShape(shape) >= 1)) {
        this.invalid(
          `its result has the shape [${shape.join(', ')}] and no value; check the weights' shapes`,
        );
      }
    }
    this.onOp(op);
    return results.map((result, output) => ({
      value: { ...result, source: op, output, readOnce: true },
    }));
  }

  /** A new op's only result. */
  result(result: NewResult, operands: readonly Operand[], emit: (emission: Emission) => Tensor): NodeInput {
    return this.results([result], operands, (emission) => [emit(emission)])[0];
  }

  /** All operands of one type, which is given back. */
  commonType(operands: readonly Operand[]): number {
    const [first, ...others] = operands.map(typeOfOperand);
    const other = others.find((type) => type !== first);
    return other === undefined
      ? first
      : this.invalid(`its inputs are ${typeName(first)} and ${typeName(other)}: cast one of them`);
  }
}
