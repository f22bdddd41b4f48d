import { cssValue } from './dom.js';

/** Pen and canvas in canvas pixels: a stroke is as thick as MNIST's once it is scaled. */
const PEN = 22;
const KEY_STEP = 10;
/** After the last stroke, before the drawing counts as done. */
const DONE_MS = 450;

interface Point {
  readonly x: number;
  readonly y: number;
}

export interface PadListener {
  /** The drawing is done for now, or Enter was pressed. */
  onDrawn(): void;
  onCleared(): void;
}

/** A canvas to draw on with mouse, finger, pen or keys. */
export class DrawingPad {
  private readonly context: CanvasRenderingContext2D;
  private pointer: number | undefined;
  private last: Point | undefined;
  private timer: number | undefined;
  private drawn = false;
  /** Where the keys' pen stands. */
  private keyAt: Point;
  private keyDown = false;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly listener: PadListener,
  ) {
    const context = canvas.getContext('2d', { willReadFrequently: true });
    if (context === null) throw new Error('this browser has no 2D canvas');
    this.context = context;
    this.keyAt = { x: canvas.width / 2, y: canvas.height / 4 };
    canvas.addEventListener('pointerdown', (event) => this.onPointerDown(event));
    canvas.addEventListener('pointermove', (event) => this.onPointerMove(event));
    canvas.addEventListener('pointerup', (event) => this.onPointerEnd(event));
    canvas.addEventListener('pointercancel', (event) => this.onPointerEnd(event));
    canvas.addEventListener('keydown', (event) => this.onKey(event));
  }

  get empty(): boolean {
    return !this.drawn;
  }

  /** Ink from 0 to 1, row by row. */
  ink(): Float32Array {
    const { width, height } = this.canvas;
    const { data } = this.context.getImageData(0, 0, width, height);
    return Float32Array.from({ length: width * height }, (_, at) => data[at * 4 + 3] / 255);
  }

  clear(): void {
    clearTimeout(this.timer);
    this.context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.drawn = false;
    this.keyDown = false;
    this.label('Drawing area, empty');
    this.listener.onCleared();
  }

  /** The ink takes the theme's colour. */
  restyle(): void {
    const { context, canvas } = this;
    context.globalCompositeOperation = 'source-in';
    context.fillStyle = cssValue('--ink');
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.globalCompositeOperation = 'source-over';
  }

  private onPointerDown(event: PointerEvent): void {
    if (this.pointer !== undefined || event.button !== 0) return;
    this.pointer = event.pointerId;
    this.canvas.setPointerCapture(event.pointerId);
    this.last = this.pointOf(event);
    this.stroke(this.last, this.last);
    clearTimeout(this.timer);
  }

  private onPointerMove(event: PointerEvent): void {
    if (event.pointerId !== this.pointer || this.last === undefined) return;
    for (const part of event.getCoalescedEvents?.() ?? [event]) {
      const point = this.pointOf(part);
      this.stroke(this.last, point);
      this.last = point;
    }
  }

  private onPointerEnd(event: PointerEvent): void {
    if (event.pointerId !== this.pointer) return;
    this.pointer = undefined;
    this.last = undefined;
    this.doneSoon();
  }

  private onKey(event: KeyboardEvent): void {
    const step = STEPS[event.key];
    if (step !== undefined) this.moveKeyPen(step);
    else if (event.key === ' ') this.toggleKeyPen();
    else if (event.key === 'Enter') this.listener.onDrawn();
    else if (event.key === 'Delete' || event.key === 'Backspace') this.clear();
    else return;
    event.preventDefault();
  }

  private moveKeyPen([dx, dy]: readonly [number, number]): void {
    const { width, height } = this.canvas;
    const from = this.keyAt;
    const inside = (value: number, side: number): number => Math.min(side - PEN, Math.max(PEN, value));
    this.keyAt = {
      x: inside(from.x + dx * KEY_STEP, width),
      y: inside(from.y + dy * KEY_STEP, height),
    };
    if (this.keyDown) this.stroke(from, this.keyAt);
    this.labelKeyPen();
  }

  private toggleKeyPen(): void {
    this.keyDown = !this.keyDown;
    if (this.keyDown) this.stroke(this.keyAt, this.keyAt);
    this.labelKeyPen();
  }

  private stroke(from: Point, to: Point): void {
    const { context } = this;
    context.strokeStyle = cssValue('--ink');
    context.lineWidth = PEN;
    context.lineCap = 'round';
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.lineTo(to.x, to.y);
    context.stroke();
    if (!this.drawn) this.label('Drawing area, with a drawing');
    this.drawn = true;
  }

  private doneSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.listener.onDrawn(), DONE_MS);
  }

  private pointOf({ clientX, clientY }: PointerEvent): Point {
    const { left, top, width, height } = this.canvas.getBoundingClientRect();
    return {
      x: ((clientX - left) / width) * this.canvas.width,
      y: ((clientY - top) / height) * this.canvas.height,
    };
  }

  private label(text: string): void {
    this.canvas.setAttribute('aria-label', text);
  }

  private labelKeyPen(): void {
    const { x, y } = this.keyAt;
    const { width, height } = this.canvas;
    const percent = (value: number, side: number): string => `${Math.round((value / side) * 100)} %`;
    const place = `${percent(x, width)} from the left, ${percent(y, height)} from the top`;
    this.label(`Drawing area, pen ${this.keyDown ? 'down' : 'up'}, ${place}`);
  }
}

const STEPS: Readonly<Record<string, readonly [number, number] | undefined>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
