import { budgetLeft, FAST_BURN, missedShare, PERIOD, SLOW_BURN } from './objectives.js';
import { recording, type RecordingRule } from './rule.js';

/** @param speed so many times shorter is every time in them: for trying them out */
export function recordingRules(speed = 1): readonly RecordingRule[] {
  const windows = [FAST_BURN, SLOW_BURN].flatMap(({ shortSeconds, longSeconds }) => [
    shortSeconds,
    longSeconds,
  ]);
  return [
    ...windows.map((seconds) => recording(missedShare(seconds, speed))),
    recording(missedShare(PERIOD, speed)),
    recording(budgetLeft(speed)),
  ];
}
