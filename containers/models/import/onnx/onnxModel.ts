import { ModelError } from '../../modelError.js';
import { ExternalData, type ExternalEntry } from './externalData.js';
import { DATA_TYPES, MOST_VALUES, READ_TYPES } from './tensorValues.js';
import { ProtobufError, ProtobufReader } from './protobuf.js';

/** The part of ONNX's messages that an import reads; names and numbers are those of onnx.proto. */
export interface OnnxTensor {
  readonly name: string;
  readonly dims: readonly number[];
  /** A DataType: 1 float, 6 int32, 7 int64, 11 double. */
  readonly dataType: number;
  readonly values: Float64Array;
}

export interface OnnxAttribute {
  readonly name: string;
  readonly float: number;
  readonly integer: number;
  readonly text: string;
  readonly tensor: OnnxTensor | undefined;
  readonly floats: readonly number[];
  readonly integers: readonly number[];
}

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

class OnnxReader {
  constructor(
    private readonly file: string,
    private readonly external: ExternalData,
  ) {}

  model(reader: ProtobufReader): OnnxGraph {
    let graph: Omit<OnnxGraph, 'opset' | 'producer'> | undefined;
    let opset = 0;
    let producer = '';
    while (reader.next()) {
      if (reader.field === 2) producer = reader.text();
      else if (reader.field === 7) graph = this.graph(reader.message());
      else if (reader.field === 8) {
        const { domain, version } = operatorSet(reader.message());
        if (domain === '' || domain === 'ai.onnx') opset = version;
      } else reader.skip();
    }
    if (graph === undefined) {
      throw new ModelError('importInvalid', this.file, 'graph', 'there is none: this is no ONNX model');
    }
    return { ...graph, opset, producer };
  }

  private graph(reader: ProtobufReader): Omit<OnnxGraph, 'opset' | 'producer'> {
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
    const floats: number[] = [];
    const integers: number[] = [];
    while (reader.next()) {
      if (reader.field === 1) attribute.name = reader.text();
      else if (reader.field === 2) attribute.float = reader.float();
      else if (reader.field === 3) attribute.integer = reader.integer();
      else if (reader.field === 4) attribute.text = reader.text();
      else if (reader.field === 5) tensor = this.tensor(reader.message());
      else if (reader.field === 7) reader.floats(floats);
      else if (reader.field === 8) reader.integers(integers);
      else reader.skip();
    }
    return { ...attribute, tensor, floats, integers };
  }

  private tensor(reader: ProtobufReader): OnnxTensor {
    let name = '';
    let dataType = 0;
    const dims: number[] = [];
    const listed: number[] = [];
    let raw: Uint8Array | undefined;
    let isExternal = false;
    const entry: Partial<Record<string, string>> = {};
    while (reader.next()) {
      if (reader.field === 1) reader.integers(dims);
      else if (reader.field === 2) dataType = reader.integer();
      else if (reader.field === 4) reader.floats(listed);
      else if (reader.field === 5 || reader.field === 7) reader.integers(listed);
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
    const type = this.typeOf(dataType, field);
    const { bytes } = type;
    // Some writers name the file alone.
    isExternal ||= entry.location !== undefined && raw === undefined && listed.length === 0;
    if (isExternal) raw = this.external.read(externalEntry(entry), elements * bytes, field);
    if (raw !== undefined && raw.length % bytes !== 0) {
      this.invalid(field, `${raw.length} bytes are no whole number of values`);
    }
    const values = raw === undefined ? Float64Array.from(listed) : type.read(raw);
    if (values.length !== elements) {
      this.invalid(
        field,
        `${values.length} values for the shape [${dims.join(', ')}]; write or copy the file again`,
      );
    }
    const bad = values.findIndex((value) => !Number.isFinite(value));
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
      `holds ${DATA_TYPES[dataType] ?? `data type ${dataType}`}, only float, double, int32 and int64 are read: convert the model to float`,
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
