import { z } from 'zod';
import { encodedWidth, encodingSchema, type EncodingPart } from '../../encoding/index.js';
import { goldenInput } from '../../golden.js';
import { fieldPath, type NamedTensor } from '../../manifest.js';
import { ModelError } from '../../modelError.js';
import { ModelDraft, type Tensor } from '../modelDraft.js';
import { finishModel, type ImportedModel } from '../modelFolder.js';
import { addConversion } from '../layers/stridedLayers.js';
import { pointerTo } from '../modelDraft.js';
import { emitGraph, DOUBLE, type OnnxAttribute, type OnnxGraph } from '../onnx/graphRoom.js';
import type { SklearnImportOptions } from './sklearnImport.js';

const numbers = z.array(z.number());
const attribute = z.union([z.number(), z.string(), numbers]);

/** Version 2 of what sklearnExport.py writes: a graph of ONNX's operators in double precision, over one row of features `x`. */
const schema = z.strictObject({
  format: z.literal('windjammer-sklearn'),
  formatVersion: z.literal(2),
  sklearnVersion: z.string(),
  name: z.string().min(1).max(100),
  estimator: z.string().min(1),
  features: z
    .int()
    .min(1)
    .max(2 ** 24),
  takesMissing: z.boolean(),
  classes: z.array(z.string().min(1)).min(2).optional(),
  nodes: z
    .array(
      z.strictObject({
        op: z.string(),
        domain: z.string(),
        inputs: z.array(z.string()),
        outputs: z.array(z.string()).min(1),
        attributes: z.record(z.string(), attribute),
      }),
    )
    .min(1),
  constants: z.record(
    z.string(),
    z.strictObject({
      dims: z.array(z.int().min(0)),
      type: z.literal([7, 11]),
      values: numbers.optional(),
      /** The same as the bytes of doubles, little-endian. */
      base64: z.string().optional(),
    }),
  ),
  /** Of a model that takes texts: how a query becomes `x`. */
  encoding: z
    .strictObject({
      columns: z.array(z.string().min(1)).min(1).optional(),
      parts: encodingSchema.shape.parts,
    })
    .optional(),
  outputs: z.union([
    z.strictObject({ values: z.string() }),
    z.strictObject({ decisions: z.string(), scores: z.string() }),
  ]),
  golden: z.array(
    z.strictObject({
      input: goldenInput,
      label: z.string().optional(),
      scores: numbers.optional(),
    }),
  ),
});

const AGAIN = 'export the model again with sklearnExport.py';
const OPERATOR_SET = 18;

/** @param json of format version 2 */
export function importSklearnGraph(
  json: unknown,
  file: string,
  options: SklearnImportOptions,
): ImportedModel {
  const parsed = schema.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new ModelError(
      'importInvalid',
      file,
      fieldPath(issue.path) || undefined,
      `${issue.message}; ${AGAIN}`,
    );
  }
  const source = parsed.data;
  const fail = (field: string, problem: string): never => {
    throw new ModelError('importInvalid', file, field, `${problem}; ${AGAIN}`);
  };
  const { outputs, classes, features } = source;
  const names = 'values' in outputs ? [outputs.values] : [outputs.decisions, outputs.scores];
  const graph: OnnxGraph = {
    name: source.name,
    nodes: source.nodes.map(({ op, domain, inputs, outputs: made, attributes }) => ({
      name: '',
      opType: op,
      domain,
      inputs,
      outputs: made,
      attributes: new Map(
        Object.entries(attributes).map(([name, value]) => [name, attributeOf(name, value)]),
      ),
    })),
    initializers: Object.entries(source.constants).map(([name, { dims, type, values: listed, base64 }]) => {
      const values = listed ?? doublesOf(base64 ?? '');
      const elements = dims.reduce((product, extent) => product * extent, 1);
      if (elements !== values.length)
        fail(`constants.${name}`, `${values.length} values for the shape [${dims.join(', ')}]`);
      return { name, dims, dataType: type, values: Float64Array.from(values) };
    }),
    inputs: [{ name: 'x', elementType: DOUBLE, shape: ['', features] }],
    outputs: [...new Set(names)].map((name) => ({ name, elementType: DOUBLE, shape: undefined })),
    opset: OPERATOR_SET,
    producer: 'scikit-learn',
    functionDomains: new Set(),
  };
  const { encoding } = source;
  const draft = new ModelDraft(encoding === undefined ? options.inputType : 'doubles', [features]);
  if (encoding !== undefined) {
    const { columns, parts } = encoding;
    draft.encoding = { columns, encoding: { encodingVersion: 1, parts } };
    const width = encodedWidth(draft.encoding.encoding);
    if (width !== features) fail('encoding.parts', `they make ${width} numbers of ${features}`);
  }
  draft.takesMissing =
    encoding === undefined &&
    source.takesMissing &&
    (options.inputType === 'doubles' || options.inputType === 'floats');
  const tensors = emitGraph(draft, graph, file);
  const made = (place: number): Tensor => distinct(draft, tensors[Math.min(place, tensors.length - 1)]);
  const common = {
    name: options.name ?? source.name,
    description: `${source.estimator} of scikit-learn ${source.sklearnVersion}`,
    maxBatchSize: options.maxBatchSize,
    ...(encoding?.columns === undefined ? {} : { inputs: columnTensors(encoding.columns, encoding.parts) }),
    ...(source.golden.length === 0 ? {} : { golden: { tolerance: 1e-5, cases: source.golden } }),
  };
  if ('values' in outputs)
    return finishModel(draft, { ...common, answer: { kind: 'values', output: { tensor: made(0) } } });
  const [decisions, scores] = [made(0), made(1)];
  const labels = classes ?? fail('classes', 'a classifier has classes');
  for (const { name, width } of [decisions, scores]) {
    if (width !== labels.length) fail('classes', `${labels.length} classes, and ${width} values of ${name}`);
  }
  return finishModel(draft, {
    ...common,
    answer: { kind: 'argmax', output: { tensor: decisions }, labels, scores: { tensor: scores } },
  });
}

/** Columns as tensors: texts, unless all that is read of one is a number. */
function columnTensors(columns: readonly string[], parts: readonly EncodingPart[]): NamedTensor[] {
  return columns.map((name, column) => {
    const own = parts.filter((part) => part.column === column);
    const isNumber = (part: EncodingPart): boolean =>
      part.kind === 'number' ||
      (part.kind === 'category' && part.categories.every((category) => typeof category === 'number'));
    return { name, datatype: own.length > 0 && own.every(isNumber) ? 'FP64' : 'BYTES', shape: [1] };
  });
}

/** The input itself is no output: a copy of it is. */
function distinct(draft: ModelDraft, tensor: Tensor): Tensor {
  if (tensor !== draft.input) return tensor;
  return addConversion(
    draft,
    { pointer: pointerTo(tensor), stride: tensor.width, element: tensor.element },
    tensor.width,
    'f64',
  );
}

function doublesOf(base64: string): Float64Array {
  const bytes = Buffer.from(base64, 'base64');
  return new Float64Array(new Uint8Array(bytes).buffer, 0, Math.floor(bytes.length / 8));
}

function attributeOf(name: string, value: number | string | number[]): OnnxAttribute {
  const none = {
    name,
    float: 0,
    integer: 0,
    text: '',
    tensor: undefined,
    floats: [],
    integers: [],
    texts: [],
  };
  if (typeof value === 'number') return { ...none, float: value, integer: value };
  return typeof value === 'string' ? { ...none, text: value } : { ...none, floats: value, integers: value };
}
