/**
 * Carries out a sweep in rounds. In each round, every unfinished transfer advances by one action, such as sending a
 * command or searching for it. A command is written to disk before it is sent for the first time, so `--resume` can
 * continue after any interruption. It is harmless to send a command again, since the ledger accepts each command only
 * once.
 *
 * A transfer between two chains consists of two commands: step 0 takes the coins from their chain, and step 1 brings
 * them to the target chain. A sweep makes only one step 0 for each chain. It may make several commands for step 1, but
 * the ledger accepts only one of them.
 */

import { pause, within } from '../../base/system/abort.ts';
import { type Clock, wallMs } from '../../base/system/clock.ts';
import type { Command, KeyPair } from '../../protocol/ledger/command/command.ts';
import { isAlreadyCompleted } from '../../protocol/ledger/command/results.ts';
import { LedgerFormatError } from '../../protocol/ledger/json.ts';
import { CommandSearch, foundIn, MOST_APART_MS } from './command-search.ts';
import {
  afterSearch,
  doneBy,
  isStep1Alive,
  nameOfStep0,
  next,
  provenOutcome,
  provenText,
  type Seen,
  type Step,
} from './next-step.ts';
import { type AccountLook, type Evidence, SweepFault, type SweepLedger } from './sweep-ledger.ts';
import { isUnfinished, type Sweep, staysOnChain, type Transfer } from './sweep-state.ts';
import {
  type CommandMaker,
  gasLimitFor,
  gasPriceOf,
  rootOfProof,
  signed,
  signersOf,
  step0Of,
  step1Of,
  step1TrialGas,
  unsigned,
} from './transfer-commands.ts';

export interface RunnerOptions {
  readonly ledger: SweepLedger;
  /** Writes the state, and returns once it is on disk. @throws Error if it cannot be written; then nothing is sent */
  readonly save: (sweep: Sweep) => void;
  /** The key pairs of the account. No pairs are required if `needsKeys` is false. */
  readonly pairs: readonly KeyPair[];
  /** @returns a unique text for each command */
  readonly nonce: () => string;
  readonly clock: Clock;
  /** Number of blocks that must be above a block before its results are final. Default: 6, about three minutes. */
  readonly confirmations?: number;
  /** Whether the user trusts the nodes even where the work of their blocks proves nothing. Default: false. */
  readonly trustsNodes?: boolean;
  /** Called after each action of a transfer, with the transfer's new state. The note may contain a node's text. */
  readonly notify?: (transfer: Transfer, note: string) => void;
}

const CONFIRMATIONS = 6;
/**
 * Maximum number of steps 1 that are made for one transfer in one run. The number is small, because each failed step 1
 * costs gas.
 */
const MOST_STEP1 = 3;
/** Whether commands may still have to be signed. */
export function needsKeys(sweep: Sweep): boolean {
  const hasOwnStep1 = sweep.gasStation === null && !staysOnChain(sweep);
  return sweep.transfers.some(({ step0, outcome }) => outcome === null && (step0 === null || hasOwnStep1));
}

export class SweepRunner {
  #sweep: Sweep;
  readonly #options: RunnerOptions;
  readonly #confirmations: number;
  readonly #signers: readonly string[];
  readonly #step1Made = new Map<number, number>();
  readonly #commands: CommandSearch;

  constructor(sweep: Sweep, options: RunnerOptions) {
    this.#sweep = sweep;
    this.#options = options;
    this.#confirmations = options.confirmations ?? CONFIRMATIONS;
    this.#commands = new CommandSearch(sweep, options.ledger, this.#confirmations, () => wallMs(options.clock));
    this.#signers =
      signersOf(
        sweep.guard,
        options.pairs.map(({ publicKey }) => publicKey),
      ) ?? [];
    if (this.#signers.length === 0 && needsKeys(sweep)) throw new Error('the sweep needs the keys of the account');
  }

  get sweep(): Sweep {
    return this.#sweep;
  }

  /**
   * Runs rounds until all transfers are finished, `timeoutMs` have passed, or `stop` fires.
   * @param pauseMs the pause between two rounds
   * @throws errors of `save`
   */
  async run(pauseMs: number, timeoutMs: number, stop: AbortSignal): Promise<void> {
    await within(this.#options.clock, timeoutMs, stop, async (end) => {
      while ((await this.round(end)) && !end.aborted) await pause(this.#options.clock, pauseMs, end);
    });
  }

  /**
   * Advances each unfinished transfer by one action.
   * @returns whether any transfer is unfinished
   * @throws errors of `save`
   */
  async round(stop: AbortSignal): Promise<boolean> {
    for (const { chain } of this.#sweep.transfers) {
      if (stop.aborted) break;
      const transfer = this.#of(chain);
      if (transfer.outcome !== null) continue;
      const note = await this.#stepOrFault(transfer, stop);
      this.#options.notify?.(this.#of(chain), note);
    }
    return isUnfinished(this.#sweep);
  }

  async #stepOrFault(transfer: Transfer, stop: AbortSignal): Promise<string> {
    try {
      return await this.#step(transfer, stop);
    } catch (error) {
      if (error instanceof SweepFault) return error.message;
      throw error;
    }
  }

  async #step(transfer: Transfer, stop: AbortSignal): Promise<string> {
    const { step0 } = transfer;
    if (step0 === null) return await this.#begin(transfer, stop);
    const seen = await this.#commands.see(transfer, step0, stop);
    const seenAt = seen.step0.status === 'success' ? seen.step0.height : transfer.leftAt;
    const known = seenAt === transfer.leftAt ? transfer : this.#update(transfer, { leftAt: seenAt });
    const step = next(seen, this.#sweep, this.#confirmations);
    switch (step.do) {
      case 'send step 0':
        return await this.#sendStep0(known, step0, stop);
      case 'search': {
        const { height, evidence } = await this.#commands.findStep0(known, step0, stop);
        return this.#settle(known, afterSearch(height, this.#sweep), evidence);
      }
      case 'bring':
        return await this.#bring(known, step0, seen, stop);
      case 'finish': {
        const { proven, evidence } = await this.#commands.proven(known, step0, seen, stop);
        return this.#settle(known, next(proven, this.#sweep, this.#confirmations), evidence);
      }
      default:
        return step.why;
    }
  }

  async #begin(transfer: Transfer, stop: AbortSignal): Promise<string> {
    const { ledger, pairs } = this.#options;
    const { chain } = transfer;
    const look = await ledger.look(chain, this.#sweep.account, stop);
    const step0 = signed(step0Of(this.#sweep, transfer, this.#maker(look)), pairs);
    const signedMs = Math.floor(wallMs(this.#options.clock));
    return await this.#sendStep0(this.#update(transfer, { step0, signedMs }), step0, stop);
  }

  /** A refusal decides nothing: the node has received the command, and can pass it on until the command expires. */
  async #sendStep0({ chain }: Transfer, step0: Command, stop: AbortSignal): Promise<string> {
    const sent = await this.#options.ledger.send(chain, step0, stop);
    const name = nameOfStep0(this.#sweep);
    return sent.kind === 'taken' ? `${name} is sent` : `${name} is refused, if it is not on its way: ${sent.reason}`;
  }

  /** Continues a transfer whose coins have left their chain: fetches the proof, and makes and sends step 1. */
  async #bring(transfer: Transfer, step0: Command, seen: Seen, stop: AbortSignal): Promise<string> {
    const { ledger } = this.#options;
    const { targetChain, account } = this.#sweep;
    const fetched = transfer.proof ?? (await this.#fetchProof(transfer, step0, stop));
    if (typeof fetched !== 'string') return fetched.why;
    const withProof = transfer.proof === fetched ? transfer : this.#update(transfer, { proof: fetched });
    const look = await ledger.look(targetChain, account, stop);
    const maker = this.#maker(look);
    const step1With = (gasLimit: number) => step1Of(this.#sweep, step0.hash, fetched, gasLimit, maker);
    const mostGas = step1TrialGas(this.#sweep);
    const trial = unsigned(step1With(mostGas));
    const { outcome, gas } = await ledger.tryOut(targetChain, trial, stop);
    if (isAlreadyCompleted(outcome)) return await this.#arrived(withProof, step0, seen, look.height, stop);
    if (outcome.status === 'failure') {
      this.#update(withProof, { proof: null });
      return `step 1 would fail, so its proof is fetched again: ${outcome.error.message}`;
    }
    if (isStep1Alive(withProof, seen, fetched, this.#sweep)) return await this.#sendStep1(withProof.step1!, stop);
    const made = this.#step1Made.get(transfer.chain) ?? 0;
    if (made >= MOST_STEP1) return `${made} commands for step 1 have failed, so no other is made in this run`;
    const step1 = signed(step1With(gasLimitFor(gas, mostGas)), this.#options.pairs);
    this.#step1Made.set(transfer.chain, made + 1);
    const { step1: before, earlierStep1: earlier } = withProof;
    const replaced = before && { requestKey: before.hash, gasPrice: gasPriceOf(before) };
    this.#update(withProof, { step1, earlierStep1: replaced ? [...earlier, replaced] : earlier });
    return await this.#sendStep1(step1, stop);
  }

  async #sendStep1(step1: Command, stop: AbortSignal): Promise<string> {
    const sent = await this.#options.ledger.send(this.#sweep.targetChain, step1, stop);
    return sent.kind === 'taken' ? 'step 1 is sent' : `step 1 is refused: ${sent.reason}`;
  }

  /**
   * Called when a node claims that a step 1 has brought the coins. Searches the blocks for this step 1, and finishes
   * the transfer if the outcome is proven and enough blocks are above the block with step 1.
   * @param newest the height of the target chain
   */
  async #arrived(transfer: Transfer, step0: Command, seen: Seen, newest: number, stop: AbortSignal): Promise<string> {
    const { found, evidence } = (await this.#commands.findStep1(transfer.chain, step0, newest, stop)) ?? {};
    if (!found) {
      return 'the node says that somebody has finished it, but no block of the target chain that was read has done so: ask another node';
    }
    const { depth, result } = found;
    const { step1, earlierStep1 } = transfer;
    const isNewest = result.reqKey === step1?.hash;
    const isOurs = isNewest || earlierStep1.some(({ requestKey }) => requestKey === result.reqKey);
    const left = this.#confirmations - depth;
    if (left > 0)
      return `${isOurs ? 'it has arrived' : 'somebody else has finished it'}; waits for ${left} more blocks`;
    const earlierGasCost = await this.#commands.earlierGasCost(transfer, found, stop);
    // The result in the block is used, because the node may no longer report the result.
    const proven = { ...seen, ...(isNewest && { step1: foundIn(found, step1) }), earlierGasCost };
    return this.#settle(transfer, doneBy(isOurs ? 'us' : 'somebody else', proven, this.#sweep), evidence);
  }

  /** @returns the proof or, if there is none yet, the reason as a clause */
  async #fetchProof(transfer: Transfer, step0: Command, stop: AbortSignal): Promise<string | { why: string }> {
    const { ledger } = this.#options;
    const { targetChain } = this.#sweep;
    const answer = await ledger.proof(transfer.chain, step0.hash, targetChain, stop);
    if (answer.kind === 'refused') {
      return { why: `${answer.wait ? 'waits for the proof' : 'the proof is refused'}: ${answer.reason}` };
    }
    try {
      const root = rootOfProof(answer.proof, step0.hash, targetChain);
      if (await ledger.hasBlock(targetChain, root, transfer.leftAt ?? 0, stop)) return answer.proof;
      return { why: 'waits for the proof: it leads to no block of the target chain' };
    } catch (error) {
      if (error instanceof LedgerFormatError) return { why: `the proof is wrong: ${error.message}` };
      throw error;
    }
  }

  #settle(transfer: Transfer, step: Step, evidence: Evidence | undefined): string {
    if (step.do === 'wait') return step.why;
    if (step.do !== 'finish' || !evidence) throw new Error(`${step.do} settles nothing`);
    const outcome = provenOutcome(step.outcome, evidence, this.#options.trustsNodes ?? false);
    if (typeof outcome === 'string') return outcome;
    this.#update(transfer, { outcome });
    return [outcome.state === 'failed' ? outcome.reason : 'done', provenText(outcome)].join(', ');
  }

  #maker({ timeS }: AccountLook): CommandMaker {
    if (timeS * 1000 > wallMs(this.#options.clock) + MOST_APART_MS) {
      throw new SweepFault('the newest block of the node is more than an hour ahead of this machine: a clock is wrong');
    }
    return { signers: this.#signers, timeS, nonce: this.#options.nonce() };
  }

  #of(chain: number): Transfer {
    return this.#sweep.transfers.find((transfer) => transfer.chain === chain)!;
  }

  /** Changes a transfer. The change takes effect only once it is on disk. @throws errors of `save` */
  #update(transfer: Transfer, change: Partial<Transfer>): Transfer {
    const changed = { ...transfer, ...change };
    const transfers = this.#sweep.transfers.map((it) => (it.chain === transfer.chain ? changed : it));
    const sweep = { ...this.#sweep, transfers };
    this.#options.save(sweep);
    this.#sweep = sweep;
    return changed;
  }
}
