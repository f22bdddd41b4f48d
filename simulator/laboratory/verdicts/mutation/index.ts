export { hunt, type Hunted, type HuntOptions, type MutableValidator } from './hunt.js';
export { MUTATIONS, type Mutation } from './mutations.js';
