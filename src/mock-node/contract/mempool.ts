/**
 * The commands that were sent to each chain. One that is in a block stays here, so that it waits again when its block
 * is orphaned.
 */

import { type Command, commandJson } from '../../ledger/command/command.ts';
import type { Payload } from '../../ledger/command/payload.ts';
import { type Random, randomInteger } from '../random.ts';
import type { CoinState } from './state.ts';

export interface Sent {
  readonly command: Command;
  readonly payload: Payload;
  /** As it is in a block: JSON in UTF-8. */
  readonly bytes: Uint8Array;
  /** How many commands of all chains came before it. */
  readonly number: number;
}

/** Up to where somebody knows a mempool. */
export interface HighwaterMark {
  /** That of this mempool; with another one, everything is new. */
  readonly nonce: number;
  /** The number of the next command. */
  readonly next: number;
}

/** How many commands of a chain are kept, and how many bytes they have together. */
const MAX_COMMANDS = 10_000;
const MAX_BYTES = 8 * 1024 * 1024;
/** How many commands a block has at most, and how many bytes they have together. */
const MAX_PER_BLOCK = 100;
const MAX_BYTES_PER_BLOCK = 400_000;

export class Mempool {
  readonly #sent = new Map<number, Map<string, Sent>>();
  /** How many bytes the commands of each chain have. */
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

  /** From now on, the command is in no block, and its result is that it was refused. */
  badlist(requestKey: string): void {
    this.#badlisted.add(requestKey);
  }

  isBadlisted(requestKey: string): boolean {
    return this.#badlisted.has(requestKey);
  }

  /**
   * @param state what is below the block that is made
   * @param timeUs the creation time of the block below: µs since the UNIX epoch
   * @returns the commands for the block, in the order in which they came
   */
  forBlock(chain: number, state: CoinState, timeUs: bigint): readonly Sent[] {
    let bytes = 0;
    return this.waiting(chain, state, timeUs)
      .slice(0, MAX_PER_BLOCK)
      .filter((each) => {
        const fits = bytes + each.bytes.length <= MAX_BYTES_PER_BLOCK;
        if (fits) bytes += each.bytes.length;
        return fits;
      });
  }

  /** @returns all commands that could be in a block, as `forBlock` */
  waiting(chain: number, state: CoinState, timeUs: bigint): readonly Sent[] {
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
