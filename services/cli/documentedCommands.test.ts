import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../simulator/files/index.js';
import { windjammerProgram } from './program.js';

const ROOMS = ['docs', 'deploy', 'containers', 'simulator'];
const pages = ['README.md', ...ROOMS.flatMap(pagesUnder)];

function pagesUnder(room: string): readonly string[] {
  return readdirSync(join(packageRoot(), room), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(room, name));
}

/** Where options are listed. */
const REFERENCE = [
  'reference/cli',
  'reference/idempotency',
  'reference/kernelTables',
  'guides/loadtest',
  'guides/replay',
  'guides/security',
];

const textOf = (page: string): string => readFileSync(join(packageRoot(), page), 'utf8');

/** Command lines in blocks and in prose, without what is piped into or behind them. */
function commandLines(page: string): readonly string[] {
  const text = textOf(page).replace(/\\\n\s*/g, ' ');
  const inBlocks = [...text.matchAll(/^[ $]*(?:npx )?windjammer (.+)$/gm)];
  const inProse = [...text.matchAll(/`(?:npx )?windjammer ([^`]+)`/g)];
  return [...inBlocks, ...inProse].map(([, line]) => line.split(/ (?:#|\||>|&&|;|--) /)[0]);
}

/** The words of a line; what is quoted is one. */
const wordsOf = (line: string): readonly string[] => line.match(/'[^']*'|"[^"]*"|\S+/g) ?? [];

/** The command that words name, and those that are left. */
function named(command: Command, [first, ...others]: readonly string[]): [Command, readonly string[]] {
  const next = command.commands.find((one) => one.name() === first);
  return next === undefined ? [command, first === undefined ? [] : [first, ...others]] : named(next, others);
}

function leaves(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
}

const isWord = (word: string | undefined): boolean => /^[a-z][a-z-]*$/.test(word ?? '');

describe('the documentation of the command line', () => {
  let program: Command;
  beforeAll(async () => {
    program = await windjammerProgram();
  });

  it('shows commands and options that are there', () => {
    let count = 0;
    const wrong = pages.flatMap((page) =>
      commandLines(page).flatMap((line) => {
        // `config print` takes the options of the command that it is given.
        const [command, words] = named(program, wordsOf(line.replace(/^config print /, '')));
        if (command.commands.length > 0) return isWord(words[0]) ? [`${page}: windjammer ${line}`] : [];
        count++;
        const options = new Set(['--help', ...command.options.map(({ long }) => long)]);
        return words
          .map((word) => /^--[a-z0-9-]+/.exec(word)?.[0])
          .filter((option) => option !== undefined && !options.has(option))
          .map((option) => `${page}: windjammer ${line}: ${option}`);
      }),
    );
    expect(wrong).toEqual([]);
    expect(count).toBeGreaterThan(150);
  });

  it('names every command in README.md', () => {
    const names = program.commands.map((command) => `\`${command.name()}\``);
    expect(names.filter((name) => !textOf('README.md').includes(name))).toEqual([]);
  });

  it('has every option', () => {
    const text = REFERENCE.map((page) => textOf(`docs/${page}.md`)).join('');
    const missing = leaves(program).flatMap((command) =>
      command.options
        .filter(({ long }) => !new RegExp(`${long}(?![\\w-])`).test(text))
        .map(({ long }) => `${command.name()} ${long}`),
    );
    expect(missing).toEqual([]);
  });
});
