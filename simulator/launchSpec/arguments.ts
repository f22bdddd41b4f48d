import { encodeTensorMap, TensorMapError } from '../tensorMaps/index.js';
import { typeBits, type IrFunction, type IrParameter } from '../ptx/index.js';
import type {
  BufferSpec,
  LaunchArgument,
  PlacedValue,
  PointerSpec,
  SurfaceSpec,
  TensorMapSpec,
  TextureSpec,
} from './argumentSchema.js';
import { elements, storeElement, valueOfText } from './elementTypes.js';
import { generateElements } from './generators.js';
import { LaunchSpecError } from './launchSpecError.js';
import { kindOf, layOutStruct, scalarType, scalarValue, sizeOf } from './valueLayout.js';

/** Where the buffers of a spec lie. */
export interface SpecAddresses {
  buffer(spec: BufferSpec): number;
  /** @throws LaunchSpecError `invalidSpec` when it leads to no buffer or variable. */
  pointer(spec: PointerSpec, path: string): number;
  /** Makes an object and gives its handle. @throws LaunchSpecError naming the field that does not fit */
  object(spec: TextureSpec | SurfaceSpec, path: string): number;
}

/**
 * Lays arguments out in the kernel's parameter space.
 * @throws LaunchSpecError when number, sizes or types differ from the kernel's parameters, or a pointer leads to no
 * buffer.
 */
export function packArguments(
  kernel: IrFunction,
  args: readonly LaunchArgument[],
  addresses: SpecAddresses,
): Uint8Array {
  if (args.length !== kernel.parameters.length) {
    throw new LaunchSpecError(
      'invalidSpec',
      `args: ${args.length} given, but '${kernel.name}' takes ${kernel.parameters.length}`,
      'args',
    );
  }
  const packed = new Uint8Array(kernel.parameterBytes);
  args.forEach((argument, index) => {
    const parameter = kernel.parameters[index];
    const path = `args[${index}]`;
    const { bytes } = sizeOf(argument, path);
    const kind = kindOf(argument);
    if (bytes !== parameter.bytes) {
      throw new LaunchSpecError(
        'invalidSpec',
        `${path}: ${kind} has ${bytes} bytes, but parameter ${index} of '${kernel.name}' has ${parameter.bytes}`,
        path,
      );
    }
    const fitting = fittingKinds(parameter);
    if (fitting !== undefined && !fitting.includes(kind)) {
      throw new LaunchSpecError(
        'invalidSpec',
        `${path}: ${kind} given, but parameter ${index} of '${kernel.name}' is .${parameter.type}; give ${fitting.join(' or ')}`,
        path,
      );
    }
    writeValue(packed.subarray(parameter.offset, parameter.offset + bytes), argument, path, addresses);
  });
  return packed;
}

/**
 * Kinds of argument of the parameter's own size that it may take, by its type; undefined for all. Types of bits, and
 * arrays (structures), say nothing of what they hold.
 */
function fittingKinds({ type, bytes }: IrParameter): readonly string[] | undefined {
  if (bytes * 8 !== typeBits(type) || (type.startsWith('b') && !type.startsWith('bf'))) return undefined;
  if (type === 'f32' || type === 'f64') return [type];
  if (type === 'f16' || type === 'bf16') return [type, 'u16'];
  if (bytes === 1) return ['i8', 'u8'];
  if (bytes === 2) return ['i16', 'u16'];
  return bytes === 4 ? ['i32', 'u32'] : ['i64', 'u64', 'buffer', 'pointer', 'texture', 'surface'];
}

/** Writes a value to bytes of just its size; what no field covers stays as it is. */
export function writeValue(
  into: Uint8Array,
  value: PlacedValue,
  path: string,
  addresses: SpecAddresses,
): void {
  if ('struct' in value) {
    for (const field of layOutStruct(value.struct, `${path}.struct`).fields) {
      const part = into.subarray(field.offset, field.offset + field.bytes);
      writeValue(part, field.value, field.path, addresses);
    }
    return;
  }
  if ('array' in value) {
    const held = new Uint8Array(into.length);
    try {
      generateElements(value.array, 0, held);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new LaunchSpecError('invalidSpec', `${path}.array: ${error.message}; give smaller numbers`, path);
    }
    into.set(held);
    return;
  }
  if ('tensorMap' in value) {
    into.set(tensorMapBytes(value.tensorMap, `${path}.tensorMap`, addresses));
    return;
  }
  const view = new DataView(into.buffer, into.byteOffset, into.byteLength);
  if ('buffer' in value) view.setBigUint64(0, BigInt(addresses.buffer(value.buffer)), true);
  else if ('texture' in value || 'surface' in value) {
    const [kind, spec] = 'texture' in value ? ['texture', value.texture] : ['surface', value.surface];
    view.setBigUint64(0, BigInt(addresses.object(spec, `${path}.${kind}`)), true);
  } else if ('pointer' in value) {
    const base = addresses.pointer(value.pointer, `${path}.pointer`);
    view.setBigUint64(0, BigInt(base) + BigInt(value.pointer.offsetBytes), true);
  } else {
    const type = scalarType(value) ?? 'u64';
    const given = scalarValue(value, type);
    // Bytes of its own, since fields may lie where no typed array can begin.
    const own = new Uint8Array(into.length);
    storeElement(elements(type, own), 0, typeof given === 'string' ? valueOfText(given) : given);
    into.set(own);
  }
}

/** @throws LaunchSpecError `invalidSpec` for a map that no copy could follow */
function tensorMapBytes(spec: TensorMapSpec, path: string, addresses: SpecAddresses): Uint8Array {
  const base = spec.buffer === undefined ? addresses.pointer(spec, path) : addresses.buffer(spec.buffer);
  const address = base + spec.offsetBytes;
  try {
    return encodeTensorMap({ ...spec, address });
  } catch (error) {
    if (!(error instanceof TensorMapError)) throw error;
    const field = error.field === 'address' ? 'offsetBytes' : error.field;
    throw new LaunchSpecError('invalidSpec', `${path}.${error.message}`, `${path}.${field}`);
  }
}
