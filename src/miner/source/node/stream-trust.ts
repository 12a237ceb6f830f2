/**
 * Decides which update streams can be trusted. When a fetch brings a new parent on a chain whose open stream sent no
 * New Cut, that stream has missed a block: a proxy held it back, or its connection died silently. Pure; times are
 * monotonic milliseconds.
 */

import { BoundedMap } from '../../../base/system/bounded.ts';
import type { NodeLimits } from '../../../node/http/request-limits.ts';
import { equalBytes } from '../../../protocol/chain/bytes.ts';
import type { PolledChain, PollReason } from '../../events/vocabulary.ts';

type TrustLimits = Pick<NodeLimits, 'burstMs' | 'pollMs' | 'refreshMs' | 'steadyStreamMs' | 'newCutGraceMs'>;

interface Chain {
  /** When the chain's stream was opened; undefined while there is none. */
  openedAtMs?: number | undefined;
  /** When the chain's stream last ended, or when the chain became known. */
  closedAtMs: number;
  /** When a New Cut last came, over any connection. */
  cutAtMs?: number | undefined;
  /** The parent of the work that was fetched last, and when that fetch began. */
  parent?: { readonly hash: Uint8Array; readonly askedAtMs: number };
  /** When a fetch brought a parent that no New Cut had announced. */
  suspectedAtMs?: number | undefined;
  /** Whether the stream has missed a block, and has not yet become trusted again. */
  missed: boolean;
  /** When the present connection first sent a New Cut after a missed block. */
  cutAgainAtMs?: number | undefined;
}

/** New Cuts that are closer together than this many bursts count as those of one block. */
const ECHO_BURSTS = 5;
/** Weight of the latest pause in the moving average of the pauses between New Cuts. */
const SMOOTHING = 1 / 8;
/** After a silence of this many usual pauses, work is fetched more often. */
const USUAL_PAUSES = 3;
/** Minimum length of a silence, in polling intervals. */
const LEAST_SILENCE_POLLS = 2.5;
/** In a silence, work is fetched again at this fraction of the silence: often at first, and less often later. */
const SILENCE_PART = 1 / 10;

/** Networks have 20 chains; a node that names ever more chains must not fill the memory. */
const MOST_CHAINS = 64;

export class StreamTrust {
  readonly #limits: TrustLimits;
  readonly #chains = new BoundedMap<number, Chain>(MOST_CHAINS);
  /** When a New Cut last came on any chain; before the first one, when the first stream opened. */
  #lastEventMs: number | undefined;
  /** The average time between the New Cuts of all chains together. */
  #usualPauseMs: number | undefined;

  constructor(limits: TrustLimits) {
    this.#limits = limits;
  }

  opened(chain: number, nowMs: number): void {
    this.#chain(chain, nowMs).openedAtMs = nowMs;
    this.#lastEventMs ??= nowMs;
  }

  ended(chain: number, nowMs: number): void {
    const state = this.#chain(chain, nowMs);
    state.openedAtMs = undefined;
    state.closedAtMs = nowMs;
    state.suspectedAtMs = undefined;
    state.cutAgainAtMs = undefined;
  }

  newCut(chain: number, nowMs: number): void {
    const state = this.#chain(chain, nowMs);
    state.cutAtMs = nowMs;
    state.suspectedAtMs = undefined;
    if (state.missed) state.cutAgainAtMs ??= nowMs;
    const pauseMs = nowMs - (this.#lastEventMs ?? nowMs);
    if (pauseMs >= ECHO_BURSTS * this.#limits.burstMs) {
      this.#usualPauseMs =
        this.#usualPauseMs === undefined ? pauseMs : this.#usualPauseMs + (pauseMs - this.#usualPauseMs) * SMOOTHING;
    }
    this.#lastEventMs = nowMs;
  }

  /** Compares the work with the New Cuts that came. @param parent 32 bytes @param askedAtMs when the fetch began */
  fetched(chain: number, parent: Uint8Array, askedAtMs: number, nowMs: number): void {
    const state = this.#chain(chain, nowMs);
    const known = state.parent;
    state.parent = { hash: parent, askedAtMs };
    if (!known || equalBytes(known.hash, parent)) return;
    const watched = state.openedAtMs !== undefined && state.openedAtMs <= known.askedAtMs;
    // A New Cut can come before the node hands out its block as work.
    const announcedAfterMs = Math.min(known.askedAtMs, askedAtMs - this.#limits.newCutGraceMs);
    const isAnnounced = state.cutAtMs !== undefined && state.cutAtMs >= announcedAfterMs;
    // The New Cut may also be on its way still, so this is only a suspicion.
    if (watched && !isAnnounced) state.suspectedAtMs ??= nowMs;
  }

  /**
   * Decides on the suspicions that are old enough.
   * @returns `missed`: the chains whose streams have missed a block. `distrusted`: these and all other chains whose
   * open streams are no longer trusted because they sent nothing
   */
  judge(nowMs: number): { readonly missed: readonly number[]; readonly distrusted: readonly number[] } {
    const { newCutGraceMs, steadyStreamMs } = this.#limits;
    const found: number[] = [];
    for (const [chain, state] of this.#chains) {
      // A proxy that holds back a stream passes it on when it ends, so a stream must stay open for a while to be
      // trusted again.
      if (state.cutAgainAtMs !== undefined && nowMs - state.cutAgainAtMs >= steadyStreamMs) {
        state.missed = false;
        state.cutAgainAtMs = undefined;
      }
      if (state.suspectedAtMs === undefined || nowMs - state.suspectedAtMs < newCutGraceMs) continue;
      state.suspectedAtMs = undefined;
      found.push(chain);
    }
    const distrusted = found.length > 0 ? this.#distrust(found, nowMs) : [];
    return { missed: found.filter((chain) => distrusted.includes(chain)), distrusted };
  }

  /** @returns when `judge` can next decide something; +∞ if no suspicion is pending */
  judgeAtMs(): number {
    const { newCutGraceMs, steadyStreamMs } = this.#limits;
    let atMs = Number.POSITIVE_INFINITY;
    for (const { suspectedAtMs, cutAgainAtMs } of this.#chains.values()) {
      if (suspectedAtMs !== undefined) atMs = Math.min(atMs, suspectedAtMs + newCutGraceMs);
      if (cutAgainAtMs !== undefined) atMs = Math.min(atMs, cutAgainAtMs + steadyStreamMs);
    }
    return atMs;
  }

  /** @returns why work on the chain must be polled; undefined while its stream is trusted */
  pollReason(chain: number): PollReason | undefined {
    const { missed = false, openedAtMs } = this.#chains.get(chain) ?? {};
    if (missed) return 'missed-block';
    return openedAtMs === undefined ? 'no-stream' : undefined;
  }

  /** @returns the polled chains in ascending order, without those whose streams are about to open */
  polled(nowMs: number): PolledChain[] {
    return [...this.#chains]
      .sort(([a], [b]) => a - b)
      .flatMap(([chain, { closedAtMs }]) => {
        const reason = this.pollReason(chain);
        const isOpening = reason === 'no-stream' && nowMs - closedAtMs < this.#limits.pollMs;
        return reason === undefined || isOpening ? [] : [{ chain, reason }];
      });
  }

  /** @returns for how long work on a chain with a trusted stream is mined before it is fetched again */
  refreshMs(nowMs: number): number {
    const { pollMs, refreshMs } = this.#limits;
    const silentMs = nowMs - (this.#lastEventMs ?? nowMs);
    const usualMs =
      this.#usualPauseMs === undefined ? 0 : Math.max(LEAST_SILENCE_POLLS * pollMs, USUAL_PAUSES * this.#usualPauseMs);
    if (silentMs < usualMs) return refreshMs;
    return Math.max(Math.min(pollMs, refreshMs), Math.min(silentMs * SILENCE_PART, refreshMs));
  }

  /** Distrusts these streams and all without a recent New Cut. @returns those open and trusted until now */
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
      // While the stream of any chain has missed a block, the stream of a new chain is not trusted either.
      state = { closedAtMs: nowMs, missed: [...this.#chains.values()].some(({ missed }) => missed) };
      this.#chains.set(chain, state);
    }
    return state;
  }
}
