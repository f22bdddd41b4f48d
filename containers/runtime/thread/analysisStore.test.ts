import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { analyzeKernel } from '../../../simulator/idempotency/index.js';
import { lowerModule, parseModule } from '../../../simulator/ptx/index.js';
import { BUILT_IN_MODELS, builtInModelPath, loadKernelModel } from '../../models/index.js';
import { proveAlone } from '../../proving/index.js';
import { AnalysisStore, codeIdentity } from './analysisStore.js';

describe('analyses on disk', () => {
  let directory: string;
  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'analyses-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  it('come back as they were: of every kernel of every model here', () => {
    const store = new AnalysisStore(join(directory, 'made'), 'a');
    let kernels = 0;
    for (const model of BUILT_IN_MODELS) {
      for (const { file, ptx } of loadKernelModel(builtInModelPath(model)).modules) {
        const ir = lowerModule(parseModule(ptx, file));
        for (const { name, isEntry } of ir.functions) {
          if (!isEntry) continue;
          const found = proveAlone(ir, name);
          // Questions change nothing as long as nobody answers them.
          expect(found.summary).toEqual(analyzeKernel(ir, name));
          store.write(`${kernels}`, found);
          expect(store.read(`${kernels++}`)).toEqual(found);
        }
      }
    }
    expect(kernels).toBeGreaterThan(5);
    expect(readdirSync(join(directory, 'made'))).toHaveLength(kernels);
  });

  it('are as good as nothing of another analyser, and where a file is broken or missing', () => {
    const store = new AnalysisStore(directory, 'a');
    const ir = lowerModule(
      parseModule('.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }', 'k.ptx'),
    );
    store.write('k', proveAlone(ir, 'k'));
    expect(store.read('k')?.summary.class).toBe('idempotent');
    expect(new AnalysisStore(directory, 'b').read('k')).toBeUndefined();
    expect(store.read('other')).toBeUndefined();
    const file = join(directory, 'k.json');
    writeFileSync(file, readFileSync(file, 'utf8').slice(0, 40));
    expect(store.read('k')).toBeUndefined();
  });

  it('tell which solver was asked', () => {
    const store = new AnalysisStore(directory, 'a');
    const ir = lowerModule(
      parseModule('.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }', 'k.ptx'),
    );
    const found = proveAlone(ir, 'k');
    store.write('k', found);
    expect(store.read('k')).toEqual({ summary: found.summary, isOpen: false });
    store.write('k', { ...found, isOpen: true, solver: 'some 1.2' });
    expect(store.read('k')).toEqual({ summary: found.summary, isOpen: true, solver: 'some 1.2' });
  });

  it('are not kept where there is no folder to be had, which harms nobody', () => {
    writeFileSync(join(directory, 'file'), '');
    const store = new AnalysisStore(join(directory, 'file', 'below'), 'a');
    const ir = lowerModule(
      parseModule('.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }', 'k.ptx'),
    );
    store.write('k', proveAlone(ir, 'k'));
    expect(store.read('k')).toBeUndefined();
  });

  it('belong to the code that made them', () => {
    const code = join(directory, 'code.js');
    writeFileSync(code, '1');
    const before = codeIdentity([directory]);
    writeFileSync(join(directory, 'code.test.js'), 'a test');
    expect(codeIdentity([directory])).toBe(before);
    writeFileSync(code, '2');
    expect(codeIdentity([directory])).not.toBe(before);
  });
});
