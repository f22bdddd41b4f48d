import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { reasonOf } from '../../../simulator/text/index.js';

/** What the floors and aims are meant for. */
export const FLAGS = '-O2 -march=native';

/** What the twins are compiled with and run on, as printed beside every figure. */
export interface Toolchain {
  readonly compiler: string;
  readonly flags: string;
  readonly cpu: string;
  readonly node: string;
}

/** @throws Error that says what to install when there is no compiler. */
export function toolchain(flags: string, gcc = 'gcc'): Toolchain {
  let version;
  try {
    version = execFileSync(gcc, ['--version'], { encoding: 'utf8' });
  } catch (error) {
    throw new Error(
      `the kernels are held against the same loop nests in C, but ${gcc} does not run (${reasonOf(error)}); ` +
        'install a C compiler: apt-get install gcc libc6-dev (Debian, Ubuntu), dnf install gcc glibc-devel (Fedora)',
    );
  }
  const compiler = version.split('\n', 1)[0] ?? '';
  return { compiler, flags, cpu: cpus()[0]?.model ?? 'unknown', node: process.version };
}

/** @throws Error with the compiler's messages. */
export function compileTwin(
  source: string,
  binary: string,
  flags: string | readonly string[],
  gcc = 'gcc',
): void {
  const given = typeof flags === 'string' ? flags.split(' ') : flags;
  execFileSync(gcc, [...given, source, '-o', binary, '-lm'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}
