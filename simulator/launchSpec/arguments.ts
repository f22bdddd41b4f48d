import type { IrFunction } from '../ptx/index.js';
import { LaunchSpecError } from './launchSpecError.js';
import type { LaunchArgument } from './schema.js';

/**
 * Lays arguments out in the kernel's parameter space. `addressOf` gives the device address of the buffer at a place in
 * the list.
 * @throws LaunchSpecError when number or sizes differ from the kernel's parameters, or a pointer leads to no buffer.
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
    write(view, parameter.offset, argument, index, addressOf);
  });
  return bytes;
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
  if ('i32' in argument) view.setInt32(offset, argument.i32, true);
  else if ('u32' in argument) view.setUint32(offset, argument.u32, true);
  else if ('u16' in argument) view.setUint16(offset, argument.u16, true);
  else if ('f32' in argument) view.setFloat32(offset, argument.f32, true);
  else if ('f64' in argument) view.setFloat64(offset, argument.f64, true);
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
    view.setBigUint64(offset, BigInt(base + offsetBytes), true);
  }
}
