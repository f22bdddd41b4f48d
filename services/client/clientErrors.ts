import { reasonOf } from '../../simulator/text/index.js';
/** Why a call of a client failed. `code` is stable and meant for programs. */
export abstract class ClientError extends Error {
  abstract readonly code: string;
}

/** The server answered with an error of its catalogue (docs/reference/errors.md). */
export class RefusedError extends ClientError {
  override readonly name = 'RefusedError';

  constructor(
    readonly code: string,
    /** Of HTTP, also for a refusal on a WebSocket. */
    readonly status: number,
    message: string,
    /** The part of the request at fault. */
    readonly field?: string,
    /** When another try is worth it, where the server knows. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

/** No connection, or one that broke before the answer came: whether the request was taken is unknown. */
export class UnreachableError extends ClientError {
  override readonly name = 'UnreachableError';
  readonly code = 'unreachable';
}

/** The server's certificate is not trusted, or the server does not speak TLS as the client does. */
export class SecurityError extends ClientError {
  override readonly name = 'SecurityError';
  readonly code = 'insecure';
}

/**
 * What failing to connect means.
 * @param message when there is nothing more to say than that nobody is there
 * @param wasThere it has answered this client before
 */
export function unreachable(address: string, message: string, cause: unknown, wasThere = false): ClientError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const reason = reasonOf(cause);
  if (/CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME/.test(code)) {
    const advice = 'give its authority (--ca FILE, or ca of the client) if you trust it';
    return new SecurityError(`the certificate of ${address} is not trusted (${reason}); ${advice}`, {
      cause,
    });
  }
  if (
    code === 'ERR_SSL_WRONG_VERSION_NUMBER' ||
    code === 'EPROTO' ||
    code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG'
  ) {
    return new SecurityError(
      `${address} does not speak TLS as this client does: ask http:// if it speaks none (${code})`,
      { cause },
    );
  }
  if (code !== 'ECONNRESET') return new UnreachableError(message, { cause });
  const isOtherScheme = !wasThere && address.startsWith('http:');
  const hint = isOtherScheme ? 'if the server speaks TLS, ask https://' : 'a server that stops does that';
  return new UnreachableError(`${message}; the connection was broken off: ${hint}`, { cause });
}

/** No answer within the client's time limit. */
export class TimeoutError extends ClientError {
  override readonly name = 'TimeoutError';
  readonly code = 'timeout';
}

/** The answer is not what this server would say: something else listens there. */
export class UnexpectedAnswerError extends ClientError {
  override readonly name = 'UnexpectedAnswerError';
  readonly code = 'unexpected_answer';
}
