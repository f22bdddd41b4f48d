import type { PreparedKernel } from '../executor/index.js';
import type { KeptProfiles } from '../gpu/index.js';
import type { IrModule } from '../ptx/index.js';

/**
 * What a node has worked out that another node would work out again: modules parsed and lowered, kernels compiled, their
 * profiles. All of it crosses threads, and nothing of it changes what a kernel computes.
 */
export interface NodePreparation {
  /** By the identity of the text. */
  readonly modules: ReadonlyMap<string, IrModule>;
  readonly kernels: readonly PreparedKernel[];
  /** By the name of the device's profile. */
  readonly profiles: ReadonlyMap<string, KeptProfiles>;
}

/** Remembers what it has been given, so that each part is handed on once. */
export class PreparationsSent {
  private readonly sent = new Set<string>();

  /** What is new in a preparation. */
  newIn({ modules, kernels, profiles }: NodePreparation): NodePreparation {
    const isNew = (kind: string, key: string): boolean => {
      const name = `${kind} ${key}`;
      if (this.sent.has(name)) return false;
      this.sent.add(name);
      return true;
    };
    return {
      modules: new Map([...modules].filter(([identity]) => isNew('module', identity))),
      kernels: kernels.filter(({ key }) => isNew('kernel', key)),
      profiles: new Map(
        [...profiles].map(([device, kept]) => [
          device,
          new Map([...kept].filter(([key]) => isNew(`profile of ${device}`, key))),
        ]),
      ),
    };
  }
}
