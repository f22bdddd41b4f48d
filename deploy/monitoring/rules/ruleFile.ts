import { stringify } from 'yaml';
import { duration } from '../../../services/metrics/index.js';
import { alerts } from './alerts.js';
import { recordingRules } from './recordingRules.js';

const HEAD =
  '# Made by `node dist/deploy/monitoring/writeFiles.js`; a test holds it to deploy/monitoring/rules.\n';
/** Where each alert has its heading. */
export const RUNBOOK = 'docs/guides/runbook.md';

function ruleFile(name: string, rules: readonly object[]): string {
  return HEAD + stringify({ groups: [{ name, rules }] }, { lineWidth: 0, singleQuote: true });
}

/** @param speed so many times shorter is every time in them: for trying them out */
export function recordingRuleFile(speed = 1): string {
  return ruleFile(
    'windjammer-recording',
    recordingRules(speed).map(({ name, promql }) => ({ record: name, expr: promql })),
  );
}

/** @param speed so many times shorter is every time in them: for trying them out */
export function alertFile(speed = 1): string {
  return ruleFile(
    'windjammer-alerts',
    alerts(speed).map(({ name, severity, promql, forSeconds, summary }) => ({
      alert: name,
      expr: promql,
      ...(forSeconds === 0 ? {} : { for: duration(forSeconds) }),
      labels: { severity },
      annotations: { summary, runbook_url: `${RUNBOOK}#${name.toLowerCase()}` },
    })),
  );
}
