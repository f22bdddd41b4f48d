import { FeedbackUnderKills } from './feedbackUnderKills.js';

/*
 * Kills at random moments while feedback is given: `node dist/services/tests/feedbackKillRun.js [SEED] [KILLS]`. Prints what
 * came of it, and ends with 1 where acknowledged feedback was not learned exactly once.
 */
const [seed = 1, kills = 200] = process.argv.slice(2).map(Number);
const report = await FeedbackUnderKills.run(seed, kills, (made) => {
  if (made % 20 === 0) process.stderr.write(`${made} kills\n`);
});
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
const { keyed, judged } = report;
const isExact =
  keyed.learned === keyed.acknowledged &&
  judged.learned >= judged.acknowledged &&
  judged.learned <= judged.acknowledged + judged.doubtful;
process.exit(isExact ? 0 : 1);
