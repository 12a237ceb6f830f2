/**
 * Blocks that commands get without a miner (the option `mineOnSend`), so that programs that send a command and wait for
 * its result, its proof or blocks above it come to an end. These blocks are like those of other miners.
 */

import { heightNeeded, resultJson } from '../execution/block-outputs.ts';
import type { Block } from '../ledger/block-store.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ContractSettings } from '../options.ts';
import { targetOf } from './transfer-finisher.ts';

/** Number of blocks that come above a command's block: as many as payments wait for. */
const CONFIRMATIONS = 6n;
/**
 * Time after which they come, in µs. Until then, commands that follow each other quickly have their blocks one above
 * the other.
 */
const QUIET_US = 1_000_000n;
/** Maximum number of blocks above its own that a request for a result can ask for. */
const MOST_CONFIRMATIONS = 20n;
/**
 * Maximum age of the block on which a command is checked, in µs. A node refuses commands that are 95 s later than its
 * last block, and without a miner that block may be of yesterday.
 */
const MOST_AGE_US = 60_000_000n;

export class MineOnSend {
  readonly #mode: ContractSettings['mineOnSend'];
  readonly #ledger: Ledger;
  /** The last block that was made for a command, and when, by chain, until `CONFIRMATIONS` blocks are above it. */
  readonly #unconfirmed = new Map<number, { readonly height: bigint; readonly madeUs: bigint }>();

  constructor(mode: ContractSettings['mineOnSend'], ledger: Ledger) {
    this.#mode = mode;
    this.#ledger = ledger;
  }

  /** Adds a block if the chain's last one is old. */
  refresh(chain: number): void {
    if (!this.#isOn || this.#ledger.nowUs() - this.#tip(chain).header.creationTimeUs <= MOST_AGE_US) return;
    this.#ledger.advanceTo(chain, this.#tip(chain).header.height + 1n);
  }

  /**
   * Adds blocks until all waiting commands of the chain are in blocks. If a command sends something to another
   * chain, that chain gets blocks until there is a proof for it.
   * @param waiting the number of commands that wait for a block of the chain
   */
  mine(chain: number, waiting: () => number): void {
    if (!this.#isOn) return;
    let before = Number.POSITIVE_INFINITY;
    for (let left = waiting(); left > 0 && left < before; left = waiting()) {
      before = left;
      this.#ledger.advanceTo(chain, this.#tip(chain).header.height + 1n);
      this.#unconfirmed.set(chain, { height: this.#tip(chain).header.height, madeUs: this.#ledger.nowUs() });
      this.#letProve(chain);
    }
  }

  /** Adds blocks until there are `depth` blocks above the block at this height. */
  confirm(chain: number, height: bigint, depth: bigint): void {
    if (!this.#isOn || depth > MOST_CONFIRMATIONS) return;
    this.#ledger.advanceTo(chain, height + depth);
  }

  /** Adds the blocks above commands that have become due. It is called before the ledger is read. */
  confirmDue(): void {
    for (const [chain, { height, madeUs }] of this.#unconfirmed) {
      if (this.#ledger.nowUs() - madeUs < QUIET_US) continue;
      this.#unconfirmed.delete(chain);
      this.confirm(chain, height, CONFIRMATIONS);
    }
  }

  #letProve(chain: number): void {
    const { chains } = this.#ledger;
    const block = this.#tip(chain);
    for (const index of block.payload.outputs.keys()) {
      const target = targetOf(resultJson({ block, index }));
      // A command can name a chain that the node does not have.
      if (target !== undefined && chains.graph[target]) {
        this.#ledger.advanceTo(target, heightNeeded(chains, block, target));
      }
    }
  }

  #tip(chain: number): Block {
    return this.#ledger.chains.tip(chain);
  }

  get #isOn(): boolean {
    const { settings, stats } = this.#ledger;
    return this.#mode === 'when idle' ? settings.rivalMs === 0 && stats.workIssued === 0 : this.#mode;
  }
}
