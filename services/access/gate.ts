import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { AccessKey } from './accessKey.js';
import type { AccessKeys } from './accessKeys.js';
import { shownKey, shownWebSocketKey, type Shown } from './credentials.js';
import { DenialLog, type DenialCount, type Interface } from './denialLog.js';
import {
  Denial,
  expiredKey,
  malformedKey,
  missingKey,
  missingScope,
  outsideLimit,
  severalKeys,
  wrongKey,
  type Challenge,
} from './denials.js';
import { keyHash, keyId } from './keyText.js';
import type { Scope, TargetKind } from './scopes.js';

/** What an unknown id is compared with, so that it costs what a known one does. No text has this hash. */
const NO_HASH = Buffer.alloc(32);

export interface GateOptions {
  readonly keys: AccessKeys;
  readonly interfaceName: Interface;
  readonly complain?: (message: string, details: Readonly<Record<string, unknown>>) => void;
  readonly nowMs?: () => number;
}

/**
 * Who comes in to an interface, and what they may ask. A request costs one hash and one look into a Map: what was
 * checked is not remembered by its text, so that nothing but the comparison of hashes ever decides.
 */
export class Gate {
  private readonly keys: AccessKeys;
  private readonly log: DenialLog;
  private readonly nowMs: () => number;

  constructor({ keys, interfaceName, complain, nowMs }: GateOptions) {
    this.keys = keys;
    this.nowMs = nowMs ?? Date.now;
    this.log = new DenialLog(interfaceName, complain ?? (() => undefined), this.nowMs);
  }

  /** The key of a request that has the scope, or why there is none. */
  admit(request: IncomingMessage, scope: Scope, challenge: Challenge = 'bearer'): AccessKey | Denial {
    const key = this.identify(request, shownKey(request), challenge);
    if (key instanceof Denial || key.permits(scope)) return key;
    return this.deny(missingScope(scope), key, request);
  }

  /** Why a request may not do this to what it names; undefined: it may. */
  denial(request: IncomingMessage, scope: Scope, kind?: TargetKind, name?: string): Denial | undefined {
    const key = this.keyFor(request, scope, kind, name);
    return key instanceof Denial ? key : undefined;
  }

  /** The key of a request that may do this to what it names, or why it may not. */
  keyFor(request: IncomingMessage, scope: Scope, kind?: TargetKind, name?: string): AccessKey | Denial {
    const key = this.admit(request, scope);
    if (key instanceof Denial) return key;
    if (kind === undefined || name === undefined || key.covers(kind, name)) return key;
    return this.deny(outsideLimit(kind), key, request);
  }

  /** The key of a handshake. What its messages need is checked when they come. */
  admitWebSocket(request: IncomingMessage): AccessKey | Denial {
    const key = this.identify(request, shownWebSocketKey(request), 'bearer');
    if (key instanceof Denial || key.permits('predict') || key.permits('feedback')) return key;
    return this.deny(missingScope('predict'), key, request);
  }

  /** Why a key that was let in may not do this; undefined: it may. */
  refusal(key: AccessKey, scope: Scope, kind: TargetKind, name: string): Denial | undefined {
    if (!key.permits(scope)) return this.deny(missingScope(scope), key);
    return key.covers(kind, name) ? undefined : this.deny(outsideLimit(kind), key);
  }

  /** Of requests that were turned away. */
  counts(): readonly DenialCount[] {
    return this.log.counts();
  }

  private identify(request: IncomingMessage, shown: Shown, challenge: Challenge): AccessKey | Denial {
    if (shown.key === undefined) {
      const { problem } = shown;
      const denial = problem === 'several' ? severalKeys(challenge) : missingKey(challenge, problem);
      return this.deny(denial, undefined, request);
    }
    const id = keyId(shown.key);
    if (id === undefined) return this.deny(malformedKey(challenge), undefined, request);
    const key = this.keys.find(id);
    const isRight = timingSafeEqual(keyHash(shown.key), key?.hash ?? NO_HASH);
    if (key === undefined) return this.deny(wrongKey('unknown', challenge), undefined, request);
    if (!isRight) return this.deny(wrongKey('wrong_secret', challenge), key, request);
    if (key.isExpired(this.nowMs())) return this.deny(expiredKey(challenge), key, request);
    return key;
  }

  private deny(denial: Denial, key: AccessKey | undefined, request?: IncomingMessage): Denial {
    this.log.note(denial.reason, { address: request?.socket.remoteAddress, keyId: key?.record.id });
    return denial;
  }
}
