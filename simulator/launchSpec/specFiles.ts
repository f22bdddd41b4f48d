import { readFileSync } from 'node:fs';
import { readJsonFile } from '../files/index.js';
import { GpuError, findCard, type DeviceProfile } from '../gpu/index.js';
import { parseModule, type IrFunction } from '../ptx/index.js';
import { reasonOf } from '../text/index.js';
import { LaunchSpecError } from './launchSpecError.js';
import type { LaunchSpec } from './schema.js';

/**
 * The parsed JSON of a spec file, in which integers of 64 bits that no number holds are texts of their digits.
 * @throws LaunchSpecError `unreadableFile`.
 */
export function readSpec(path: string): unknown {
  try {
    return readJsonFile(path, quoteLongIntegers);
  } catch (error) {
    throw new LaunchSpecError('unreadableFile', `${path}: ${reasonOf(error)}`);
  }
}

/** Strings, which are left alone, and numbers of JSON. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;

function quoteLongIntegers(json: string): string {
  return json.replace(TOKENS, (token) =>
    /^-?\d{16,20}$/.test(token) && BigInt(Number(token)) !== BigInt(token) ? `"${token}"` : token,
  );
}

/**
 * The spec's device: a card by its name, or a file of one.
 * @param baseDir where a file's relative path starts
 * @throws LaunchSpecError `invalidSpec` when there is no such card, or the file is none
 */
export function deviceOf({ device }: Pick<LaunchSpec, 'device'>, baseDir: string): DeviceProfile {
  try {
    return findCard(device, baseDir).profile;
  } catch (error) {
    if (!(error instanceof GpuError)) throw error;
    throw new LaunchSpecError('invalidSpec', `device: ${error.message}`, 'device');
  }
}

/** Text of the spec's module. @throws LaunchSpecError `unreadableFile`. */
export function readPtx(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new LaunchSpecError('unreadableFile', `ptx: ${reasonOf(error)}`, 'ptx');
  }
}

/** The spec's kernel. @throws LaunchSpecError `invalidSpec` for PTX that does not parse and a name that it lacks. */
export function entryOf(ptx: string, spec: Pick<LaunchSpec, 'ptx' | 'kernel'>): IrFunction {
  let functions;
  try {
    ({ functions } = parseModule(ptx, spec.ptx));
  } catch (error) {
    throw new LaunchSpecError('invalidSpec', `ptx: ${reasonOf(error)}`, 'ptx');
  }
  const entries = functions.filter((candidate) => candidate.isEntry);
  const kernel = entries.find((candidate) => candidate.name === spec.kernel);
  if (kernel !== undefined) return kernel;
  throw new LaunchSpecError(
    'invalidSpec',
    `kernel: no entry '${spec.kernel}' in ${spec.ptx}; there are: ${entries.map((entry) => entry.name).join(', ')}`,
    'kernel',
  );
}
