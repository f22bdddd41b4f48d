import type { Store } from '../store/index.js';
import { AccessError } from './accessError.js';
import { AccessKeys } from './accessKeys.js';
import type { DenialCount } from './denialLog.js';
import { Gate } from './gate.js';

/** How a server is started, as far as keys go. */
export interface AccessSettings {
  readonly required: boolean;
  /** The text of a key that may administer, which is not kept: with it keys are required. */
  readonly adminKey?: string | undefined;
}

type Complain = (message: string, details: Readonly<Record<string, unknown>>) => void;

/** The keys of a server, and who guards its interfaces where keys are required. */
export class ServerAccess {
  readonly keys: AccessKeys;
  readonly queryGate: Gate | undefined;
  readonly managementGate: Gate | undefined;

  /** @throws AccessError when keys are required and nobody could ever make one */
  constructor(store: Store, { required, adminKey }: AccessSettings, complain: Complain) {
    this.keys = new AccessKeys(store, adminKey);
    const { keys } = this;
    if (!required && adminKey === undefined) {
      const count = keys.list().length;
      // Whoever made them may believe that they are asked for.
      if (count > 0)
        complain('there are keys and nobody is asked for one: start with --require-keys', { count });
      return;
    }
    if (!keys.canAdminister()) {
      keys.close();
      throw new AccessError(
        'keys are required and none may administer: make one with windjammer key add NAME --scope admin --data-dir DIR, ' +
          'or start with --admin-key-file FILE',
      );
    }
    this.queryGate = new Gate({ keys, interfaceName: 'query', complain });
    this.managementGate = new Gate({ keys, interfaceName: 'management', complain });
  }

  get required(): boolean {
    return this.queryGate !== undefined;
  }

  /** Of requests that were turned away, by interface and reason. */
  denials(): readonly DenialCount[] {
    return [...(this.queryGate?.counts() ?? []), ...(this.managementGate?.counts() ?? [])];
  }

  close(): void {
    this.keys.close();
  }
}
