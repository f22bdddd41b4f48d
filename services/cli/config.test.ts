import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { packageRoot } from '../../simulator/files/index.js';
import { runCommand } from './tests/runCommand.js';
import { configurationSchemaText } from './config.js';
import { optionsOf, variableOf } from './configuration/index.js';
import { addNodeCommand } from './nodeCommand.js';
import { windjammerProgram } from './program.js';
import { addServeCommand } from './serveCommand.js';

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'windjammer-config-'))));
afterAll(() => rmSync(folder, { recursive: true }));

function file(text: string): string {
  const path = join(folder, 'windjammer.yaml');
  writeFileSync(path, text);
  return path;
}

type Environment = Readonly<Record<string, string>>;

/** What `serve` or `node` would be run with. */
function optionsFor(name: 'serve' | 'node', flags: readonly string[], environment: Environment = {}): object {
  const program = new Command();
  (name === 'serve' ? addServeCommand : addNodeCommand)(program, { ...environment });
  const [command] = program.commands;
  command.exitOverride().action(() => undefined);
  command.parse([...flags], { from: 'user' });
  return command.opts();
}

describe('options', () => {
  it('are taken from a file, and from the environment before that, and from flags before both', () => {
    const path = file(
      'serve:\n  port: 1\n  seed: 2\n  gpus: [a100, t4]\n  allow-origin: [https://a.example]\n  defaults: false\n  max-body-mib: 0.5\n',
    );
    expect(optionsFor('serve', ['--config', path])).toMatchObject({
      port: 1,
      seed: 2,
      gpus: ['a100', 't4'],
      allowOrigin: ['https://a.example'],
      defaults: false,
      maxBodyMib: 0.5,
      managementPort: 1338,
    });
    const environment = {
      WINDJAMMER_CONFIG: path,
      WINDJAMMER_SEED: '3',
      WINDJAMMER_GPUS: 'h100,h200',
      WINDJAMMER_PORT: '',
    };
    expect(optionsFor('serve', [], environment)).toMatchObject({ port: 1, seed: 3, gpus: ['h100', 'h200'] });
    const flags = ['--seed', '4', '--allow-origin', 'https://b.example'];
    expect(optionsFor('serve', flags, environment)).toMatchObject({
      seed: 4,
      allowOrigin: ['https://b.example'],
    });
  });

  it('that a command must have may come from a file, too; a switch may be off', () => {
    const path = file('node:\n  name: n1\n  listen: "[::1]:7"\nserve:\n  only-nodes: true\n');
    expect(optionsFor('node', ['--config', path])).toMatchObject({
      name: 'n1',
      listen: { host: '::1', port: 7 },
    });
    const off = {
      WINDJAMMER_CONFIG: path,
      WINDJAMMER_ONLY_NODES: 'false',
      WINDJAMMER_NODE: 'tcp://a:1, tcp://b:1',
    };
    const options = optionsFor('serve', [], off);
    expect(options).toMatchObject({ node: ['tcp://a:1', 'tcp://b:1'] });
    expect(options).not.toMatchObject({ onlyNodes: expect.anything() as unknown });
  });

  it.each([
    ['serve:\n  prot: 1', /yaml:2: serve\.prot: there is no such option; is port meant\?/],
    ['serve:\n  port: "80"', /yaml:2: serve\.port: expected a whole number from 0 to 65535, not '80'/],
    ['serve:\n  port: 70000', /yaml:2: serve\.port: expected a whole number from 0 to 65535; not '70000'/],
    ['serve:\n  ephemeral: 1', /serve\.ephemeral: expected true or false, not 1/],
    ['serve:\n  host: 10', /serve\.host: expected text, not 10: write it in quotes/],
    ['serve:\n  host:', /serve\.host: expected text, not nothing/],
    ['serve:\n  gpus: []', /serve\.gpus: expected one value at least/],
    ['serve:\n  gpus: [h200, {a: 1}]', /serve\.gpus: expected a list of texts, not keys and values/],
    ['serve:\n  log-level: loud', /serve\.log-level: Allowed choices are debug, .*; not 'loud'/],
    ['serve:\n  port: 1\n  port: 2', /yaml:3: this is no YAML: Map keys must be unique/],
    ['serve: {', /this is no YAML/],
    ['serve: 5', /yaml:1: expected options below serve:/],
    ['- serve', /yaml:1: expected sections/],
    ['server:\n  port: 1', /yaml:1: there is no section 'server'; there are serve, node/],
    ['a: &a [x, x]\nb: &b [*a, *a]\n', /there is no section 'a'/],
  ])('are refused by line and name: %j', (text, reason) => {
    expect(() => optionsFor('serve', ['--config', file(text)])).toThrow(reason);
  });

  it('of the environment are refused by name', () => {
    const environment = { WINDJAMMER_PORT: 'x', WINDJAMMER_EPHEMERAL: '1' };
    expect(() => optionsFor('serve', [], environment)).toThrow(
      /WINDJAMMER_PORT: expected a whole number.*\nWINDJAMMER_EPHEMERAL: expected true or false, not '1'/,
    );
    expect(() => optionsFor('serve', ['--config', '/nowhere.yaml'])).toThrow(/nowhere.yaml: ENOENT/);
  });

  it('have a variable each, which nothing else uses', () => {
    for (const add of [addServeCommand, addNodeCommand]) {
      const program = new Command();
      add(program);
      const variables = optionsOf(program.commands[0]).map(variableOf);
      expect(new Set(variables).size).toBe(variables.length);
      const others = ['URL', 'MANAGEMENT_URL', 'API_KEY', 'CA', 'ADMIN_KEY', 'REDIS_PASSWORD', 'CONFIG'];
      for (const other of others) expect(variables).not.toContain(`WINDJAMMER_${other}`);
    }
  });
});

describe('which server is asked', () => {
  it('is said by the environment, wherever there is an option for it', async () => {
    const program = await windjammerProgram();
    const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
    const variables = { '--url': 'WINDJAMMER_URL', '--management-url': 'WINDJAMMER_MANAGEMENT_URL' };
    for (const [long, variable] of Object.entries(variables)) {
      const options = all(program).flatMap((command) => command.options.filter((one) => one.long === long));
      expect(options.length).toBeGreaterThan(3);
      for (const option of options) expect(option.envVar).toBe(variable);
    }
  });
});

describe('windjammer config', () => {
  it('check says what is wrong with all sections at once, and what does not go together', async () => {
    const bad = await runCommand(['config', 'check', file('serve:\n  seed: a\nnode:\n  prefix: b\nx: 1\n')]);
    expect(bad.status).toBe(1);
    expect(bad.stderr).toMatch(
      /'x'.*\n.*serve\.seed.*\n.*node\.prefix: there is no such option; is .* meant/,
    );
    const apart = file('serve:\n  ephemeral: true\n  store: redis://a\nnode:\n  gpus: [h300]\n');
    expect((await runCommand(['config', 'check', apart])).stderr).toMatch(
      /serve: --ephemeral keeps nothing.*\n.*node: --gpus: there is no card 'h300'/,
    );
    const tls = file('serve:\n  tls-cert: /nowhere.pem\n  tls-key: /nowhere.pem\n');
    expect((await runCommand(['config', 'check', tls])).stderr).toMatch(/nowhere\.pem/);
    const good = await runCommand(['config', 'check', file('serve:\n  port: 0\nnode:\n  gpus: none\n')]);
    expect(good).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/can be used: serve and node/) as string,
    });
    expect((await runCommand(['config', 'check', file('')])).stderr).toMatch(/it says nothing/);
  });

  it('print gives a file that says the same, without passwords', async () => {
    const path = file('serve:\n  store: redis://me:secret@a\n  gpus: [h200, t4]\n');
    const { stdout } = await runCommand(['config', 'print', 'serve', '--seed', '7', '--config', path]);
    expect(stdout).toMatch(/seed: 7 # by a flag/);
    expect(stdout).toMatch(/gpus: \["h200","t4"\] # by the file/);
    expect(stdout).not.toContain('secret');
    const again = optionsFor('serve', ['--config', file(stdout)]);
    expect(again).toMatchObject({ seed: 7, gpus: ['h200', 't4'], port: 1337 });
  });

  it('schema takes what the commands take, and is the one in docs', () => {
    const committed = join(packageRoot(), 'docs/reference/configuration.schema.json');
    expect(readFileSync(committed, 'utf8')).toBe(configurationSchemaText());
    const validate = new Ajv2020({ allowUnionTypes: true }).compile(
      JSON.parse(configurationSchemaText()) as object,
    );
    const example = readFileSync(join(packageRoot(), 'docs/guides/configuration.md'), 'utf8');
    const [, yaml] = /```yaml\n([^]*?)```/.exec(example) ?? [];
    expect(validate(parse(yaml))).toBe(true);
    expect(() => optionsFor('serve', ['--config', file(yaml)])).not.toThrow();
    for (const bad of ['serve: {port: a}', 'serve: {prot: 1}', 'serve: {log-level: loud}', 'x: {}']) {
      expect(validate(parse(bad))).toBe(false);
    }
  });
});
