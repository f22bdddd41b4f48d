import { readFileSync } from 'node:fs';
import { GpuError, findCard, type DeviceProfile } from '../gpu/index.js';
import { lowerModule, parseModule, PtxParseError, type IrModule } from '../ptx/index.js';
import { reasonOf } from '../text/index.js';
import { describeFlow } from './controlFlow.js';
import type { DisassembledFunction, Disassembly, DisassemblyOptions } from './disassembly.js';
import { DisassemblyError } from './disassemblyError.js';
import { describeResources } from './resources.js';

/** @throws DisassemblyError `unreadableFile`, and what `disassemble` throws. */
export function disassembleFile(path: string, options: DisassemblyOptions = {}): Disassembly {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new DisassemblyError('unreadableFile', `${path}: ${reasonOf(error)}`, { cause: error });
  }
  return disassemble(text, path, options);
}

/**
 * Describes a PTX text: its functions' code by blocks, what they need, and how many blocks an SM would hold.
 * @param file name of the source, for messages
 * @throws DisassemblyError when the text is not PTX or of a kind that nothing here runs (with file and line), or no such kernel or device exists
 */
export function disassemble(text: string, file: string, options: DisassemblyOptions = {}): Disassembly {
  const profile = profileOf(options.device ?? 'h200');
  const parsed = parse(text, file);
  const lowered = lowerModule(parsed);
  const isLowered = options.lowered === true;
  const names = namesOf(parsed, options.kernel);
  return {
    file,
    ptxVersion: parsed.ptxVersion,
    targets: parsed.targets,
    device: profile.name,
    lowered: isLowered,
    variables: parsed.variables.map(({ name, space, bytes, align }) => ({ name, space, bytes, align })),
    functions: names.map((name) => describe(name, parsed, lowered, profile, options)),
  };
}

function profileOf(device: string): DeviceProfile {
  try {
    return findCard(device, '.').profile;
  } catch (error) {
    if (error instanceof GpuError)
      throw new DisassemblyError('unknownDevice', error.message, { cause: error });
    throw error;
  }
}

function parse(text: string, file: string): IrModule {
  try {
    return parseModule(text, file);
  } catch (error) {
    if (error instanceof PtxParseError) {
      const code = error.code === 'unsupported' ? 'unsupported' : 'notPtx';
      throw new DisassemblyError(code, error.message, { cause: error });
    }
    throw error;
  }
}

function namesOf(ir: IrModule, kernel: string | undefined): string[] {
  const names = ir.functions.map(({ name }) => name);
  if (kernel === undefined) return names;
  if (names.includes(kernel)) return [kernel];
  throw new DisassemblyError(
    'unknownKernel',
    `no kernel '${kernel}' in ${ir.file}; there are: ${names.join(', ') || 'none'}`,
  );
}

function describe(
  name: string,
  parsed: IrModule,
  lowered: IrModule,
  profile: DeviceProfile,
  options: DisassemblyOptions,
): DisassembledFunction {
  const written = parsed.functions.find((fn) => fn.name === name);
  const executed = lowered.functions.find((fn) => fn.name === name) ?? written;
  if (written === undefined || executed === undefined) throw new RangeError(`no function ${name}`);
  const { isEntry, line, parameters, parameterBytes, directives } = written;
  const head = {
    name,
    isEntry,
    line,
    parameters: parameters.map(({ name: parameter, type, offset, bytes }) => ({
      name: parameter,
      type,
      offset,
      bytes,
    })),
    parameterBytes,
    directives,
  };
  const refusal = written.refusal ?? executed.refusal;
  if (refusal !== undefined) return { ...head, refusal };
  return {
    ...head,
    ...describeResources(executed, lowered, profile, options),
    ...describeFlow(options.lowered === true ? executed : written),
  };
}
