/**
 * `/api/v1/balance`: what the account that is mined for has, as a node says. The node is asked only when a client asks. There is
 * one question at a time, and its answer is kept for a while, so that clients cannot make pickaxe flood its node.
 */

import type { z } from 'zod';
import { within } from '../../system/abort.ts';
import { type Clock, wallMs } from '../../system/clock.ts';
import { type AskBalance, NoBalance } from '../balance.ts';
import { HttpError } from './errors.ts';
import type { HttpLimits } from './limits.ts';
import { json, type Route } from './route.ts';
import { BalanceAnswer } from './schemas.ts';

type Answer = z.infer<typeof BalanceAnswer>;

export class KeptBalance {
  readonly #ask: AskBalance | undefined;
  readonly #clock: Clock;
  readonly #limits: HttpLimits;
  readonly #closing = new AbortController();
  /** The last question's, which may still be under way. */
  #answer: Promise<Answer> | undefined;
  #keptUntilMs = Number.POSITIVE_INFINITY;

  /** @param ask undefined where there is no node to ask */
  constructor(ask: AskBalance | undefined, clock: Clock, limits: HttpLimits) {
    this.#ask = ask;
    this.#clock = clock;
    this.#limits = limits;
  }

  get route(): Route {
    const summary = 'what the account that is mined for has, as a node says: it is asked at most every half minute';
    return json('/api/v1/balance', summary, BalanceAnswer, () => this.#get());
  }

  /** Ends the question that is under way. */
  close(): void {
    this.#closing.abort();
  }

  #get(): Promise<Answer> {
    if (!this.#ask) throw new HttpError(404, 'no-node', NO_NODE);
    if (!this.#answer || this.#clock.monotonicMs() >= this.#keptUntilMs) {
      this.#keptUntilMs = Number.POSITIVE_INFINITY;
      this.#answer = this.#askNow(this.#ask);
    }
    return this.#answer;
  }

  async #askNow(ask: AskBalance): Promise<Answer> {
    const { balanceMs, balanceKeptMs, noBalanceKeptMs } = this.#limits;
    let keptMs = noBalanceKeptMs;
    try {
      const { chains, ...balance } = await within(balanceMs, this.#closing.signal, ask);
      keptMs = balanceKeptMs;
      return { ...balance, timeMillis: wallMs(this.#clock), chains: [...chains] };
    } catch (fault) {
      throw asHttpError(fault, balanceMs);
    } finally {
      this.#keptUntilMs = this.#clock.monotonicMs() + keptMs;
    }
  }
}

const NO_NODE =
  'this rig does not mine on a node of its own, so there is no node to ask for a balance: ask the pool what it owes, or any ' +
  'node with pickaxe balance ACCOUNT --node URL';

/** @returns another fault as it is, because it is one of pickaxe */
function asHttpError(fault: unknown, balanceMs: number): unknown {
  if (fault instanceof NoBalance) return new HttpError(502, 'node-failed', fault.message);
  const name = fault instanceof DOMException ? fault.name : '';
  if (name === 'TimeoutError') {
    return new HttpError(502, 'node-failed', `no node said within ${balanceMs / 1000} s what the account has`);
  }
  return name === 'AbortError' ? new HttpError(503, 'unavailable', 'pickaxe is ending') : fault;
}
