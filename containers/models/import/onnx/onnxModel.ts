import { ModelError } from '../../modelError.js';
import { ExternalData, type ExternalEntry } from './externalData.js';
import {
  BFLOAT16,
  FLOAT16,
  MOST_VALUES,
  READ_TYPES,
  STRING,
  brainFloatOf,
  halfOf,
  typeName,
} from './tensorValues.js';
import { ProtobufError, ProtobufReader } from './protobuf.js';

/** The part of ONNX's messages that an import reads; names and numbers are those of onnx.proto. */
export interface OnnxTensor {
  readonly name: string;
  readonly dims: readonly number[];
  /** A DataType: 1 float, 6 int32, 7 int64, 11 double, … */
  readonly dataType: number;
  /** Of strings: places in `texts`. */
  readonly values: Float64Array;
  readonly texts?: readonly string[];
}

export interface OnnxAttribute {
  readonly name: string;
  readonly float: number;
  readonly integer: number;
  readonly text: string;
  readonly tensor: OnnxTensor | undefined;
  /** The nodes of a branch. */
  readonly graph?: OnnxBranch | undefined;
  readonly floats: readonly number[];
  readonly integers: readonly number[];
  readonly texts: readonly string[];
}

/** A graph within a node: it reads the values around it too. */
export type OnnxBranch = Pick<OnnxGraph, 'nodes' | 'initializers' | 'outputs'>;

export interface OnnxNode {
  readonly name: string;
  readonly opType: string;
  readonly domain: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: ReadonlyMap<string, OnnxAttribute>;
}

/** An extent is a number, or the name of one that is known at run time only ('' when it has no name). */
export type OnnxExtent = number | string;

export interface OnnxValueInfo {
  readonly name: string;
  /** 0: it is no tensor. */
  readonly elementType: number;
  /** Undefined when the file leaves even the rank open. */
  readonly shape: readonly OnnxExtent[] | undefined;
}

export interface OnnxGraph {
  readonly name: string;
  readonly nodes: readonly OnnxNode[];
  readonly initializers: readonly OnnxTensor[];
  readonly inputs: readonly OnnxValueInfo[];
  readonly outputs: readonly OnnxValueInfo[];
  /** Version of the default operator set. */
  readonly opset: number;
  /** Domains of functions that the file brings along. */
  readonly functionDomains: ReadonlySet<string>;
  readonly producer: string;
}

/**
 * Reads a .onnx file.
 * @param folder where tensors may have their data in files of their own; undefined: nowhere.
 * @throws ModelError `importInvalid` for damage, `importUnsupported` naming what is not read.
 */
export function readOnnx(bytes: Uint8Array, file: string, folder?: string): OnnxGraph {
  try {
    return new OnnxReader(file, new ExternalData(file, folder)).model(new ProtobufReader(bytes));
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error;
    throw new ModelError(
      'importInvalid',
      file,
      undefined,
      `no whole ONNX file: ${error.message}; write or copy it again`,
    );
  }
}

/** Reads a TensorProto by itself, as ONNX's tests have inputs and outputs. @throws ModelError */
export function readOnnxTensor(bytes: Uint8Array, file: string): OnnxTensor {
  return new OnnxReader(file, new ExternalData(file, undefined)).tensor(new ProtobufReader(bytes), true);
}

type GraphParts = Omit<OnnxGraph, 'opset' | 'producer' | 'functionDomains'>;

/** Branches within branches: deeper ones are no model. */
const MOST_BRANCHES = 16;

class OnnxReader {
  private depth = 0;

  constructor(
    private readonly file: string,
    private readonly external: ExternalData,
  ) {}

  model(reader: ProtobufReader): OnnxGraph {
    let graph: GraphParts | undefined;
    let opset = 0;
    let producer = '';
    const functionDomains = new Set<string>();
    while (reader.next()) {
      if (reader.field === 2) producer = reader.text();
      else if (reader.field === 7) graph = this.graph(reader.message());
      else if (reader.field === 8) {
        const { domain, version } = operatorSet(reader.message());
        if (domain === '' || domain === 'ai.onnx') opset = version;
      } else if (reader.field === 25) functionDomains.add(functionDomain(reader.message()));
      else reader.skip();
    }
    if (graph === undefined) {
      throw new ModelError('importInvalid', this.file, 'graph', 'there is none: this is no ONNX model');
    }
    return { ...graph, opset, producer, functionDomains };
  }

  private graph(reader: ProtobufReader): GraphParts {
    let name = '';
    const nodes: OnnxNode[] = [];
    const initializers: OnnxTensor[] = [];
    const inputs: OnnxValueInfo[] = [];
    const outputs: OnnxValueInfo[] = [];
    while (reader.next()) {
      if (reader.field === 1) nodes.push(this.node(reader.message()));
      else if (reader.field === 2) name = reader.text();
      else if (reader.field === 5) initializers.push(this.tensor(reader.message()));
      else if (reader.field === 11) inputs.push(valueInfo(reader.message()));
      else if (reader.field === 12) outputs.push(valueInfo(reader.message()));
      else if (reader.field === 15) {
        throw new ModelError(
          'importUnsupported',
          this.file,
          'graph.sparse_initializer',
          'store the weights dense',
        );
      } else reader.skip();
    }
    return { name, nodes, initializers, inputs, outputs };
  }

  private branch(reader: ProtobufReader): OnnxBranch {
    if (this.depth >= MOST_BRANCHES)
      this.invalid('graph.node', `graphs lie within one another more than ${MOST_BRANCHES} deep`);
    this.depth++;
    const branch = this.graph(reader);
    this.depth--;
    return branch;
  }

  private node(reader: ProtobufReader): OnnxNode {
    const node = { name: '', opType: '', domain: '' };
    const inputs: string[] = [];
    const outputs: string[] = [];
    const attributes = new Map<string, OnnxAttribute>();
    while (reader.next()) {
      if (reader.field === 1) inputs.push(reader.text());
      else if (reader.field === 2) outputs.push(reader.text());
      else if (reader.field === 3) node.name = reader.text();
      else if (reader.field === 4) node.opType = reader.text();
      else if (reader.field === 7) node.domain = reader.text();
      else if (reader.field === 5) {
        const attribute = this.attribute(reader.message());
        attributes.set(attribute.name, attribute);
      } else reader.skip();
    }
    return { ...node, inputs, outputs, attributes };
  }

  private attribute(reader: ProtobufReader): OnnxAttribute {
    const attribute = { name: '', float: 0, integer: 0, text: '' };
    let tensor: OnnxTensor | undefined;
    let graph: OnnxBranch | undefined;
    const floats: number[] = [];
    const integers: number[] = [];
    const texts: string[] = [];
    while (reader.next()) {
      if (reader.field === 1) attribute.name = reader.text();
      else if (reader.field === 2) attribute.float = reader.float();
      else if (reader.field === 3) attribute.integer = reader.integer();
      else if (reader.field === 4) attribute.text = reader.text();
      else if (reader.field === 5) tensor = this.tensor(reader.message());
      else if (reader.field === 6) graph = this.branch(reader.message());
      else if (reader.field === 7) reader.floats(floats);
      else if (reader.field === 8) reader.integers(integers);
      else if (reader.field === 9) texts.push(reader.text());
      else reader.skip();
    }
    return { ...attribute, tensor, graph, floats, integers, texts };
  }

  /** @param takesMissing NaN is taken, which no weight is */
  tensor(reader: ProtobufReader, takesMissing = false): OnnxTensor {
    let name = '';
    let dataType = 0;
    const dims: number[] = [];
    const listed: number[] = [];
    const texts: string[] = [];
    let raw: Uint8Array | undefined;
    let isExternal = false;
    const entry: Partial<Record<string, string>> = {};
    while (reader.next()) {
      if (reader.field === 1) reader.integers(dims);
      else if (reader.field === 2) dataType = reader.integer();
      else if (reader.field === 4) reader.floats(listed);
      else if (reader.field === 5 || reader.field === 7 || reader.field === 11) reader.integers(listed);
      else if (reader.field === 6) texts.push(reader.text());
      else if (reader.field === 8) name = reader.text();
      else if (reader.field === 9) raw = reader.data();
      else if (reader.field === 10) reader.doubles(listed);
      else if (reader.field === 13) {
        const [key, value] = keyAndValue(reader.message());
        entry[key] = value;
      } else if (reader.field === 14) isExternal = reader.integer() === 1;
      else reader.skip();
    }
    const field = `initializer '${name}'`;
    const elements = this.elements(dims, field);
    if (dataType === STRING) {
      if (texts.length !== elements) {
        this.invalid(field, `${texts.length} strings for the shape [${dims.join(', ')}]`);
      }
      return { name, dims, dataType, values: Float64Array.from(texts, (_, place) => place), texts };
    }
    const type = this.typeOf(dataType, field);
    const { bytes } = type;
    // Some writers name the file alone.
    isExternal ||= entry.location !== undefined && raw === undefined && listed.length === 0;
    if (isExternal) raw = this.external.read(externalEntry(entry), elements * bytes, field);
    if (raw !== undefined && raw.length % bytes !== 0) {
      this.invalid(field, `${raw.length} bytes are no whole number of values`);
    }
    const bitsOf = dataType === FLOAT16 ? halfOf : dataType === BFLOAT16 ? brainFloatOf : undefined;
    const values =
      raw === undefined
        ? Float64Array.from(bitsOf === undefined ? listed : listed.map(bitsOf))
        : type.read(raw);
    if (values.length !== elements) {
      this.invalid(
        field,
        `${values.length} values for the shape [${dims.join(', ')}]; write or copy the file again`,
      );
    }
    // Infinities are there on purpose, in masks and bounds.
    const bad = takesMissing ? -1 : values.findIndex(Number.isNaN);
    if (bad >= 0) this.invalid(field, `value ${bad} is ${values[bad]}; train the model again`);
    return { name, dims, dataType, values };
  }

  private elements(dims: readonly number[], field: string): number {
    const shape = `the shape [${dims.join(', ')}]`;
    if (dims.some((extent) => extent < 0)) this.invalid(field, `${shape} has an extent below 0`);
    const elements = dims.reduce((product, extent) => product * extent, 1);
    if (elements > MOST_VALUES) {
      throw new ModelError(
        'importUnsupported',
        this.file,
        field,
        `${shape} has more than ${MOST_VALUES} values`,
      );
    }
    return elements;
  }

  private typeOf(dataType: number, field: string): (typeof READ_TYPES)[number] {
    if (Object.hasOwn(READ_TYPES, dataType)) return READ_TYPES[dataType];
    throw new ModelError(
      'importUnsupported',
      this.file,
      field,
      `holds ${typeName(dataType)}, which is not read: convert the model to float`,
    );
  }

  private invalid(field: string, problem: string): never {
    throw new ModelError('importInvalid', this.file, field, problem);
  }
}

function externalEntry({ location = '', offset, length }: Partial<Record<string, string>>): ExternalEntry {
  return {
    location,
    ...(offset === undefined ? {} : { offset }),
    ...(length === undefined ? {} : { length }),
  };
}

/** A StringStringEntryProto. */
function keyAndValue(reader: ProtobufReader): [string, string] {
  let key = '';
  let value = '';
  while (reader.next()) {
    if (reader.field === 1) key = reader.text();
    else if (reader.field === 2) value = reader.text();
    else reader.skip();
  }
  return [key, value];
}

/** Of a FunctionProto. */
function functionDomain(reader: ProtobufReader): string {
  let domain = '';
  while (reader.next()) {
    if (reader.field === 10) domain = reader.text();
    else reader.skip();
  }
  return domain;
}

function operatorSet(reader: ProtobufReader): { domain: string; version: number } {
  let domain = '';
  let version = 0;
  while (reader.next()) {
    if (reader.field === 1) domain = reader.text();
    else if (reader.field === 2) version = reader.integer();
    else reader.skip();
  }
  return { domain, version };
}

function valueInfo(reader: ProtobufReader): OnnxValueInfo {
  let name = '';
  let elementType = 0;
  let shape: readonly OnnxExtent[] | undefined;
  const readTensorType = (tensor: ProtobufReader): void => {
    while (tensor.next()) {
      if (tensor.field === 1) elementType = tensor.integer();
      else if (tensor.field === 2) shape = extents(tensor.message());
      else tensor.skip();
    }
  };
  while (reader.next()) {
    if (reader.field === 1) name = reader.text();
    else if (reader.field === 2) {
      const type = reader.message();
      while (type.next()) {
        if (type.field === 1) readTensorType(type.message());
        else type.skip();
      }
    } else reader.skip();
  }
  return { name, elementType, shape };
}

function extents(reader: ProtobufReader): OnnxExtent[] {
  const shape: OnnxExtent[] = [];
  while (reader.next()) {
    if (reader.field !== 1) {
      reader.skip();
      continue;
    }
    const extent = reader.message();
    let value: OnnxExtent = '';
    while (extent.next()) {
      if (extent.field === 1) value = extent.integer();
      else if (extent.field === 2) value = extent.text();
      else extent.skip();
    }
    shape.push(value);
  }
  return shape;
}
