/** Keeps blocks in memory alone, for a ledger that ends with the process. */

import { type Block, Book } from './book.ts';
import type { Line, NotFollowed } from './lines.ts';
import type { BlockStore } from './store.ts';

/** Where blocks are recorded: the block log, or memory. */
export type Store = Pick<
  BlockStore,
  'blocks' | 'hiddenBlocks' | 'block' | 'searchedExpectedBlocks' | 'notFollowed' | 'add' | 'refresh' | 'close'
>;

export class MemoryStore implements Store {
  readonly #book = new Book();

  get blocks(): readonly Block[] {
    return this.#book.blocks;
  }

  get hiddenBlocks(): readonly Block[] {
    return this.#book.hiddenBlocks;
  }

  get searchedExpectedBlocks(): number {
    return this.#book.searchedExpectedBlocks;
  }

  get notFollowed(): NotFollowed {
    return this.#book.notFollowed;
  }

  block(hash: string): Block | undefined {
    return this.#book.block(hash);
  }

  add(line: Line): void {
    this.#book.apply(line);
  }

  async refresh(): Promise<void> {}

  async close(): Promise<void> {}
}
