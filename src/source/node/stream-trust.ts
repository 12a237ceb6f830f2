/**
 * Which update streams can be relied on. A stream that is open proves nothing: a proxy can hold its body back, a
 * connection can die without a word, a node can freeze. A fetch proves something: when it brings another parent on a
 * chain whose open stream told no New Cut, that stream has missed a block. Pure; times are monotonic milliseconds.
 */

import { equalBytes } from '../../chain/bytes.ts';
import type { NodeLimits } from '../../node/limits.ts';
import type { PolledChain, PollReason } from '../vocabulary.ts';

type TrustLimits = Pick<NodeLimits, 'burstMs' | 'pollMs' | 'refreshMs' | 'steadyStreamMs' | 'newCutGraceMs'>;

interface Chain {
  /** When its stream was opened; undefined while it has none. */
  openedAtMs?: number | undefined;
  /** When it last lost its stream, or came to be known without one. */
  closedAtMs: number;
  /** When a New Cut last came, over whichever connection. */
  cutAtMs?: number | undefined;
  /** The parent of the work fetched last, and when that fetch began. */
  parent?: { readonly hash: Uint8Array; readonly askedAtMs: number };
  /** When a fetch brought a parent that no New Cut had announced. */
  suspectedAtMs?: number | undefined;
  missed: boolean;
  /** When its present connection first told a New Cut after a missed block. */
  spokeAgainAtMs?: number | undefined;
}

/** New Cuts closer together than this many bursts are taken for those of one block. */
const ECHO_BURSTS = 5;
/** Weight of the latest pause between New Cuts in their average. */
const SMOOTHING = 1 / 8;
/** After a silence of this many usual pauses work is fetched more often. */
const USUAL_PAUSES = 3;
/** A silence counts only when it is longer than this many intervals of polling. */
const LEAST_SILENCE_POLLS = 2.5;
/** Work is then fetched anew when its age is this part of the silence: often at first, and less often later. */
const SILENCE_PART = 1 / 10;

/** Networks have 20 chains. A node that names new ones all the time must not fill the memory. */
const MOST_CHAINS = 64;

export class StreamTrust {
  readonly #limits: TrustLimits;
  readonly #chains = new Map<number, Chain>();
  /** When any stream last told a New Cut; before that, when the first one opened. */
  #heardAtMs: number | undefined;
  /** Average time between the New Cuts of all chains together. */
  #usualPauseMs: number | undefined;

  constructor(limits: TrustLimits) {
    this.#limits = limits;
  }

  opened(chain: number, nowMs: number): void {
    this.#chain(chain, nowMs).openedAtMs = nowMs;
    this.#heardAtMs ??= nowMs;
  }

  ended(chain: number, nowMs: number): void {
    const state = this.#chain(chain, nowMs);
    state.openedAtMs = undefined;
    state.closedAtMs = nowMs;
    state.suspectedAtMs = undefined;
    state.spokeAgainAtMs = undefined;
  }

  newCut(chain: number, nowMs: number): void {
    const state = this.#chain(chain, nowMs);
    state.cutAtMs = nowMs;
    state.suspectedAtMs = undefined;
    if (state.missed) state.spokeAgainAtMs ??= nowMs;
    const pauseMs = nowMs - (this.#heardAtMs ?? nowMs);
    if (pauseMs >= ECHO_BURSTS * this.#limits.burstMs) {
      this.#usualPauseMs =
        this.#usualPauseMs === undefined ? pauseMs : this.#usualPauseMs + (pauseMs - this.#usualPauseMs) * SMOOTHING;
    }
    this.#heardAtMs = nowMs;
  }

  /**
   * Compares what a fetch brought with what the streams told.
   * @param parent 32 bytes
   * @param askedAtMs when the fetch began
   */
  fetched(chain: number, parent: Uint8Array, askedAtMs: number, nowMs: number): void {
    const state = this.#chain(chain, nowMs);
    const known = state.parent;
    state.parent = { hash: parent, askedAtMs };
    if (!known || equalBytes(known.hash, parent)) return;
    const watched = state.openedAtMs !== undefined && state.openedAtMs <= known.askedAtMs;
    // A New Cut can come before the node hands out its block as work.
    const tellsAfterMs = Math.min(known.askedAtMs, askedAtMs - this.#limits.newCutGraceMs);
    const told = state.cutAtMs !== undefined && state.cutAtMs >= tellsAfterMs;
    // It may also still be on the way.
    if (watched && !told) state.suspectedAtMs ??= nowMs;
  }

  /**
   * Judges the suspicions that are old enough.
   * @returns `missed`: the chains whose streams have just been found to miss a block. `distrusted`: those and all other
   *   chains whose open streams are no longer trusted, because they were as silent
   */
  judge(nowMs: number): { readonly missed: readonly number[]; readonly distrusted: readonly number[] } {
    const { newCutGraceMs, steadyStreamMs } = this.#limits;
    const found: number[] = [];
    for (const [chain, state] of this.#chains) {
      // A proxy that holds a stream back hands it over at its end: a stream must also stay open to be trusted again.
      if (state.spokeAgainAtMs !== undefined && nowMs - state.spokeAgainAtMs >= steadyStreamMs) {
        state.missed = false;
        state.spokeAgainAtMs = undefined;
      }
      if (state.suspectedAtMs === undefined || nowMs - state.suspectedAtMs < newCutGraceMs) continue;
      state.suspectedAtMs = undefined;
      found.push(chain);
    }
    const distrusted = found.length > 0 ? this.#distrust(found, nowMs) : [];
    return { missed: found.filter((chain) => distrusted.includes(chain)), distrusted };
  }

  /** When `judge` next has something to judge; +∞ when it has nothing until something happens. */
  judgeAtMs(): number {
    const { newCutGraceMs, steadyStreamMs } = this.#limits;
    let atMs = Number.POSITIVE_INFINITY;
    for (const { suspectedAtMs, spokeAgainAtMs } of this.#chains.values()) {
      if (suspectedAtMs !== undefined) atMs = Math.min(atMs, suspectedAtMs + newCutGraceMs);
      if (spokeAgainAtMs !== undefined) atMs = Math.min(atMs, spokeAgainAtMs + steadyStreamMs);
    }
    return atMs;
  }

  /** Why work on the chain is to be asked for every few seconds; undefined while its stream is trusted. */
  pollReason(chain: number): PollReason | undefined {
    const { missed = false, openedAtMs } = this.#chains.get(chain) ?? {};
    if (missed) return 'missed-block';
    return openedAtMs === undefined ? 'no-stream' : undefined;
  }

  /** The chains that are polled, by number. Those whose streams are only about to open are not among them. */
  polled(nowMs: number): PolledChain[] {
    return [...this.#chains]
      .sort(([a], [b]) => a - b)
      .flatMap(([chain, { closedAtMs }]) => {
        const reason = this.pollReason(chain);
        const isOpening = reason === 'no-stream' && nowMs - closedAtMs < this.#limits.pollMs;
        return reason === undefined || isOpening ? [] : [{ chain, reason }];
      });
  }

  /** How long work on a chain with a trusted stream is mined before it is fetched anew. */
  refreshMs(nowMs: number): number {
    const { pollMs, refreshMs } = this.#limits;
    const silentMs = nowMs - (this.#heardAtMs ?? nowMs);
    const usualMs =
      this.#usualPauseMs === undefined ? 0 : Math.max(LEAST_SILENCE_POLLS * pollMs, USUAL_PAUSES * this.#usualPauseMs);
    if (silentMs < usualMs) return refreshMs;
    return Math.max(Math.min(pollMs, refreshMs), Math.min(silentMs * SILENCE_PART, refreshMs));
  }

  /**
   * Whatever silences one stream is taken to silence its neighbours, too, unless they have spoken lately.
   * @returns the chains whose open streams were trusted until now
   */
  #distrust(found: readonly number[], nowMs: number): number[] {
    const { refreshMs } = this.#limits;
    const silent = [...this.#chains].filter(
      ([chain, { cutAtMs }]) => found.includes(chain) || cutAtMs === undefined || nowMs - cutAtMs > refreshMs,
    );
    const fresh = silent.filter(([, { missed, openedAtMs }]) => !missed && openedAtMs !== undefined);
    for (const [, state] of silent) state.missed = true;
    return fresh.map(([chain]) => chain);
  }

  #chain(chain: number, nowMs: number): Chain {
    let state = this.#chains.get(chain);
    if (!state) {
      if (this.#chains.size >= MOST_CHAINS) this.#chains.delete(this.#chains.keys().next().value as number);
      // A path that has swallowed the blocks of other chains is not trusted with those of a new one.
      state = { closedAtMs: nowMs, missed: [...this.#chains.values()].some(({ missed }) => missed) };
      this.#chains.set(chain, state);
    }
    return state;
  }
}
