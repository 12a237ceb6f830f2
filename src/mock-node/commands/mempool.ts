/**
 * The commands that were sent to each chain. A command also stays in the mempool when a block contains it, because the
 * block may become an orphan.
 */

import { type Command, commandJson } from '../../protocol/ledger/command/command.ts';
import type { Payload } from '../../protocol/ledger/command/command-payload.ts';
import type { ChainState } from '../execution/chain-state.ts';
import { type Random, randomInteger } from '../random.ts';
import type { ReadCommand } from './command-checks.ts';

export interface Sent extends ReadCommand {
  /** The command as JSON in UTF-8, as in a block. */
  readonly bytes: Uint8Array;
  /** Number of commands that were added before this one, on all chains. */
  readonly number: number;
}

/** Marks the position in a mempool up to which a caller has received all commands. */
export interface HighwaterMark {
  /** Identifies the mempool. A mark with another nonce has no effect, so that the caller gets all commands. */
  readonly nonce: number;
  /** The `number` of the next command that is added. */
  readonly next: number;
}

/** Maximum number of commands that are kept for a chain. */
const MAX_COMMANDS = 10_000;
/** Maximum size of the commands that are kept for a chain, in bytes. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Maximum number of commands in one block. */
const MAX_PER_BLOCK = 100;
/** Maximum size of the commands in one block, in bytes. */
const MAX_BYTES_PER_BLOCK = 400_000;

export class Mempool {
  readonly #sent = new Map<number, Map<string, Sent>>();
  /** Size of all kept commands in bytes, by chain. */
  readonly #bytes = new Map<number, number>();
  readonly #badlisted = new Set<string>();
  readonly #nonce: number;
  #next = 0;

  constructor(random: Random) {
    this.#nonce = randomInteger(random, 2 ** 32);
  }

  get mark(): HighwaterMark {
    return { nonce: this.#nonce, next: this.#next };
  }

  add(chain: number, command: Command, payload: Payload): void {
    const commands = this.#of(chain);
    const bytes = Buffer.from(commandJson(command));
    this.drop(chain, command.hash);
    commands.set(command.hash, { command, payload, bytes, number: this.#next++ });
    this.#bytes.set(chain, this.#bytesOf(chain) + bytes.length);
    for (const oldest of commands.keys()) {
      if (commands.size <= MAX_COMMANDS && this.#bytesOf(chain) <= MAX_BYTES) break;
      this.drop(chain, oldest);
    }
  }

  has(chain: number, requestKey: string): boolean {
    return this.#of(chain).has(requestKey);
  }

  drop(chain: number, requestKey: string): void {
    const bytes = this.#of(chain).get(requestKey)?.bytes.length ?? 0;
    this.#bytes.set(chain, this.#bytesOf(chain) - bytes);
    this.#of(chain).delete(requestKey);
  }

  /** Keeps the command out of all new blocks. */
  badlist(requestKey: string): void {
    this.#badlisted.add(requestKey);
  }

  isBadlisted(requestKey: string): boolean {
    return this.#badlisted.has(requestKey);
  }

  /**
   * @param state the state after the parent of the new block
   * @param timeUs the creation time of the parent, in µs since the UNIX epoch
   * @returns the commands for the block, in order of arrival and within the limits of a block
   */
  forBlock(chain: number, state: ChainState, timeUs: bigint): readonly Sent[] {
    let bytes = 0;
    return this.waiting(chain, state, timeUs)
      .slice(0, MAX_PER_BLOCK)
      .filter((each) => {
        const fits = bytes + each.bytes.length <= MAX_BYTES_PER_BLOCK;
        if (fits) bytes += each.bytes.length;
        return fits;
      });
  }

  /**
   * @returns all commands that are unexpired, not yet in a block, and not badlisted. The parameters are those of
   *   `forBlock`
   */
  waiting(chain: number, state: ChainState, timeUs: bigint): readonly Sent[] {
    const commands = this.#sent.get(chain);
    if (!commands) return [];
    return [...commands.values()].filter(({ command: { hash }, payload: { meta } }) => {
      const isAlive = BigInt(meta.creationTime + meta.ttl) * 1_000_000n > timeUs;
      return isAlive && state.heightOf(hash) === undefined && !this.isBadlisted(hash);
    });
  }

  #bytesOf(chain: number): number {
    return this.#bytes.get(chain) ?? 0;
  }

  #of(chain: number): Map<string, Sent> {
    let commands = this.#sent.get(chain);
    if (!commands) {
      commands = new Map();
      this.#sent.set(chain, commands);
    }
    return commands;
  }
}
