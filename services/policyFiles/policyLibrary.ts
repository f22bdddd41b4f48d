/** `windjammer/policy`, for tests of a policy outside a server; in one a policy has these of its own. */
export { lossOf, PolicyError, sameOutput } from '../../selection/index.js';
