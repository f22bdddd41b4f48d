import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { installDebianPackage } from '../../simulator/files/tests/debianPackage.js';
import { packageRoot } from '../../simulator/files/index.js';
import { commandFile } from '../cli/index.js';
import { RedisServer } from '../redis/tests/redisServer.js';
import { pidsOf } from './modelProcesses.js';
import { NodeProcess } from './nodeProcess.js';
import { ServedProcess } from './servedProcess.js';

interface Prediction {
  readonly output: unknown;
  readonly default: boolean;
}

/** Debian's, which python3-sklearn belongs to: another python3 may come first on the path. */
const PYTHON = '/usr/bin/python3';
const EXAMPLES = join(packageRoot(), 'docs/examples');
const PAGE = readFileSync(join(packageRoot(), 'docs/guides/models.md'), 'utf8');

/** Multiplies the whole part of a number by what its file says. */
const PROGRAM = `#!/bin/sh
factor=$(cat "$1")
echo '{"ready": true}'
while read -r line; do
  id=\${line#*:}
  x=\${line#*[}
  echo "{\\"id\\": \${id%%,*}, \\"output\\": $((factor * \${x%%[!0-9-]*}))}"
done
`;

let folder: string;
let served: ServedProcess;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-languages-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const isSklearnThere = (): boolean => spawnSync(PYTHON, ['-c', 'import sklearn']).status === 0;

/** The commands of the page's only block that begins with such a line. */
function commandsOf(first: string): string {
  const block = PAGE.split('```').find((text) => text.startsWith(`\n${first}`));
  if (block === undefined) throw new Error(`the page has no commands that begin with ${first}`);
  return block;
}

/** Runs commands as a user does in a folder of their own, and stops at the first that fails. @returns what each has printed */
function run(commands: string): string {
  writeFileSync(join(folder, 'npx'), `#!/bin/sh\nshift\nexec ${process.execPath} ${commandFile()} "$@"\n`, {
    mode: 0o755,
  });
  const environment = {
    ...process.env,
    PATH: `${folder}:${process.env.PATH}`,
    WINDJAMMER_URL: served.query,
    WINDJAMMER_MANAGEMENT_URL: served.management,
  };
  return execFileSync('/bin/sh', ['-e', '-c', commands], { cwd: folder, env: environment, encoding: 'utf8' });
}

function copied(...names: readonly string[]): void {
  for (const name of names) {
    const file = join(EXAMPLES, name);
    expect(PAGE).toContain(readFileSync(file, 'utf8'));
    copyFileSync(file, join(folder, name.replace(/^.*\//, '')));
  }
}

async function ask(application: string, input: unknown): Promise<Prediction> {
  const { status, json, text } = await served.post(`${served.query}/${application}/predict`, { input });
  if (status !== 200) throw new Error(`${status} ${text}`);
  return json as Prediction;
}

async function replicas(
  model: string,
): Promise<readonly { readonly state: string; readonly last_failure?: string }[]> {
  const all = (await served.admin('get_all_containers', { verbose: true })) as readonly {
    readonly model_name: string;
    readonly state: string;
    readonly last_failure?: string;
  }[];
  return all.filter(({ model_name: name }) => name === model);
}

const isUp = (model: string, count = 1): Promise<void> =>
  vi.waitFor(
    async () => expect((await replicas(model)).filter(({ state }) => state === 'up')).toHaveLength(count),
    { timeout: 60_000, interval: 50 },
  );

/** Asks throughout while one of a model's processes is killed. */
async function killed(
  model: string,
  words: readonly string[],
  answer: (at: number) => unknown,
): Promise<void> {
  const [pid] = pidsOf(...words);
  const answers: Promise<Prediction>[] = [];
  for (let round = 0; round < 40; round++) {
    for (let one = 0; one < 5; one++) answers.push(ask(model, [answers.length]));
    if (round === 10) process.kill(pid, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  for (const [at, one] of (await Promise.all(answers)).entries()) {
    expect(one).toMatchObject({ default: false, output: answer(at) });
  }
  await isUp(model, 2);
  expect(JSON.stringify(await replicas(model))).toContain('its process ended with signal SIGKILL');
}

describe('models in other languages', () => {
  beforeAll(async () => {
    installDebianPackage('python3-sklearn', isSklearnThere);
    served = await ServedProcess.start(['--ephemeral', '--no-defaults']);
  }, 600_000);
  afterAll(async () => {
    expect(await served.end('SIGTERM')).toBe(0);
    expect(pidsOf(folder)).toEqual([]);
  });

  it('serves scikit-learn as the page shows, with the answers of scikit-learn itself', async () => {
    copied('flowers/train.py', 'flowers/flowers.py');
    const said = run(commandsOf('/usr/bin/python3 train.py'));
    expect(said).toContain('irises 1 is up and current, linked to meadow.');
    expect(said).toContain('"output":"virginica","default":false');
    const script = `import joblib, json
from sklearn.datasets import load_iris
x = load_iris().data
print(json.dumps([x.tolist(), joblib.load("flowers.joblib").predict(x).tolist()]))`;
    const [inputs, labels] = JSON.parse(
      execFileSync(PYTHON, ['-c', script], { cwd: folder, encoding: 'utf8' }),
    ) as [number[][], string[]];
    // The page's objective is the usual one, which all of them at once may miss on a busy machine.
    await served.admin('set_app', { name: 'meadow', latency_slo_micros: 5_000_000 });
    const { json } = await served.post(`${served.query}/meadow/predict`, { input_batch: inputs });
    const { batch_predictions: found } = json as { batch_predictions: readonly Prediction[] };
    expect(found.map(({ output }) => output)).toEqual(labels);
    expect(await served.admin('get_model', { model_name: 'irises', model_version: '1' })).toMatchObject({
      container_name: 'windjammer/python',
      python: PYTHON,
      input_type: 'doubles',
    });
  });

  it('imports a model of texts as the page shows', () => {
    const script = PAGE.split('```python\n').find((text) => text.includes('"topics.json"'));
    writeFileSync(join(folder, 'topics.py'), script?.replace(/```[^]*/, '') ?? '');
    symlinkSync(join(packageRoot(), 'containers'), join(folder, 'containers'));
    const said = run(commandsOf('/usr/bin/python3 topics.py'));
    expect(said).toContain('topics 1 is up and current, linked to desk.');
    expect(said).toContain('"output":"space","default":false');
  });

  it('serves a program in C as the page shows', () => {
    copied('mean/mean.c');
    const said = run(commandsOf('gcc -O2 -o mean mean.c'));
    expect(said).toContain('"output":3,"default":false');
    const again = run('npx windjammer deploy . --command ./mean --name mean --version 2 --app averages');
    expect(again).toBe('mean 2 is up and current, was linked already to averages.\n');
    expect(run('npx windjammer model show mean 2')).toMatch(/command\s+\.\/mean/);
  });

  it('deploys a function alone, with what the application takes, and names what is wrong with it', () => {
    writeFileSync(
      join(folder, 'words.py'),
      'def predict(batch):\n    return [len(one.split()) for one in batch]\n',
    );
    writeFileSync(join(folder, 'broken.py'), 'import os\n\ndef predict(batch)\n    return batch\n');
    const said =
      run(`npx windjammer app add count --input-type strings --default-output 0 --slo-micros 1000000
npx windjammer deploy words.py --name words --version 1 --app count
npx windjammer predict count --input 'how many words'
npx windjammer deploy broken.py --name broken --version 1 --input-type strings 2>&1 || true
npx windjammer deploy words.py --name words --version 2 --python python0.1 --input-type strings 2>&1 || true
npx windjammer deploy words.py --name words --version 2 2>&1 || true
npx windjammer deploy . --command ./none --name none --version 1 --input-type strings 2>&1 || true`);
    expect(said).toContain('"output":3,"default":false');
    expect(said).toMatch(/broken\.py: SyntaxError: .* \(broken\.py, line 3\)/);
    expect(said).toContain('python0.1 is not there on PATH: install Python 3.8 or later');
    expect(said).toContain('input_type is missing: say input_type = "doubles" in it');
    expect(said).toContain('./none: the shell has found no such program');
  });

  it('loses no query when a process is killed, of Python and of a program', async () => {
    writeFileSync(
      join(folder, 'first.py'),
      'import time\ninput_type = "doubles"\ndef predict(batch):\n    time.sleep(0.005)\n    return [one[0] for one in batch]\n',
    );
    const program = `import json, sys
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"id": asked["id"], "output": asked["input"][0]}), flush=True)
`;
    writeFileSync(join(folder, 'program.py'), program);
    run(`for app in first program; do
  npx windjammer app add $app --input-type doubles --default-output none --slo-micros 5000000
done
npx windjammer deploy first.py --name first --version 1 --app first --replicas 2
npx windjammer model add program --version 1 --input-type doubles --container exec --command 'python3 program.py' --replicas 2
npx windjammer link add program program`);
    await isUp('first', 2);
    await isUp('program', 2);
    await killed('first', ['runModel.py', join(folder, 'first.py')], (at) => at);
    await killed('program', ['python3', 'program.py'], (at) => at);
  });

  it('goes on for others while an input kills its process', async () => {
    writeFileSync(
      join(folder, 'fragile.py'),
      'import os\ninput_type = "doubles"\ndef predict(batch):\n    if any(one[0] == 13 for one in batch): os.abort()\n    return [one[0] for one in batch]\n',
    );
    run(`npx windjammer app add fragile --input-type doubles --default-output none --slo-micros 5000000
npx windjammer deploy fragile.py --name fragile --version 1 --app fragile`);
    const answers = await Promise.all(Array.from({ length: 30 }, (_, at) => ask('fragile', [at])));
    for (const [at, answer] of answers.entries()) {
      if (at === 13) expect(answer).toMatchObject({ default: true, output: 'none' });
      else expect(answer).toMatchObject({ default: false, output: at });
    }
    expect(JSON.stringify(await replicas('fragile'))).toContain(
      'signal SIGABRT: Fatal Python error: Aborted',
    );
  });

  it('shows in the log what a model prints and raises', async () => {
    writeFileSync(
      join(folder, 'raising.py'),
      'input_type = "doubles"\ndef predict(batch):\n    print("asked")\n    raise ValueError("no such flower")\n',
    );
    run(`npx windjammer app add raising --input-type doubles --default-output none --slo-micros 5000000
npx windjammer deploy raising.py --name raising --version 1 --app raising`);
    expect(await ask('raising', [1])).toMatchObject({ default: true, output: 'none' });
    await vi.waitFor(() => {
      expect(served.errors).toContain('ValueError: no such flower');
      expect(served.errors).toMatch(/raising\.py\\", line 4, in predict/);
      expect(served.errors).toContain('"asked"');
    });
  });
});

describe('models in other languages on nodes', () => {
  let redis: RedisServer;
  let node: NodeProcess;
  afterAll(async () => {
    await served.end('SIGKILL');
    await node.end('SIGKILL');
    await redis.stop();
  });

  it('start from the files that were registered, which are no longer where they were', async () => {
    redis = await RedisServer.start();
    const join_ = ['--join', redis.url, '--data-dir', join(folder, 'n1')];
    node = await NodeProcess.start('n1', join_);
    const shared = ['--store', redis.url, '--only-nodes', '--no-defaults'];
    served = await ServedProcess.start([...shared, '--data-dir', join(folder, 'frontend')]);
    const names = ['scaled.py', 'factor.py', 'factor.txt', 'scaled.sh'];
    const texts = [
      'from factor import FACTOR\ninput_type = "doubles"\ndef predict(batch):\n    return [FACTOR * one[0] for one in batch]\n',
      'import pathlib\nFACTOR = int((pathlib.Path(__file__).parent / "factor.txt").read_text())\n',
      '3',
      PROGRAM,
    ];
    for (const [at, name] of names.entries()) writeFileSync(join(folder, name), texts[at], { mode: 0o755 });
    run(`for app in python exec; do
  npx windjammer app add $app --input-type doubles --default-output none --slo-micros 5000000
done
npx windjammer deploy scaled.py --name python --version 1 --app python
npx windjammer deploy . --command './scaled.sh factor.txt' --name exec --version 1 --app exec`);
    for (const name of names) rmSync(join(folder, name));
    for (const model of ['python', 'exec']) {
      await served.admin('set_num_replicas', { model_name: model, model_version: '1', num_replicas: 2 });
      await isUp(model, 2);
    }
    // Whoever came up from the files goes, and others must come up without them.
    for (const pid of pidsOf('Process.js', folder)) process.kill(pid, 'SIGKILL');
    for (const model of ['python', 'exec']) {
      await vi.waitFor(
        async () => {
          const all = await replicas(model);
          expect(all.map(({ state, last_failure: why }) => [state, why !== undefined])).toEqual([
            ['up', true],
            ['up', true],
          ]);
        },
        { timeout: 60_000, interval: 50 },
      );
      expect(await ask(model, [5])).toMatchObject({ default: false, output: 15 });
    }
  });
});
