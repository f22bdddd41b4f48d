import type { ApplicationView, FeedFrame } from '../feedFrame.js';
import { DIGIT_SIDE, normaliseDigit } from './digit.js';
import { byId, element, setOptions, setText } from './dom.js';
import { DrawingPad } from './drawingPad.js';
import { formatShare } from './format.js';
import { judge, predict } from './predictions.js';
import { answerNodes, errorNodes, voteNode } from './verdict.js';
import { sharesOf } from './weights.js';

const INVITATION = 'Draw a digit from 0 to 9. The answer comes by itself.';

interface Asked {
  readonly application: string;
  readonly queryId: string;
}

interface Judged {
  readonly application: string;
  readonly label: number;
  readonly before: ReadonlyMap<string, number>;
  /** Frames since that show no change. */
  still: number;
}

/** After so many frames without a change none will come. */
const STILL_FRAMES = 2;

/** Draw a digit, see what every model makes of it, and say what it was. */
export class DigitPanel {
  private readonly select = byId('draw-application', HTMLSelectElement);
  private readonly ask = byId('ask', HTMLButtonElement);
  private readonly seen = byId('seen', HTMLCanvasElement);
  private readonly verdict = byId('verdict', HTMLElement);
  private readonly votes = byId('votes', HTMLElement);
  private readonly truth = byId('truth', HTMLFieldSetElement);
  private readonly learned = byId('learned', HTMLElement);
  private readonly pad: DrawingPad;
  private readonly buttons: readonly HTMLButtonElement[];
  private applications: readonly ApplicationView[] = [];
  /** Grows with each question, so that an answer to an earlier one is not shown. */
  private question = 0;
  private asked: Asked | undefined;
  private judged: Judged | undefined;

  /** @param onJudged hears whose weights are about to move. */
  constructor(private readonly onJudged: (application: string) => void) {
    this.pad = new DrawingPad(byId('pad', HTMLCanvasElement), {
      onDrawn: () => void this.predict(),
      onCleared: () => this.reset(),
    });
    this.ask.addEventListener('click', () => void this.predict());
    byId('clear', HTMLButtonElement).addEventListener('click', () => this.pad.clear());
    this.select.addEventListener('change', () => this.reset());
    this.buttons = Array.from({ length: 10 }, (_, label) => {
      const button = element('button', { text: String(label) });
      button.type = 'button';
      button.setAttribute('aria-label', `This was a ${label}`);
      button.addEventListener('click', () => void this.judge(label));
      return button;
    });
    byId('truth-buttons', HTMLElement).append(...this.buttons);
  }

  show({ applications }: FeedFrame): void {
    this.applications = applications;
    const fitting = applications.filter(takesDigits).map(({ name }) => name);
    if (setOptions(this.select, fitting)) this.reset();
    this.ask.disabled = fitting.length === 0;
    this.tellLearned();
  }

  restyle(): void {
    this.pad.restyle();
  }

  private async predict(): Promise<void> {
    const canvas = byId('pad', HTMLCanvasElement);
    const image = normaliseDigit(this.pad.ink(), canvas.width, canvas.height);
    const application = this.select.value;
    if (image === undefined || application === '') {
      const why = image === undefined ? INVITATION : 'No application takes images of 28 × 28 numbers.';
      this.verdict.replaceChildren(element('p', { class: 'note', text: why }));
      return;
    }
    this.paintSeen(image);
    const question = ++this.question;
    try {
      // Six digits are more than a pixel's shade has.
      const input = Array.from(image, (value) => Number(value.toFixed(6)));
      const prediction = await predict(application, input);
      if (question !== this.question) return;
      this.asked = { application, queryId: prediction.query_id };
      this.verdict.replaceChildren(...answerNodes(prediction));
      this.votes.replaceChildren(...prediction.votes.map(voteNode));
      this.openTruth();
    } catch (error) {
      if (question !== this.question) return;
      this.reset();
      this.verdict.replaceChildren(...errorNodes(wordsOf(error)));
    }
  }

  private async judge(label: number): Promise<void> {
    const { asked } = this;
    const view = this.applications.find(({ name }) => name === asked?.application);
    if (asked === undefined || view === undefined) return;
    // One query, one judgement.
    this.truth.disabled = true;
    this.asked = undefined;
    this.buttons[label].setAttribute('aria-pressed', 'true');
    const before = sharesOf(view);
    try {
      await judge(asked.application, asked.queryId, label);
      this.judged = { application: asked.application, label, before, still: 0 };
      setText(this.learned, 'Learned.');
      this.onJudged(asked.application);
    } catch (error) {
      setText(this.learned, wordsOf(error));
    }
  }

  /** Says how far the weights have moved, once a frame shows it. */
  private tellLearned(): void {
    const { judged } = this;
    const view = this.applications.find(({ name }) => name === judged?.application);
    if (judged === undefined || view === undefined) return;
    const moved = view.shares.filter(({ model, share }) => judged.before.get(model) !== share);
    if (moved.length === 0) {
      // Policies that learn from losses leave the weights alone after a right answer.
      judged.still += 1;
      if (judged.still < STILL_FRAMES) return;
      this.judged = undefined;
      setText(this.learned, `Learned that it was a ${judged.label}: the weights stay as they are.`);
      return;
    }
    this.judged = undefined;
    const words = moved.map(({ model, share }) => {
      return `${model} ${exactly(judged.before.get(model) ?? 0)} → ${exactly(share)}`;
    });
    setText(this.learned, `Learned that it was a ${judged.label}: ${words.join(', ')}`);
  }

  private reset(): void {
    this.question += 1;
    this.asked = undefined;
    this.judged = undefined;
    this.verdict.replaceChildren(element('p', { class: 'note', text: INVITATION }));
    this.votes.replaceChildren();
    this.closeTruth();
    if (this.pad.empty) this.paintSeen(new Float32Array(DIGIT_SIDE * DIGIT_SIDE));
  }

  private openTruth(): void {
    this.closeTruth();
    this.truth.disabled = false;
  }

  private closeTruth(): void {
    this.truth.disabled = true;
    setText(this.learned, '');
    for (const button of this.buttons) button.removeAttribute('aria-pressed');
  }

  private paintSeen(image: Float32Array): void {
    const context = this.seen.getContext('2d');
    if (context === null) return;
    const pixels = context.createImageData(DIGIT_SIDE, DIGIT_SIDE);
    image.forEach((value, at) => {
      const grey = Math.round(value * 255);
      pixels.data.set([grey, grey, grey, 255], at * 4);
    });
    context.putImageData(pixels, 0, 0);
  }
}

function takesDigits({ inputType, inputLength }: ApplicationView): boolean {
  return inputLength === DIGIT_SIDE * DIGIT_SIDE && (inputType === 'floats' || inputType === 'doubles');
}

/** Two digits behind the point: one feedback moves weights by little. */
function exactly(share: number): string {
  return share >= 0.0001 ? `${(share * 100).toFixed(2)}\u00a0%` : formatShare(share);
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
