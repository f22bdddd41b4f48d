export { BackupError } from './backupError.js';
export type { BackupHeader } from './format.js';
export { readBackup, type BackupPart } from './readBackup.js';
export { writeBackup, type BackupSources } from './writeBackup.js';
