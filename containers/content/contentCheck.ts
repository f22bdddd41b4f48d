import { reasonOf } from '../../simulator/text/index.js';
import type { Content } from './fileHash.js';

/** Holds a model's files to what was registered: asked before they are read, and again behind that. */
export class ContentCheck {
  private stamp: string | undefined;

  /**
   * @param registered their hash; undefined: nobody kept it, and any are right
   * @param present what they are now; may throw
   */
  constructor(
    private readonly registered: string | undefined,
    private readonly present: () => Content,
  ) {}

  /** How they differ, or why that cannot be told; undefined: not at all. */
  change(): string | undefined {
    const { registered } = this;
    if (registered === undefined) return undefined;
    try {
      const { hash, stamp } = this.present();
      if (hash !== registered) {
        return (
          'the files have changed since this version was registered ' +
          `(content ${hash.slice(0, 12)}, registered ${registered.slice(0, 12)}): ` +
          'register them as another version, or put the former ones back'
        );
      }
      this.stamp ??= stamp;
      // Other files, and then these again: nobody knows which were read.
      return stamp === this.stamp ? undefined : 'the files change while they are read';
    } catch (error) {
      return `cannot be read: ${reasonOf(error)}`;
    }
  }
}
