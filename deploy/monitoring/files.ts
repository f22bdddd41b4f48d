import { BOARDS, grafanaJson } from './dashboards/index.js';
import { alertFile, recordingRuleFile } from './rules/index.js';

/** Every file that is made from code, by its path from the repository's root. */
export function monitoringFiles(): ReadonlyMap<string, string> {
  return new Map([
    ...BOARDS.map((board) => [`deploy/grafana/dashboards/${board.name}.json`, grafanaJson(board)] as const),
    ['deploy/prometheus/recording.rules.yml', recordingRuleFile()],
    ['deploy/prometheus/alerts.rules.yml', alertFile()],
  ]);
}
