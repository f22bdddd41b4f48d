/**
 * Registrations of one version take turns, since each reads a model's files: of many at once the first decides, and the others are told at
 * once that the version is there.
 */
export class VersionTurns {
  /** The last task that came for each version: what the next one for it waits for. */
  private readonly newest = new Map<string, Promise<unknown>>();

  /** Runs the task when those of the same version that came before are through. */
  run<T>(name: string, version: string, task: () => Promise<T>): Promise<T> {
    const key = JSON.stringify([name, version]);
    const before = this.newest.get(key) ?? Promise.resolve();
    const mine = before.then(task, task);
    this.newest.set(key, mine);
    const forget = (): void => {
      if (this.newest.get(key) === mine) this.newest.delete(key);
    };
    void mine.then(forget, forget);
    return mine;
  }
}
