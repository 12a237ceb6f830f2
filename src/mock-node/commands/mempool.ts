/**
 * The commands that were sent to each chain. A command stays here after its block, because the block may become an
 * orphan.
 */

import { type Command, commandJson } from '../../protocol/ledger/command/command.ts';
import type { Payload } from '../../protocol/ledger/command/command-payload.ts';
import type { ChainState } from '../execution/chain-state.ts';
import { type Random, randomInteger } from '../random.ts';
import type { ReadCommand } from './command-checks.ts';

export interface Sent extends ReadCommand {
  /** JSON in UTF-8, as in a block. */
  readonly bytes: Uint8Array;
  /** Number of earlier commands, on all chains. */
  readonly number: number;
}

/** The end of the part of a mempool that a caller has. */
export interface HighwaterMark {
  /** Identifies the mempool. A caller with another nonce gets everything. */
  readonly nonce: number;
  /** The number of the next command. */
  readonly next: number;
}

/** Maximum number and size of the commands that are kept for a chain. */
const MAX_COMMANDS = 10_000;
const MAX_BYTES = 8 * 1024 * 1024;
/** Maximum number and size of the commands in one block. */
const MAX_PER_BLOCK = 100;
const MAX_BYTES_PER_BLOCK = 400_000;

export class Mempool {
  readonly #sent = new Map<number, Map<string, Sent>>();
  /** Size of the commands of each chain. */
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

  /** Keeps the command out of all new blocks. Its result is a refusal. */
  badlist(requestKey: string): void {
    this.#badlisted.add(requestKey);
  }

  isBadlisted(requestKey: string): boolean {
    return this.#badlisted.has(requestKey);
  }

  /**
   * @param state the state below the new block
   * @param timeUs the creation time of the block below, in µs since the UNIX epoch
   * @returns the commands for the block, in order of arrival
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

  /** @returns all commands that could be in a block, with the arguments of `forBlock` */
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
