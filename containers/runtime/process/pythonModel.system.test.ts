import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { InputType } from '../../protocol/index.js';
import { pythonContent } from '../../content/index.js';
import { tryModule } from './processHost.js';
import type { PythonSource } from './processSource.js';
import { ModuleLab } from './tests/moduleLab.js';
import { expectRefusal, itRunsModules, type ModuleLanguage } from './tests/moduleSuite.js';

const ECHO = `input_type = "strings"
def predict(batch):
    return [{"said": one} for one in batch]
`;
/** An interpreter whose numpy cannot be imported. */
const WITHOUT_NUMPY = `#!/bin/sh
exec python3 -B -c 'import sys; sys.modules["numpy"] = None; sys.argv = sys.argv[1:]; import runpy
sys.path.insert(0, sys.argv[0].rpartition("/")[0]); runpy.run_path(sys.argv[0], run_name="__main__")' "$4" "$5"
`;

const PYTHON: ModuleLanguage = {
  contentOf: pythonContent,
  echo: ECHO,
  typed: `
class Sum:
    input_type = "doubles"
    input_length = 2
    max_batch_size = 7
    def load(self):
        self.factor = 2
    def predict(self, batch):
        return [{"output": self.factor * x[0] + x[1], "scores": x} for x in batch]
`,
  oneByOne: [
    `class Model:
    input_type = "strings"
    def predict_one(self, text):
        if text == "bad": raise ValueError("no")
        return text
`,
    'ValueError: no',
  ],
  slow: `import time
input_type = "strings"
def predict(batch):
    time.sleep(0.1)
    return batch
`,
  silent: `import os, time
print(os.getpid())
input_type = "strings"
def predict(batch):
    time.sleep(1000)
`,
  endless: `input_type = "strings"
def predict(batch):
    while True: pass
`,
  closing: (file) => `import time
input_type = "strings"
def predict(batch): return batch
def close():
    open(${JSON.stringify(file)}, "w").close()
    time.sleep(1000)
`,
  environment: ([one, other]) => `import os
input_type = "strings"
def predict(batch):
    return [[os.getcwd(), os.environ.get("${one}"), os.environ.get("${other}")]]
`,
  parts: [
    ['own/part.py', 'VALUE = 1\n'],
    ['own/model.py', 'import part\ninput_type = "strings"\ndef predict(batch): return batch\n'],
  ],
  faults: {
    'does not parse': 'x = 1\ndef predict(:\n',
    'has no predict': 'input_type = "strings"\n',
    'takes what there is not': 'input_type = "text"\ndef predict(batch): pass\n',
    'takes something else': 'input_type = "floats"\ndef predict(batch): pass\n',
    'fails to load': 'input_type = "strings"\ndef predict(batch): pass\ndef load():\n  open("nowhere")\n',
    ends: 'import sys\nsys.exit(3)\n',
    'never loads': 'import time\ntime.sleep(1000)\n',
    blocks: 'while True: pass\n',
    'sends garbage': 'import os, time\nos.write(3, b"HTTP/1.1 400 Bad")\ntime.sleep(1000)\n',
    'speaks another version': 'import os, time\nos.write(3, bytes([2,0,0,0,9,0]))\ntime.sleep(1000)\n',
    'closes its line': 'import os, time\nos.close(3)\ntime.sleep(1000)\n',
  },
  reasons: {
    'does not parse': '.py: SyntaxError: invalid syntax (model',
    'has no predict': 'neither a function predict(batch) nor a class with one',
    'takes what there is not': "input_type: 'text', expected one of",
  },
};

const doubles = (...values: number[]): Uint8Array => new Uint8Array(Float64Array.from(values).buffer);

describe('a model in Python', () => {
  const lab = new ModuleLab('python', '.py');
  const start = lab.start.bind(lab);
  const written = lab.written.bind(lab);
  itRunsModules(lab, PYTHON);

  it('takes what it is registered with where it does not say what it takes', async () => {
    const line = start('def predict(batch):\n    return [len(one) for one in batch]\n', {
      inputType: 'integers',
    });
    expect(await line.hello()).toMatchObject({ inputType: 'integers' });
    expect(await line.ask(new Uint8Array(8))).toMatchObject([{ output: '2' }]);
  });

  it.each<[InputType, Uint8Array, string]>([
    ['integers', new Uint8Array(Int32Array.of(-2, 3).buffer), '[-2,3]'],
    ['floats', new Uint8Array(Float32Array.of(0.5, NaN).buffer), '[0.5,null]'],
    ['doubles', doubles(0.1, -Infinity), '[0.1,null]'],
    ['bytes', Uint8Array.of(0, 255), '[0,255]'],
  ])('gets %s as an array with numpy and as a list without', async (inputType, bytes, output) => {
    const without = written(WITHOUT_NUMPY, 'withoutNumpy');
    execFileSync('chmod', ['+x', without]);
    const text = (length: string): string => `input_type = "${inputType}"
${length}
def predict(batch):
    kind = type(batch[0]).__name__
    return [[kind, getattr(batch, "shape", None), list(one)] for one in batch]
`;
    const expected = (kind: string, shape: string) => [
      { id: 0, ok: true, output: `["${kind}",${shape},${output}]` },
    ];
    for (const [length, shape] of [
      ['', 'null'],
      ['input_length = 2', '[1,2]'],
    ]) {
      const line = start(text(length));
      await line.hello();
      expect(await line.ask(bytes)).toEqual(expected('ndarray', shape));
      await lab.close();
    }
    const line = start(text('input_length = 2'), { python: without });
    await line.hello();
    expect(await line.ask(bytes)).toEqual(expected(inputType === 'bytes' ? 'bytes' : 'list', 'null'));
  });

  it('gives each input of its own: a model may change it, and keep it', async () => {
    const line = start(`input_type = "doubles"
def predict(batch):
    for one in batch:
        one[0] += 1
        if one[0] > 8: raise ValueError("too large")
    return [one[0] for one in batch]
`);
    await line.hello();
    expect(await line.ask(doubles(1), doubles(9), doubles(3))).toEqual([
      { id: 0, ok: true, output: '2' },
      { id: 1, ok: false, code: 'modelError', message: 'ValueError: too large' },
      { id: 2, ok: true, output: '4' },
    ]);
  });

  it('finds the inputs that spoil a batch, and tells where in the log', async () => {
    const line = start(`input_type = "strings"
def check(one):
    if "bad" in one:
        raise KeyError(one)
def predict(batch):
    for one in batch:
        check(one)
    return batch
`);
    await line.hello();
    const texts = Array.from({ length: 64 }, (_, at) => (at === 7 || at === 50 ? `bad${at}` : `t${at}`));
    const answers = await line.ask(...texts);
    for (const [at, answer] of answers.entries()) {
      if (at === 7 || at === 50) expect(answer).toMatchObject({ ok: false, message: `KeyError: 'bad${at}'` });
      else expect(answer).toEqual({ id: at, ok: true, output: `t${at}` });
    }
    await vi.waitFor(() => expect(line.printed('stderr')).toContain("KeyError: 'bad7'"));
    const log = line.printed('stderr');
    expect(log[0]).toBe('Traceback (most recent call last):');
    expect(log[1]).toMatch(/model\d+\.py", line 7, in predict$/);
    expect(log.some((one) => /line 4, in check$/.test(one))).toBe(true);
  });

  it('answers whatever it gives as JSON, with null for what JSON has no number for', async () => {
    const line = start(`import numpy, collections
input_type = "strings"
GIVEN = [float("nan"), [float("inf"), 1], numpy.float32(1.5), numpy.array([[1, 2], [3, float("nan")]]), (1, None, True),
         {"a": numpy.int64(3)}, "text", 3.0, {"output": "x", "scores": [1, None, 1e300]}, object(), {1, 2}, b"x",
         ValueError("this one"), collections, "\\ud800"]
def predict(batch):
    return GIVEN
`);
    await line.hello();
    const answers = await line.ask(...Array.from({ length: 15 }, () => 'a'));
    expect(answers.map((one) => (one.ok ? one.output : one.message))).toEqual([
      'null',
      '[null,1]',
      '1.5',
      '[[1.0,2.0],[3.0,null]]',
      '[1,null,true]',
      '{"a":3}',
      'text',
      '3',
      'x',
      'TypeError: the model gave an output that is no JSON: object',
      'TypeError: the model gave an output that is no JSON: set',
      'TypeError: the model gave an output that is no JSON: bytes',
      'ValueError: this one',
      'TypeError: the model gave an output that is no JSON: module',
      '?',
    ]);
    expect(answers[8]).toMatchObject({ scores: Float32Array.of(1, NaN, Infinity) });
  });

  it.each([
    ['numpy.arange(len(batch))', ['0', '1']],
    ['numpy.eye(len(batch), dtype=int)', ['[1,0]', '[0,1]']],
    ['(one for one in batch)', ['a', 'b']],
    ['map(str.upper, batch)', ['A', 'B']],
  ])('takes the outputs of a batch as %s', async (given, outputs) => {
    const line = start(`import numpy
input_type = "strings"
def predict(batch):
    return ${given}
`);
    await line.hello();
    expect((await line.ask('a', 'b')).map((one) => (one.ok ? one.output : one.message))).toEqual(outputs);
  });

  it.each([
    ['batch[1:]', 'predict gave 0 outputs for 1 inputs'],
    ['batch + batch', 'predict gave 2 outputs for 1 inputs'],
    ['None', 'TypeError: predict gave no list but NoneType'],
    ['"ab"', 'TypeError: predict gave no list but str'],
    ['{}', 'TypeError: predict gave no list but dict'],
    ['[deep()]', 'RecursionError: '],
    ['["x" * (17 << 20)]', 'ValueError: the model gave an output of 17825792 characters'],
    ['[1 / 0]', 'ZeroDivisionError: division by zero'],
    ['[x for x in [].pop()]', 'IndexError: pop from empty list'],
  ])('fails an input for which it gives %s, and goes on', async (given, message) => {
    const line = start(`input_type = "strings"
def deep():
    value = []
    for _ in range(100000):
        value = [value]
    return value
def predict(batch):
    if batch[0] == "fine": return batch
    return ${given}
`);
    await line.hello();
    expect(await line.ask('a')).toMatchObject([
      { ok: false, code: 'modelError', message: expect.stringContaining(message) as string },
    ]);
    expect(await line.ask('fine')).toMatchObject([{ ok: true, output: 'fine' }]);
  });

  it('goes on while it prints what is no line, garbage and a gigabyte', async () => {
    const line = start(`import os, sys
input_type = "strings"
def predict(batch):
    os.write(1, b"\\xff\\xfe\\0garbage")
    print("printed")
    sys.stderr.write("to stderr\\n")
    if batch[0] == "much":
        for _ in range(1024):
            os.write(1, b"x" * (1 << 20))
    return batch
`);
    await line.hello();
    expect(await line.ask('a')).toMatchObject([{ output: 'a' }]);
    expect(await line.ask('much')).toMatchObject([{ output: 'much' }]);
    expect(line.printed('stderr')).toContain('to stderr');
    expect(line.printed('stdout').join().length).toBeLessThan(100_000);
  });

  it('forks: neither a child that goes on nor one that returns answers', async () => {
    const line = start(`import os, time
input_type = "strings"
def predict(batch):
    if batch[0] == "return":
        os.fork()
        return [str(os.getpid())]
    if os.fork() == 0:
        time.sleep(1000)
    return batch
`);
    await line.hello();
    const [pid] = lab.host.pids();
    for (const text of ['return', 'a', 'return', 'b']) {
      const [answer] = await line.ask(text);
      expect(answer.ok).toBe(true);
    }
    expect(line.frames.filter(({ kind }) => kind === 'result')).toHaveLength(4);
    expect(groupSize(pid)).toBeGreaterThan(3);
    await lab.close();
    expect(groupSize(pid)).toBe(0);
  });

  it.each(['fork', 'spawn'])('has processes of its own by multiprocessing (%s)', async (method) => {
    written('def double(text):\n    return 2 * text\n', 'doubling.py');
    const line = start(`import multiprocessing, doubling
input_type = "strings"
def load():
    global pool
    pool = multiprocessing.get_context("${method}").Pool(2)
def predict(batch):
    return pool.map(doubling.double, batch)
`);
    await line.hello();
    expect(await line.ask('a', 'b')).toMatchObject([{ output: 'aa' }, { output: 'bb' }]);
  });

  it('skips what is cancelled while a batch is asked in parts', async () => {
    const line = start(`import time
input_type = "strings"
def predict(batch):
    time.sleep(0.1)
    if "bad" in batch: raise ValueError("no")
    return batch
`);
    await line.hello();
    const first = line.ask('bad', 'b');
    const second = line.ask('c', 'd');
    line.channel.send({ kind: 'cancel', batchId: 1, itemIds: [1] });
    line.channel.send({ kind: 'cancel', batchId: 0, itemIds: [1] });
    expect(await first).toMatchObject([{ code: 'modelError' }, { code: 'cancelled' }]);
    expect(await second).toMatchObject([{ output: 'c' }, { code: 'cancelled' }]);
  });

  it('imports what lies beside it, and leaves no compiled files there', async () => {
    written('VALUE = 5\n', 'frames.py');
    const line = start(
      'import frames\ninput_type = "strings"\ndef predict(batch):\n    return [frames.VALUE]\n',
    );
    await line.hello();
    expect(await line.ask('a')).toMatchObject([{ output: '5' }]);
    expect(existsSync(join(lab.folder, '__pycache__'))).toBe(false);
  });

  it.each<[string, string, string]>([
    ['does not parse, and in which line', 'x = 1\ndef predict(:\n', '.py, line 2)'],
    [
      'imports what is not there',
      'import os\nimport no_such_module\n',
      "No module named 'no_such_module' (model",
    ],
    [
      'has two models',
      'class A:\n  predict = 1\nclass B:\n  predict = 1\n',
      'several classes have predict (A, B)',
    ],
    [
      'has a wrong length',
      'input_length = 0\ndef predict(batch): pass\n',
      'input_length: 0, expected a whole number',
    ],
    ['is asynchronous', 'async def predict(batch): pass\n', 'predict is async: make it a plain function'],
    [
      'crashes',
      'import ctypes\nctypes.string_at(0)\n',
      'signal SIGSEGV: Fatal Python error: Segmentation fault',
    ],
  ])('is down once with the reason when its module %s', (_what, text, reason) =>
    expectRefusal(lab, text, reason),
  );

  it.each<[string, Partial<PythonSource>, string]>([
    ['a file that is not there', { path: '/nowhere.py' }, 'cannot be read'],
    ['a folder', { path: '/tmp' }, 'is no file'],
    ['another language', { path: new URL(import.meta.url).pathname }, 'is no Python module (.py)'],
    [
      'no Python',
      { python: 'python0.1' },
      'python: python0.1 is not there on PATH: install Python 3.8 or later',
    ],
    [
      'a Python that is nowhere',
      { python: '/nowhere/python' },
      'python: /nowhere/python is not there: install',
    ],
    ['a Python that is relative', { python: './python' }, "'./python' is neither a name"],
    ['what is no Python', { python: '/bin/false' }, 'its process ended with exit code 1'],
  ])('does not start from %s', async (_what, more, reason) => {
    const line = start(ECHO, more);
    expect((await line.down()).reason).toContain(reason);
  });

  it.each(['SIGTERM', 'SIGINT'])('is down with %s when it is killed in a batch', async (signal) => {
    const line = start(`import os, time
print(os.getpid())
input_type = "strings"
def predict(batch):
    time.sleep(1000)
`);
    await line.hello();
    line.ask('a').catch(() => undefined);
    const [pid] = line.printed('stdout');
    process.kill(Number(pid), signal);
    expect((await line.down()).reason).toContain(`its process ended with signal ${signal}`);
  });

  it.each([
    ['it', 'kept.append(bytearray(1 << 20))'],
    ['its children', 'os.system("tail /dev/zero")'],
  ])('is down when %s takes more than its memory', async (_who, statement) => {
    const line = start(
      `import os
input_type = "strings"
kept = []
def predict(batch):
    while True: ${statement}
`,
      { memoryMiB: 200 },
    );
    await line.hello();
    line.ask('a').catch(() => undefined);
    expect((await line.down()).reason).toMatch(
      /signal SIGKILL: Memory error: \d+ MiB resident, more than memory_mib 200/,
    );
  });

  it('does not serve what has changed while it was read', async () => {
    const path = written(
      `input_type = "strings"
open(__file__, "a").write("# changed\\n")
def predict(batch): return batch
`,
      'own/changing.py',
    );
    const { reason } = await start('', { path, contentHash: pythonContent(path).hash }).down();
    expect(reason).toContain('the files have changed since');
  });

  it('does not start without knowing what it takes', async () => {
    const path = written('def predict(batch): return batch\n');
    expect(await tryModule({ kind: 'python', path }, 'bytes')).toMatchObject({ inputType: 'bytes' });
    await expect(tryModule({ kind: 'python', path })).rejects.toThrow('input_type is missing');
  });
});

/** Processes of a group. */
function groupSize(group: number): number {
  const all = execFileSync('ps', ['-e', '-o', 'pgid=', '-o', 'stat='], { encoding: 'utf8' }).split('\n');
  return all.filter((one) => Number(one.trim().split(/\s+/)[0]) === group && !/Z/.test(one)).length;
}
