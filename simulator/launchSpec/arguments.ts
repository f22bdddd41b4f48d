import { typeBits, type IrFunction, type IrParameter } from '../ptx/index.js';
import { LaunchSpecError } from './launchSpecError.js';
import type { LaunchArgument } from './schema.js';

/**
 * Lays arguments out in the kernel's parameter space. `addressOf` gives the device address of the buffer at a place in
 * the list.
 * @throws LaunchSpecError when number, sizes or types differ from the kernel's parameters, or a pointer leads to no
 * buffer.
 */
export function packArguments(
  kernel: IrFunction,
  args: readonly LaunchArgument[],
  addressOf: (index: number) => number | undefined,
): Uint8Array {
  if (args.length !== kernel.parameters.length) {
    throw new LaunchSpecError(
      'invalidSpec',
      `args: ${args.length} given, but '${kernel.name}' takes ${kernel.parameters.length}`,
      'args',
    );
  }
  const bytes = new Uint8Array(kernel.parameterBytes);
  const view = new DataView(bytes.buffer);
  args.forEach((argument, index) => {
    const parameter = kernel.parameters[index];
    const size = argumentBytes(argument);
    if (size !== parameter.bytes) {
      throw new LaunchSpecError(
        'invalidSpec',
        `args[${index}]: ${Object.keys(argument)[0]} has ${size} bytes, but parameter ${index} of '${kernel.name}' has ${parameter.bytes}`,
        `args[${index}]`,
      );
    }
    const fitting = fittingKinds(parameter);
    const [kind = ''] = Object.keys(argument);
    if (fitting !== undefined && !fitting.includes(kind)) {
      throw new LaunchSpecError(
        'invalidSpec',
        `args[${index}]: ${kind} given, but parameter ${index} of '${kernel.name}' is .${parameter.type}; give ${fitting.join(' or ')}`,
        `args[${index}]`,
      );
    }
    write(view, parameter.offset, argument, index, addressOf);
  });
  return bytes;
}

/**
 * Kinds of argument of the parameter's own size that it may take, by its type; undefined for all. Types of bits, and
 * arrays (structures), say nothing of what they hold.
 */
function fittingKinds({ type, bytes }: IrParameter): readonly string[] | undefined {
  if (bytes * 8 !== typeBits(type) || (type.startsWith('b') && !type.startsWith('bf'))) return undefined;
  if (type === 'f32' || type === 'f64') return [type];
  if (bytes === 2) return ['u16'];
  return bytes === 4 ? ['i32', 'u32'] : ['i64', 'u64', 'buffer', 'pointer'];
}

function argumentBytes(argument: LaunchArgument): number {
  if ('u16' in argument) return 2;
  return 'i32' in argument || 'u32' in argument || 'f32' in argument ? 4 : 8;
}

function write(
  view: DataView,
  offset: number,
  argument: LaunchArgument,
  index: number,
  addressOf: (index: number) => number | undefined,
): void {
  if ('i32' in argument) view.setInt32(offset, Number(argument.i32), true);
  else if ('u32' in argument) view.setUint32(offset, Number(argument.u32), true);
  else if ('u16' in argument) view.setUint16(offset, Number(argument.u16), true);
  else if ('f32' in argument) view.setFloat32(offset, Number(argument.f32), true);
  else if ('f64' in argument) view.setFloat64(offset, Number(argument.f64), true);
  else if ('i64' in argument) view.setBigInt64(offset, BigInt(argument.i64), true);
  else if ('u64' in argument) view.setBigUint64(offset, BigInt(argument.u64), true);
  else if ('buffer' in argument) view.setBigUint64(offset, BigInt(addressOf(index) ?? 0), true);
  else {
    const { of, offsetBytes } = argument.pointer;
    const base = addressOf(of);
    if (base === undefined) {
      throw new LaunchSpecError(
        'invalidSpec',
        `args[${index}].pointer.of: argument ${of} is no buffer`,
        `args[${index}].pointer.of`,
      );
    }
    view.setBigUint64(offset, BigInt(base) + BigInt(offsetBytes), true);
  }
}
