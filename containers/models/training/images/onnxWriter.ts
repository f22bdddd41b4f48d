/** Writes ONNX files for tests and experiments: the fields of onnx.proto by number, in the order in which they are asked for. */
export type Field = readonly [
  number: number,
  value: number | string | Uint8Array | Float32Array | readonly Field[],
];

/** A number becomes a varint, a one-element Float32Array a fixed32, everything else bytes with a length. */
export function message(fields: readonly Field[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const [number, value] of fields) {
    if (typeof value === 'number') parts.push(Uint8Array.from([...varint(number * 8), ...varint(value)]));
    else if (value instanceof Float32Array && value.length === 1) {
      parts.push(Uint8Array.from(varint(number * 8 + 5)), new Uint8Array(value.slice().buffer));
    } else {
      const bytes = bytesOf(value);
      parts.push(Uint8Array.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes);
    }
  }
  return new Uint8Array(Buffer.concat(parts));
}

function bytesOf(value: string | Uint8Array | Float32Array | readonly Field[]): Uint8Array {
  if (typeof value === 'string') return new TextEncoder().encode(value);
  if (value instanceof Uint8Array) return value;
  if (value instanceof Float32Array) return new Uint8Array(value.slice().buffer);
  return message(value);
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  return [...bytes, Number(rest)];
}

/** A list of floats or of texts. */
export type ListAttribute = { readonly floats: readonly number[] } | { readonly texts: readonly string[] };

/** Nodes of a branch, with the names of its results. */
export interface BranchAttribute {
  readonly nodes: readonly NodeSpec[];
  readonly results: readonly string[];
}

export interface NodeSpec {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly output: string;
  /** Behind the first. */
  readonly moreOutputs?: readonly string[];
  readonly name?: string;
  readonly domain?: string;
  /** Numbers are whole, { float } is not; lists are of whole numbers. */
  readonly attributes?: Readonly<
    Record<
      string,
      number | string | { readonly float: number } | readonly number[] | ListAttribute | BranchAttribute
    >
  >;
}

export interface TensorSpec {
  readonly dims: readonly number[];
  readonly values: readonly number[] | Float32Array;
  /** Whole numbers, as shapes are. */
  readonly isInteger?: boolean;
  /** Data in a list of fields in place of one piece of bytes. */
  readonly isListed?: boolean;
}

export interface ModelSpec {
  readonly nodes: readonly NodeSpec[];
  readonly initializers?: Readonly<Record<string, TensorSpec>>;
  readonly inputs?: Readonly<Record<string, readonly (number | string)[]>>;
  readonly outputs?: readonly string[];
  readonly opset?: number;
  readonly inputElement?: number;
  /** Of single inputs. */
  readonly inputElements?: Readonly<Record<string, number>>;
  /** More fields of the graph. */
  readonly more?: readonly Field[];
}

export function onnxFile(spec: ModelSpec): Uint8Array {
  const { nodes, initializers = {}, inputs = { x: ['N', 4] }, outputs = ['y'], opset = 13 } = spec;
  const graph: Field[] = [
    ...nodes.map((node): Field => [1, nodeFields(node)]),
    [2, 'graph'],
    ...Object.entries(initializers).map(([name, tensor]): Field => [5, tensorFields(name, tensor)]),
    ...Object.entries(inputs).map(([name, shape]): Field => [
      11,
      valueFields(name, shape, spec.inputElements?.[name] ?? spec.inputElement ?? 1),
    ]),
    ...outputs.map((name): Field => [12, valueFields(name, ['N', 'M'], 1)]),
    ...(spec.more ?? []),
  ];
  return message([
    [1, 8],
    [2, 'a test'],
    [7, graph],
    [8, [[2, opset]]],
  ]);
}

function nodeFields({
  op,
  inputs,
  output,
  moreOutputs = [],
  name,
  domain,
  attributes = {},
}: NodeSpec): Field[] {
  return [
    ...inputs.map((input): Field => [1, input]),
    [2, output],
    ...moreOutputs.map((more): Field => [2, more]),
    [3, name ?? ''],
    [4, op],
    ...Object.entries(attributes).map(([key, value]): Field => [5, attributeFields(key, value)]),
    ...(domain === undefined ? [] : [[7, domain] as Field]),
  ];
}

/** AttributeProto's `type` matters to other readers: 1 float, 2 int, 3 string, 7 ints. */
function attributeFields(
  name: string,
  value: number | string | { readonly float: number } | readonly number[] | ListAttribute | BranchAttribute,
): Field[] {
  if (typeof value === 'number')
    return [
      [1, name],
      [3, value],
      [20, 2],
    ];
  if (typeof value === 'string')
    return [
      [1, name],
      [4, value],
      [20, 3],
    ];
  if ('nodes' in value) {
    const graph: Field[] = [
      ...value.nodes.map((node): Field => [1, nodeFields(node)]),
      ...value.results.map((result): Field => [12, [[1, result]]]),
    ];
    return [
      [1, name],
      [6, graph],
      [20, 5],
    ];
  }
  if ('floats' in value) {
    return [[1, name], ...value.floats.map((entry): Field => [7, Float32Array.of(entry)]), [20, 6]];
  }
  if ('texts' in value) return [[1, name], ...value.texts.map((entry): Field => [9, entry]), [20, 8]];
  if ('float' in value)
    return [
      [1, name],
      [2, Float32Array.of(value.float)],
      [20, 1],
    ];
  return [[1, name], ...value.map((entry): Field => [8, entry]), [20, 7]];
}

export function tensorFields(name: string, { dims, values, isInteger, isListed }: TensorSpec): Field[] {
  const head: Field[] = [
    ...dims.map((extent): Field => [1, extent]),
    [2, isInteger === true ? 7 : 1],
    [8, name],
  ];
  if (isInteger === true) {
    if (isListed === true) return [...head, ...Array.from(values, (value): Field => [7, value])];
    return [...head, [9, new Uint8Array(BigInt64Array.from(values, BigInt).buffer)]];
  }
  const floats = new Uint8Array(Float32Array.from(values).buffer);
  return [...head, [isListed === true ? 4 : 9, floats]];
}

function valueFields(name: string, shape: readonly (number | string)[], element: number): Field[] {
  const extents = shape.map((extent): Field => [
    1,
    typeof extent === 'number' ? [[1, extent]] : [[2, extent]],
  ]);
  return [
    [1, name],
    [
      2,
      [
        [
          1,
          [
            [1, element],
            [2, extents],
          ],
        ],
      ],
    ],
  ];
}
