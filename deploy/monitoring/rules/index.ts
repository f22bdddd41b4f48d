export { alerts, JOB } from './alerts.js';
export { BUDGET, budgetLeft, missedShare, TARGET } from './objectives.js';
export { alertFile, recordingRuleFile, RUNBOOK } from './ruleFile.js';
