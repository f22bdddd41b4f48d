import { ModelError, replicaNeeds, type MemoryNeeds } from '../models/index.js';
import type { ContainerSource } from './modelContainer.js';
import type { WantedReplica } from './placement/index.js';

/** Of a model whose files cannot be read: whoever starts it hears why. */
export const NO_NEEDS: MemoryNeeds = { arrayBytes: 0, moduleBytes: 0, backingBytes: 0 };

/** What replicas of kernel models take, also of those that were registered before anybody asked. */
export class NeedsOfModels {
  /** By path and content. */
  private readonly found = new Map<string, MemoryNeeds>();

  /** @returns undefined where the model's files cannot be read */
  of(source: Extract<ContainerSource, { kind: 'kernelModel' }>, contentHash = ''): WantedReplica | undefined {
    const needs = source.memory ?? this.read(source.path, contentHash);
    if (needs === undefined) return undefined;
    const { gpu: pin, misfits } = source;
    return { needs, ...(pin === undefined ? {} : { pin }), ...(misfits === undefined ? {} : { misfits }) };
  }

  private read(path: string, contentHash: string): MemoryNeeds | undefined {
    const key = JSON.stringify([path, contentHash]);
    const known = this.found.get(key);
    if (known !== undefined) return known;
    try {
      const needs = replicaNeeds(path);
      this.found.set(key, needs);
      return needs;
    } catch (error) {
      if (error instanceof ModelError) return undefined;
      throw error;
    }
  }
}
