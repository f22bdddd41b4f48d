import type { Token } from './lexer.js';
import type { TokenStream } from './tokenStream.js';

interface Since {
  readonly version: number;
  readonly architecture?: number;
}

/** What declarations may say from which PTX, and for which targets, on: of ptxas of CUDA 13.0. */
const features = {
  '.weak': { version: 301 },
  '.common': { version: 500 },
  '.attribute': { version: 400 },
  '.managed': { version: 400, architecture: 30 },
  '.alias': { version: 603, architecture: 30 },
  '.b128': { version: 803, architecture: 70 },
  '.f16x2': { version: 402, architecture: 53 },
  '.pragma': { version: 200 },
  '.maxntid': { version: 103 },
  '.texref': { version: 105 },
  '.samplerref': { version: 105 },
  '.surfref': { version: 105 },
  generic: { version: 301 },
} as const satisfies Readonly<Record<string, Since>>;

/** Fails at what its PTX does not have yet, and says which has. @throws PtxParseError */
export function checkFeature(stream: TokenStream, token: Token): void {
  if (!Object.hasOwn(features, token.text)) return;
  const since: Since = features[token.text as keyof typeof features];
  const { version, architecture } = stream.dialect;
  if (version < since.version)
    stream.fail(`.version ${Math.floor(since.version / 100)}.${since.version % 100} or later`, token);
  if (architecture < (since.architecture ?? 0))
    stream.fail(`.target sm_${since.architecture} or later`, token);
}
