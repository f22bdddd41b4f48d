import { dialectOf } from './dialect.js';
import type { Token } from './lexer.js';
import type { TokenStream } from './tokenStream.js';

export interface ModuleHeader {
  /** As it is written, `8.3`. */
  readonly version: string;
  readonly targets: readonly string[];
}

/** Last minor version of each major one, from 1 on: PTX 9.5 came with CUDA 13.5. */
const lastMinors = [5, 3, 2, 3, 1, 5, 8, 8, 5];

/**
 * First PTX version of each architecture, 708 of 7.8, as ptxas of CUDA 13.0 has it; of sm_107 is known that 9.0 does not
 * have it.
 */
const firstVersions: Readonly<Partial<Record<string, number>>> = {
  ...{ '10': 100, '11': 100, '12': 102, '13': 102, '20': 200, '21': 200 },
  ...{ '30': 300, '32': 400, '35': 301, '37': 401, '50': 400, '52': 401, '53': 402 },
  ...{ '60': 500, '61': 500, '62': 500, '70': 501, '72': 601, '75': 603 },
  ...{ '80': 700, '82': 602, '86': 701, '87': 704, '88': 703, '89': 708, '90': 708, '90a': 800 },
  ...{ '100': 806, '100a': 806, '100f': 808, '101': 806, '101a': 806, '101f': 808 },
  ...{ '103': 808, '103a': 808, '103f': 808, '107': 901, '107a': 901, '107f': 901 },
  ...{ '110': 900, '110a': 900, '110f': 900, '120': 807, '120a': 807, '120f': 808 },
  ...{ '121': 808, '121a': 808, '121f': 808 },
};

const options = new Set(['texmode_unified', 'texmode_independent', 'debug', 'map_f64_to_f32']);
const knownTargets = 'a known target such as sm_90 (sm_10 to sm_121, some with a or f behind the number)';

/** `.version`, `.target` and `.address_size`: they also say which dialect the stream is of. @throws PtxParseError */
export function parseHeader(stream: TokenStream): ModuleHeader {
  stream.expect('.version', 'at the start of a PTX text');
  const version = parseVersion(stream);
  stream.expect('.target', 'after the version');
  const targets: string[] = [];
  do targets.push(parseTarget(stream, version));
  while (stream.accept(','));
  if (targets.every((each) => options.has(each)))
    stream.fail('a target architecture such as sm_90 beside the options');
  stream.dialect = dialectOf(version, targets);
  if (stream.is('.address_size')) parseAddressSize(stream);
  return { version, targets };
}

function parseVersion(stream: TokenStream): string {
  const token = stream.peek();
  const [, major = 0, minor = 0] = /^(\d)\.(\d)$/.exec(token.text)?.map(Number) ?? [];
  if (token.kind === 'number' && minor <= (lastMinors[major - 1] ?? -1)) return stream.next().text;
  const newest = `${lastMinors.length}.${lastMinors.at(-1)}`;
  if (!/^\d+\.\d+$/.test(token.text)) return stream.fail(`a PTX version such as 9.0 (1.0 to ${newest})`);
  return stream.fail(
    `a PTX version that is known, 1.0 to ${newest} (9.0 is what nvcc of CUDA 13.0 writes)`,
    token,
    'unsupported',
  );
}

function parseTarget(stream: TokenStream, version: string): string {
  const token = stream.word('a target such as sm_90');
  if (options.has(token.text)) return token.text;
  const first = firstVersions[/^(?:sm|compute)_(\d+[af]?)$/.exec(token.text)?.[1] ?? ''];
  if (first === undefined) return stream.fail(knownTargets, token, 'unsupported');
  checkTargetVersion(stream, token, first, version);
  return token.text;
}

function checkTargetVersion(stream: TokenStream, token: Token, first: number, version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major * 100 + minor >= first) return;
  const needed = `${Math.floor(first / 100)}.${first % 100}`;
  stream.fail(`.version ${needed} or later for this target, not ${version}`, token);
}

function parseAddressSize(stream: TokenStream): void {
  stream.next();
  const token = stream.peek();
  const wanted = '64 after .address_size: addresses of kernels here have 64 bits (nvcc -m64)';
  if (token.kind !== 'number' || stream.integer(wanted) !== 64n)
    stream.fail(wanted, token, token.text === '32' ? 'unsupported' : 'syntax');
}
