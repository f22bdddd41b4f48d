export { Dashboard, managementPage } from './dashboard.js';
export type { DashboardSources } from './frameSource.js';
export type * from './feedFrame.js';
