export { AlertIntake, FIRING, MOST_A_MINUTE, RESOLVED, type AlertCounts } from './alertIntake.js';
export { MOST_ALERTS, notification, type Notification } from './notification.js';
