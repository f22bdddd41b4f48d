import type { NodeSecurity } from '../../containers/runtime/index.js';
import type { FaultSettings } from '../../simulator/cluster/index.js';
import type { Complaint } from '../errors/index.js';
import { Certificates } from '../http/index.js';
import { CommandError } from './commandError.js';
import { clusterKey } from './dialledNodes.js';
import { checkedFaults } from './faultOptions.js';
import { checkedCards } from './gpusOption.js';
import { checkedJoin } from './joinCluster.js';
import type { NodeOptions } from './nodeCommand.js';
import { checkedScheduling } from './schedulingOption.js';

/** What a node is started with, beside its options as they are. */
export interface NodePlan {
  readonly faults: FaultSettings;
  /** To be closed. */
  readonly certificates: Certificates | undefined;
  readonly security: NodeSecurity;
}

/**
 * What options of `node` come to; nothing is started or reached.
 * @throws CommandError, RedisError, TlsError (as rejections) naming options that do not go together or cannot be used
 */
export async function nodePlan(options: NodeOptions, complain: Complaint): Promise<NodePlan> {
  await checkedScheduling('--scheduling', options.scheduling);
  await checkedCards('--gpus', options.gpus);
  checkedJoin(options);
  const faults = await checkedFaults(options);
  const certificates = certificatesOf(options, complain);
  return { faults, certificates, security: securityOf(options, certificates) };
}

/** @throws CommandError, TlsError */
function certificatesOf(
  { tlsCert, tlsKey, tlsCa }: NodeOptions,
  complain: Complaint,
): Certificates | undefined {
  if (tlsCert !== undefined && tlsKey !== undefined) {
    return new Certificates(
      { cert: tlsCert, key: tlsKey, ...(tlsCa === undefined ? {} : { ca: tlsCa }) },
      complain,
    );
  }
  if (tlsCert === undefined && tlsKey === undefined && tlsCa === undefined) return undefined;
  throw new CommandError('--tls-cert and --tls-key go together, and --tls-ca needs both');
}

function securityOf(options: NodeOptions, certificates: Certificates | undefined): NodeSecurity {
  return {
    key: clusterKey(options.clusterKeyFile),
    tls:
      certificates === undefined
        ? undefined
        : { context: certificates.context, asksClients: certificates.asksClients },
  };
}
