export const QUERY_PORT = 1337;
export const NODE_PORT = 4101;

/** Endpoints of a Service hear of a pod that ends in that time, on a busy cluster too. */
const NOTICE_MS = 8000;
const GRACE_MS = 15_000;
/** For a node's replicas to move to others. */
const MOVING_MS = 25_000;
/** Longer than the longer drain. */
export const TERMINATION_SECONDS = 45;

export const SECRETS_FOLDER = '/etc/windjammer-secrets';
export const CONFIGURATION_FOLDER = '/etc/windjammer';
export const DATA_FOLDER = '/data';

const shared = { 'data-dir': DATA_FOLDER, 'cluster-key-file': `${SECRETS_FOLDER}/cluster-key` };

/** The configuration file of all pods; what differs between them is in their arguments and environment. */
export const CONFIGURATION = {
  serve: {
    host: '0.0.0.0',
    ...shared,
    'only-nodes': true,
    defaults: false,
    'drain-notice-ms': NOTICE_MS,
    'drain-grace-ms': GRACE_MS,
  },
  node: {
    ...shared,
    listen: `0.0.0.0:${NODE_PORT}`,
    gpus: ['h200'],
    'drain-notice-ms': MOVING_MS,
    'drain-grace-ms': GRACE_MS,
  },
};
