import type { Json } from '../../selection/index.js';
import type { StoreOutcome } from '../store/index.js';
import type { SelectionStates } from './selectionStates.js';
import type { PastVersion } from './stateHistory.js';

/** A learned state as somebody takes it away. */
export interface StateExport {
  readonly policy: string;
  /** Of the store; 0: nothing was learned yet. */
  readonly version: number;
  readonly isPinned: boolean;
  readonly state: Json;
  /** Versions that it can be taken back to, the oldest first. */
  readonly past: readonly PastVersion[];
}

/** There is no such version to take a state back to. */
export class NoSuchVersionError extends Error {
  override readonly name = 'NoSuchVersionError';
}

/** Of a context once it is read. */
export function exportState(states: SelectionStates, context: string): StateExport {
  const learned = states.of(context);
  return {
    policy: states.policy.name,
    version: learned.storedVersion,
    isPinned: learned.isPinned,
    state: learned.state,
    past: states.history.versions(context),
  };
}

/** Learning stops with what is stored, or goes on. */
export function pinState(
  states: SelectionStates,
  context: string,
  isPinned: boolean,
  done: (outcome: StoreOutcome) => void,
): void {
  states.of(context).edit({ change: (state) => ({ state, isPinned }), done });
}

/** As before any feedback; one that is pinned stays so. */
export function resetState(
  states: SelectionStates,
  context: string,
  done: (outcome: StoreOutcome) => void,
): void {
  states.of(context).edit({ change: (_, isPinned) => ({ state: states.initial(context), isPinned }), done });
}

/**
 * Takes a state back, that of a context once it is read; one that is pinned stays so.
 * @param version one that is kept; undefined: the last before the present one
 * @returns the version that it was taken back to
 * @throws NoSuchVersionError
 */
export function rollBackState(
  states: SelectionStates,
  context: string,
  version: number | undefined,
  done: (outcome: StoreOutcome) => void,
): number {
  const versions = states.history.versions(context);
  const found = version === undefined ? versions.at(-1) : versions.find((past) => past.version === version);
  if (found === undefined) {
    const kept = versions.map((past) => past.version).join(', ');
    throw new NoSuchVersionError(
      version === undefined
        ? 'no earlier version of this state is kept: it has never been learned from twice'
        : `version ${version} of this state is not kept: ${kept === '' ? 'none is' : `those kept are ${kept}`}`,
    );
  }
  const state = states.adopt(found.state, context);
  states.of(context).edit({ change: (_, isPinned) => ({ state, isPinned }), done });
  return found.version;
}
