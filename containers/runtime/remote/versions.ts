import { OLDEST_PROTOCOL_VERSION, PROTOCOL_VERSION } from '../../protocol/index.js';
import { LinkError } from './linkError.js';
import type { VersionRange } from './messages.js';

export const SPOKEN_VERSIONS: VersionRange = { oldest: OLDEST_PROTOCOL_VERSION, newest: PROTOCOL_VERSION };

/** The newest that both sides speak. @throws LinkError `protocol_version` */
export function commonVersion(own: VersionRange, theirs: VersionRange, who: string): number {
  const version = Math.min(own.newest, theirs.newest);
  if (version >= own.oldest && version >= theirs.oldest) return version;
  const said = ({ oldest, newest }: VersionRange): string => `${oldest} to ${newest}`;
  throw new LinkError(
    'protocol_version',
    `${who} speaks protocol versions ${said(theirs)}, this side ${said(own)}: run builds that are one version apart at most`,
  );
}
