import { dirname, relative } from 'node:path';
import {
  ContentCheck,
  contentOf,
  moduleParts,
  programParts,
  pythonParts,
  type Content,
  type NamedFile,
} from '../content/index.js';
import {
  goldenSample,
  kernelModelFiles,
  loadKernelModel,
  ModelError,
  type KernelModel,
} from '../models/index.js';
import type { ContainerSource } from './modelContainer.js';
import type { KernelModelStart } from './nodeHost.js';
import { modulePath } from './process/index.js';

/**
 * The files that make a model what it is, the first of them the one that names the others: manifest, PTX, weights and golden
 * inputs of a kernel model; a module and its parts (`moduleParts`, `pythonParts`); what a command names (`programParts`).
 * @returns undefined for what has no files here
 * @throws Error when a file cannot be read that names others
 */
export function sourceFiles(source: ContainerSource): readonly NamedFile[] | undefined {
  switch (source.kind) {
    case 'kernelModel':
      return folderFiles(source.path);
    case 'process':
      return moduleParts(modulePath(source.path));
    case 'python':
      return pythonParts(modulePath(source.path));
    case 'exec': {
      const files = programParts(modulePath(source.path), source.command);
      return files.length === 0 ? undefined : files;
    }
    case 'constant':
      return undefined;
  }
}

/**
 * Their content. Reads all of them, which may take long.
 * @returns undefined for what has no files here
 * @throws Error when a file cannot be read
 */
export function sourceContent(source: ContainerSource): Content | undefined {
  const files = sourceFiles(source);
  return files === undefined ? undefined : contentOf(files);
}

function folderFiles(path: string): readonly NamedFile[] {
  const files = kernelModelFiles(path);
  const root = dirname(files[0]);
  return files.map((file) => ({ name: relative(root, file), path: file }));
}

/**
 * Loads a kernel model, with some of its golden inputs, whose folder holds what was registered.
 * @throws ModelError
 */
export function loadRegistered({
  path,
  contentHash,
}: Pick<KernelModelStart, 'path' | 'contentHash'>): KernelModel {
  const check = new ContentCheck(contentHash, () => contentOf(folderFiles(path)));
  const refuse = (): void => {
    const change = check.change();
    if (change !== undefined) throw new ModelError('filesChanged', path, undefined, change);
  };
  refuse();
  const model = loadKernelModel(path);
  const golden = goldenSample(model);
  refuse();
  return golden === undefined ? model : { ...model, golden };
}
