/** Whether one run of a miner counts the same blocks in its events, its status, its summary and its log. */

import type { Sidecar } from '#pickaxe/app/composition/run-miner.js';
import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import { OUTCOMES, type Outcome } from '#pickaxe/miner/events/vocabulary.js';
import type { LogLine } from '#pickaxe/rig/log/log-tail.js';
import { RigStatus } from '#pickaxe/rig/status/status.js';
import type { Tally } from '#pickaxe/rig/status/tally.js';

const MINUTE_MS = 60_000;
/** In a burst, so many verdicts of one outcome get lines. */
const MOST_LINES = 30;
/**
 * Most lines in a minute, besides those about solutions: a hundred about the states of each of two nodes and twenty
 * about its streams (docs/node.md), and some about speed, devices and pauses.
 */
const LINES_A_MINUTE = 280;
/** A solution gets a line about its verdict, and later ones about its block. */
const LINES_A_SOLUTION = 5;

type Counts = Record<Outcome, number>;
const none = (): Counts => Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Counts;

export class RunCounts {
  readonly #verdicts = none();
  readonly #lines = none();
  readonly #nowMs: () => number;
  readonly #violate: (what: string) => void;
  /** The times of the lines of the last minute. */
  #linesMs: number[] = [];
  #solutions = 0;
  #tally: Tally | undefined;

  constructor(nowMs: () => number, violate: (what: string) => void) {
    this.#nowMs = nowMs;
    this.#violate = violate;
  }

  readonly sidecar: Sidecar = async ({ tally }) => {
    this.#tally = tally;
    return () => {};
  };

  listen(event: MinerEvent): void {
    if (event.type === 'verdict' && event.isBlock) this.#verdicts[event.outcome]++;
    if (event.type === 'solution') this.#solutions++;
  }

  /** @param json a line of the log */
  write(json: string): void {
    const { outcome, message } = JSON.parse(json) as LogLine;
    if (outcome) this.#lines[outcome] += 1 + Number(/; (\d+) more since/.exec(message)?.[1] ?? 0);
    const nowMs = this.#nowMs();
    this.#linesMs.push(nowMs);
    if (this.#linesMs.length <= LINES_A_MINUTE + LINES_A_SOLUTION * this.#solutions) return;
    this.#linesMs = this.#linesMs.filter((ms) => nowMs - ms < MINUTE_MS);
    if (this.#linesMs.length > LINES_A_MINUTE + LINES_A_SOLUTION * this.#solutions) {
      this.#violate(`logs ${this.#linesMs.length} lines in a minute`);
    }
  }

  /** Compares all counts. No verdict may come at the same time. */
  check(): void {
    if (!this.#tally) return;
    const [status, summary] = [this.#tally.status(), this.#tally.summary()];
    const { error } = RigStatus.safeParse(status);
    if (error) this.#violate(`has a status of another shape: ${error.message}`);
    for (const outcome of OUTCOMES) {
      const [verdicts, lines] = [this.#verdicts[outcome], this.#lines[outcome]];
      const parts = [...Object.values(summary.devices), ...Object.values(summary.relays)];
      const ofParts = parts.reduce((sum, part) => sum + part[outcome], 0);
      const counts = [status[outcome], summary[outcome], ofParts];
      if (counts.some((count) => count !== verdicts)) {
        this.#violate(`counts ${counts.join(', ')} blocks ${outcome} after ${verdicts} verdicts`);
      }
      if (verdicts < MOST_LINES && lines !== verdicts) {
        this.#violate(`logs ${lines} blocks ${outcome} after ${verdicts} verdicts`);
      }
    }
  }
}
