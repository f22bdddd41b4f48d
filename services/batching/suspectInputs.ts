import { sameBytes } from '../cache/index.js';
import { BadSources } from './badSources.js';
import type { Evaluation } from './evaluation.js';
import { KillingSources } from './killingSources.js';

/** Inputs that are remembered, and their bytes: beyond either the oldest are forgotten. */
const MOST_INPUTS = 4096;
const MOST_BYTES = 16 * 1024 * 1024;
const REMEMBERED_NS = 300e9;
/** So many losses, alone at the last one, convict an input: one alone may have been anybody's kill. */
const CONVICTING_LOSSES = 2;

/** More than any batch holds. */
const LARGEST_GROUP = 2 ** 30;

interface Suspect {
  readonly input: Uint8Array;
  losses: number;
  mostTogether: number;
  isDangerous: boolean;
  /** Why it is not tried again; undefined while it is. */
  verdict: string | undefined;
  /** Batches that the model had answered when it was first suspected. */
  readonly answersBefore: number;
  untilNs: number;
}

/**
 * Inputs of one model that were in batches that were lost or failed as a whole. Halving such a batch, and then quartering
 * what is lost again and so on, finds the input that spoils it in at most log2(n) further losses, and in fewer where n is
 * large. Asked again, a suspect goes on where it was; one that has taken down a replica all by itself while the model
 * answered others is not tried again for a while, so that a client who insists does not take down the next one.
 */
export class SuspectInputs {
  private readonly byHash = new Map<number, Suspect>();
  private readonly sources = new BadSources();
  readonly killing = new KillingSources();
  private bytes = 0;
  private answers = 0;

  /** Whether replicas ask a batch that has failed again in parts by themselves: then inputs of bad sources need no small groups. */
  arePartedInside = false;

  /** Whether inputs that may take a replica down are tried at one that is there for them. */
  areTriedApart = false;

  get size(): number {
    return this.byHash.size;
  }

  /** A batch was answered, by whichever replica. @param wasFeared it might have taken the replica down. */
  onAnswered(wasFeared: boolean): void {
    this.answers += 1;
    if (!wasFeared) this.killing.onOthersAnswered();
  }

  /**
   * Evaluations that spoilt a batch together: each is suspected from now on.
   * @param isDangerous the batch's replica was lost with it; false: its items all failed.
   * @param wereAlone nothing else was in flight.
   * @param isProof nothing that the replica was asked before can have been the reason.
   * @returns why the only one of them is not to be tried again, where it is so.
   */
  accuse(
    batch: readonly Evaluation[],
    isDangerous: boolean,
    wereAlone: boolean,
    nowNs: number,
    isProof = true,
  ): string | undefined {
    let verdict: string | undefined;
    for (const evaluation of batch) {
      evaluation.losses += 1;
      const wasDangerous = evaluation.isDangerous;
      evaluation.isDangerous ||= isDangerous;
      const pieces = 2 ** evaluation.losses;
      evaluation.mostTogether = Math.max(
        1,
        Math.min(evaluation.mostTogether, Math.ceil(batch.length / pieces)),
      );
      if (!isDangerous) continue;
      const { source } = evaluation;
      const suspect = this.remember(evaluation, nowNs);
      const isKnown = source !== undefined && this.killing.hasKilled(source, nowNs);
      const isCertain = isKnown || (isProof && suspect.losses >= CONVICTING_LOSSES);
      if (batch.length === 1 && wereAlone && wasDangerous && isCertain) {
        if (source !== undefined) this.killing.onKilled(source, nowNs);
        verdict = `this input was isolated: ${suspect.losses} replicas were lost with it, the last with nothing else`;
        // A model that answers nobody else may be what is broken.
        if (this.answers > suspect.answersBefore) suspect.verdict = verdict;
      } else if (source !== undefined) {
        this.killing.onLost(source, nowNs);
      }
    }
    return verdict;
  }

  /** It has failed by itself after it had spoilt a batch: for a while it goes alone. */
  remember(evaluation: Evaluation, nowNs: number): Suspect {
    const { input, hash, losses, mostTogether, isDangerous } = evaluation;
    const found = this.find(evaluation, nowNs);
    const suspect: Suspect = found ?? {
      input,
      losses,
      mostTogether,
      isDangerous,
      verdict: undefined,
      answersBefore: this.answers,
      untilNs: 0,
    };
    this.drop(hash);
    suspect.losses = losses;
    suspect.mostTogether = mostTogether;
    suspect.isDangerous = isDangerous;
    suspect.untilNs = nowNs + REMEMBERED_NS;
    // At the end: the map's order is that of the last loss.
    this.byHash.set(hash, suspect);
    this.bytes += input.length;
    for (const oldest of this.byHash.keys()) {
      if (this.byHash.size <= MOST_INPUTS && this.bytes <= MOST_BYTES) break;
      this.drop(oldest);
    }
    return suspect;
  }

  /** Gives a new evaluation what is known of its input. @returns why it is not to be tried, where it is not. */
  recognise(evaluation: Evaluation, nowNs: number): string | undefined {
    if (!this.isOnTrial(evaluation, nowNs)) this.isOfBadSource(evaluation);
    if (this.byHash.size === 0) return undefined;
    const suspect = this.find(evaluation, nowNs);
    if (suspect === undefined) return undefined;
    evaluation.losses = suspect.losses;
    evaluation.mostTogether = Math.min(evaluation.mostTogether, suspect.mostTogether);
    evaluation.isDangerous ||= suspect.isDangerous;
    return suspect.verdict;
  }

  /** Whether its source is not trusted to send nothing that takes replicas down: then it goes to one that is there for that. */
  isOnTrial(evaluation: Evaluation, nowNs: number): boolean {
    const { source } = evaluation;
    if (!this.areTriedApart || source === undefined || this.killing.isTrusted(source, nowNs)) return false;
    evaluation.isOnTrial = true;
    evaluation.isOfBadSource = true;
    evaluation.isDangerous = true;
    evaluation.mostTogether = Math.min(evaluation.mostTogether, this.killing.mostTogether);
    return true;
  }

  /** Whether its source is a bad one by now: then it travels with its like. */
  isOfBadSource(evaluation: Evaluation): boolean {
    const { source } = evaluation;
    if (source === undefined || !this.sources.isBad(source)) return false;
    const mostTogether = this.arePartedInside ? LARGEST_GROUP : this.sources.mostTogether(source);
    evaluation.isOfBadSource = true;
    evaluation.mostTogether = Math.min(evaluation.mostTogether, mostTogether);
    return true;
  }

  /** An input had an answer of its own, or failed by itself: that tells of it, and of its source. */
  onOwnAnswer(evaluation: Evaluation, isOk: boolean, nowNs: number): void {
    const { source } = evaluation;
    if (source !== undefined) {
      this.sources.judge(source, !isOk);
      // It has lived through that.
      this.killing.onAnswered(source, evaluation.isOnTrial);
    }
    if (isOk || evaluation.isDangerous) {
      if (evaluation.mostTogether !== Infinity) this.drop(evaluation.hash);
    } else {
      evaluation.mostTogether = 1;
      this.remember(evaluation, nowNs);
    }
  }

  private find({ hash, input }: Evaluation, nowNs: number): Suspect | undefined {
    const suspect = this.byHash.get(hash);
    if (suspect === undefined || !sameBytes(suspect.input, input)) return undefined;
    if (suspect.untilNs > nowNs) return suspect;
    this.drop(hash);
    return undefined;
  }

  private drop(hash: number): void {
    const suspect = this.byHash.get(hash);
    if (suspect === undefined) return;
    this.byHash.delete(hash);
    this.bytes -= suspect.input.length;
  }
}
