export { coverageText } from './coverageText.js';
export { SORT_KEYS, type SortKey } from './figures.js';
export { KernelTable, type LaunchOrigin } from './kernelTable.js';
export { profilePage } from './page/profilePage.js';
export { METRICS, type Counts, type Metric } from './metrics.js';
export {
  DEFAULT_BUDGET,
  DEFAULT_SEED,
  profileLaunch,
  type CountedLaunch,
  type LaunchProfileOptions,
  type ProfileProgress,
} from './profileLaunch.js';
export {
  type Coverage,
  type KernelProfile,
  type LaunchOccupancy,
  type LaunchProfile,
  type ProfiledLine,
  type ProfiledSourceLine,
  type ProfileReport,
} from './profileReport.js';
export { profileSpecFiles, profileSpecs, type NamedSpec, type SpecProfileOptions } from './profileSpec.js';
export { DEFAULT_TOP, profileText, type ProfileTextOptions } from './profileText.js';
