/** What the charts of a page draw: happy-dom has canvases, but nothing that draws on them. */

import { type Element, HTMLCanvasElement, HTMLElement } from 'happy-dom';
import { onTestFinished, vi } from 'vitest';
import type { PageWindow } from './window.ts';

type Point = readonly [x: number, y: number];

export interface Line {
  readonly points: readonly Point[];
  readonly colour: string;
  readonly width: number;
  readonly dash: readonly number[];
}

/** What a canvas shows since it was cleared. */
export interface Drawing {
  readonly lines: Line[];
  readonly texts: { readonly text: string; readonly x: number; readonly y: number; readonly colour: string }[];
}

class Path {
  readonly points: Point[] = [];
  moveTo(...point: Point): void {
    this.points.push(point);
  }
  lineTo(...point: Point): void {
    this.points.push(point);
  }
  rect(): void {}
}

class Context {
  readonly drawing: Drawing = { lines: [], texts: [] };
  fillStyle = '';
  strokeStyle = '';
  lineWidth = 1;
  #dash: readonly number[] = [];
  #path = new Path();

  clearRect(): void {
    this.drawing.lines.length = 0;
    this.drawing.texts.length = 0;
  }
  beginPath(): void {
    this.#path = new Path();
  }
  moveTo(...point: Point): void {
    this.#path.moveTo(...point);
  }
  lineTo(...point: Point): void {
    this.#path.lineTo(...point);
  }
  setLineDash(dash: readonly number[]): void {
    this.#dash = dash;
  }
  stroke({ points } = this.#path): void {
    this.drawing.lines.push({ points, colour: this.strokeStyle, width: this.lineWidth, dash: this.#dash });
  }
  fillText(text: string, x: number, y: number): void {
    this.drawing.texts.push({ text, x, y, colour: this.fillStyle });
  }
  measureText(text: string): { width: number } {
    return { width: 6 * text.length };
  }
  save(): void {}
  restore(): void {}
  translate(): void {}
  rotate(): void {}
  rect(): void {}
  clip(): void {}
  fill(): void {}
}

/**
 * Lets the charts of a page draw until the end of the test. The chart library keeps the document of its first page, so
 * tests must load it after this call.
 * @returns a function that tells what the canvas within an element shows
 */
export function recordDrawings({ window }: PageWindow): (within: Element) => Drawing {
  const contexts = new WeakMap<object, Context>();
  const getContext = vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockImplementation(function (
    this: HTMLCanvasElement,
  ) {
    const context = contexts.get(this) ?? new Context();
    contexts.set(this, context);
    return context as never;
  });
  vi.stubGlobal('Path2D', Path);
  vi.stubGlobal('HTMLElement', HTMLElement);
  vi.stubGlobal('devicePixelRatio', 1);
  vi.stubGlobal('CustomEvent', window.CustomEvent);
  onTestFinished(() => {
    getContext.mockRestore();
    vi.unstubAllGlobals();
  });
  return (within) => {
    const canvas = within.querySelector('canvas');
    const context = canvas && contexts.get(canvas);
    if (!context) throw new Error('nothing is drawn');
    return context.drawing;
  };
}
