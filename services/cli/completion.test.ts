import { execFileSync } from 'node:child_process';
import { Command, Option } from 'commander';
import { describe, expect, it } from 'vitest';
import { commandPlaces } from './completionPlaces.js';
import { bashScript, fishScript, zshScript } from './completionScripts.js';
import { windjammerProgram } from './program.js';

/** What bash offers for a line whose last word is under the cursor. */
function offered(program: Command, ...words: readonly string[]): string[] {
  const script = bashScript(program.name(), commandPlaces(program));
  const line = [program.name(), ...words].map((word) => `'${word}'`).join(' ');
  const ask = `COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _${program.name()}; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const output = execFileSync('bash', ['-euc', `${script}\n${ask}`], { encoding: 'utf8' });
  return output.split('\n').filter((text) => text !== '');
}

describe('completion', () => {
  it('offers in bash what the program has', async () => {
    const program = await windjammerProgram();
    expect(offered(program, '')).toEqual(
      expect.arrayContaining(['serve', 'predict', 'deploy', 'app', 'model', 'link', 'completion', '--help']),
    );
    expect(offered(program, 'de')).toEqual(['deploy']);
    expect(offered(program, 'app', '')).toEqual(expect.arrayContaining(['add', 'delete', 'list', 'show']));
    expect(offered(program, 'app', 'add', 'x', '--in')).toEqual(['--input-type']);
    expect(offered(program, 'app', 'add', 'x', '--input-type', '')).toEqual(
      expect.arrayContaining(['doubles', 'strings']),
    );
    expect(offered(program, 'completion', '')).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']));
    // Any value: the shell offers files.
    expect(offered(program, 'predict', 'x', '--file', '')).toEqual([]);
    // An application may have the name of a command.
    expect(offered(program, 'predict', 'app', '--in')).toEqual(['--input']);
  });

  it('knows what is added later, and quotes what it prints', () => {
    const program = new Command('tool');
    program
      .command('new')
      .description("it's new")
      .addOption(new Option('--kind <kind>', 'a "kind" of $HOME').choices(['a', 'b']));
    expect(offered(program, 'new', '--kind', '')).toEqual(['a', 'b']);
    const places = commandPlaces(program);
    expect(zshScript('tool', places)).toContain("compadd -- 'a' 'b'");
    const fish = fishScript('tool', places);
    expect(fish).toContain("-l kind -x -a 'a b'");
    expect(fish).toContain("'it'\\''s new'");
  });
});
