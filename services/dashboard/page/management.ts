import type { ClusterAnswer, QueueAnswer } from '../../client/clientModule.js';
import type { ClusterView } from '../feedFrame.js';
import { ClusterTables } from './clusterTables.js';
import { byId, setText } from './dom.js';
import { Failures } from './failures.js';
import { FeedbackPanel } from './feedbackPanel.js';
import { callVerb, VerbError } from './verbs.js';

const EVERY_MS = 2000;
const MOST_SHOWN = 100;

const status = byId('status', HTMLElement);
const tables = new ClusterTables();
const feedback = new FeedbackPanel();
const failures = new Failures(() => void look());

/** undefined: this server is part of no cluster. */
async function clusterView(): Promise<ClusterView | undefined> {
  try {
    const { frontends, nodes } = (await callVerb('cluster_status', {})) as ClusterAnswer;
    return {
      frontends: frontends.map(({ query, placing, last_word_seconds: lastWordSeconds, ...rest }) => ({
        ...rest,
        self: false,
        address: query,
        places: placing,
        lastWordSeconds,
      })),
      nodes: nodes.map((of) => ({
        ...of,
        problem: of.problem ?? null,
        roundTripSeconds: of.round_trip_seconds ?? null,
        lastWordSeconds: of.last_word_seconds,
      })),
    };
  } catch (error) {
    if (error instanceof VerbError && error.code === 'not_a_cluster') return undefined;
    throw error;
  }
}

async function look(): Promise<void> {
  try {
    const cluster = await clusterView();
    const asked = { states: ['failed'], limit: MOST_SHOWN };
    let queue: QueueAnswer | undefined;
    let problem = 'live';
    try {
      queue = (await callVerb('list_feedback', asked)) as QueueAnswer;
    } catch (error) {
      // Redis is away: what was there last stays.
      if (!(error instanceof VerbError)) throw error;
      problem = error.message;
    }
    tables.show(cluster ?? null);
    if (queue !== undefined) {
      feedback.show(queue.queued ? { ...queue.counts, lagSeconds: 0, spooled: 0 } : null);
      failures.show(queue.feedback, queue.queued);
    }
    setText(status, problem);
    status.dataset.state = problem === 'live' ? 'live' : 'connecting';
  } catch (error) {
    setText(status, error instanceof VerbError ? error.message : 'connecting');
    status.dataset.state = 'connecting';
  }
}

async function follow(): Promise<void> {
  if (!document.hidden) await look();
  setTimeout(() => void follow(), EVERY_MS);
}

void follow();
