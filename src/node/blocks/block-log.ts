/**
 * The block log: an append-only file of JSON lines, so that neither a crash nor a second process can destroy earlier
 * lines. Lines are appended whole, with one system call; a line torn by a crash is skipped. If the disk is full or out
 * of reach, mining goes on, and lines wait in memory until they can be written.
 */

import { constants } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { AppendFile } from '../../base/system/append-file.ts';
import { CAREFULLY, openPrivate } from '../../base/system/files.ts';
import { plural } from '../../base/text/quantities.ts';
import { BlockIndex, type TrackedBlock } from './block-index.ts';
import { isSum, type Line, type NotFollowed, readLine, writeLine } from './block-lines.ts';

const FILE_NAME = 'blocks.jsonl';
const AGAIN_MS = 30_000;
/**
 * Maximum number of waiting bytes, far more than a rig writes while its disk is repaired. Further lines are not
 * written.
 */
const WAITING_BYTES = 2 * 1024 ** 2;
/** Maximum number of bytes in one write, small enough that the system writes them in one piece. */
const WRITTEN_AT_ONCE = 32 * 1024;
/** Maximum time for which closing waits for the disk. */
const CLOSE_MS = 5_000;
/** Number of bytes that are read at once, which takes a few milliseconds. pickaxe writes no longer line. */
const PIECE_BYTES = 128 * 1024;
const NEW_LINE = 0x0a;

export type StoreFile = Pick<FileHandle, 'stat' | 'read' | 'appendFile' | 'datasync' | 'close'>;

export interface StoreOptions {
  readonly folder: string;
  /** Called once when the file cannot be used, once when it can be used again, and for lines that cannot be read. */
  readonly warn: (line: string) => void;
  /** Opens the file for writing, and creates it if necessary. Tests replace it. */
  readonly openFile?: (path: string) => Promise<StoreFile>;
  readonly againMs?: number;
}

export class BlockStore {
  readonly path: string;
  readonly #options: StoreOptions;
  readonly #index = new BlockIndex();
  readonly #lines: AppendFile;
  /** Number of bytes of the file that have been read, always up to the start of a line. */
  #offset = 0;
  #skipped = 0;
  #isUnreadable = false;

  /** Nothing is read before `refresh`, and the file is not created before the first write. */
  constructor(options: StoreOptions) {
    this.#options = options;
    this.path = join(options.folder, FILE_NAME);
    this.#lines = new AppendFile({
      append: (piece) => this.#append(piece),
      changed: (why) => {
        const fails = `cannot be written (${why}); mining goes on, and the lines wait in memory`;
        options.warn(why === undefined ? 'the block log can be written again' : `the block log ${this.path} ${fails}`);
      },
      waitingBytes: WAITING_BYTES,
      againMs: options.againMs ?? AGAIN_MS,
      pieceBytes: WRITTEN_AT_ONCE,
    });
  }

  get blocks(): readonly TrackedBlock[] {
    return this.#index.blocks;
  }

  get hiddenBlocks(): readonly TrackedBlock[] {
    return this.#index.hiddenBlocks;
  }

  get size(): number {
    return this.#index.blocks.length;
  }

  get searchedExpectedBlocks(): number {
    return this.#index.searchedExpectedBlocks;
  }

  get notFollowed(): NotFollowed {
    return this.#index.notFollowed;
  }

  block(hash: string): TrackedBlock | undefined {
    return this.#index.block(hash);
  }

  /** A line changes the index at once, even if it cannot be written. A sum does so only when the file is read. */
  add(line: Line): void {
    if (!isSum(line)) this.#index.apply(line);
    this.#lines.add(writeLine(line));
  }

  /**
   * Reads the lines that this or another process has appended since the last call. Warns if the file cannot be read.
   * @param isKept the blocks to keep in memory: all by default
   */
  async refresh(isKept?: (block: TrackedBlock) => boolean): Promise<void> {
    await this.#lines.settled();
    const skippedBefore = this.#skipped;
    try {
      await this.#read(isKept);
      this.#isUnreadable = false;
    } catch (fault) {
      if (!this.#isUnreadable)
        this.#options.warn(`the block log ${this.path} cannot be read (${(fault as Error).message})`);
      this.#isUnreadable = true;
    }
    const skipped = this.#skipped - skippedBefore;
    if (skipped > 0) {
      this.#options.warn(
        `${plural(skipped, 'line')} of ${this.path} cannot be read, perhaps torn by a crash, and count as not there`,
      );
    }
  }

  /** Writes the waiting lines, for some seconds at most. */
  async close(): Promise<void> {
    await this.#lines.close(CLOSE_MS);
    if (this.#lines.waiting > 0) this.#options.warn(`${this.#lines.waiting} lines of the block log were not written`);
  }

  /** Opens the file for each write: lines are rare, and the file may have been moved away since the last write. */
  async #append(lines: Buffer): Promise<number> {
    const { folder, openFile = openToAppend } = this.#options;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = await openFile(this.path);
    try {
      // If a crash has torn the last line, the new ones must not continue it.
      await file.appendFile((await endsTorn(file)) ? `\n${lines}` : lines);
      await file.datasync();
      return lines.length;
    } finally {
      await file.close();
    }
  }

  async #read(isKept?: (block: TrackedBlock) => boolean): Promise<void> {
    const file = await open(this.path, constants.O_RDONLY | CAREFULLY).catch((fault: NodeJS.ErrnoException) => {
      if (fault.code === 'ENOENT') return undefined;
      throw fault;
    });
    if (!file) return;
    try {
      const { size } = await file.stat();
      // The file was replaced. Reading a line again changes nothing.
      if (size < this.#offset) this.#offset = 0;
      // Lines are cut at bytes, because a piece may end within a character. The rest of a piece is prepended to the
      // next one.
      let rest: Buffer = Buffer.alloc(0);
      for (;;) {
        const { bytesRead, buffer } = await file.read(
          Buffer.alloc(PIECE_BYTES),
          0,
          PIECE_BYTES,
          this.#offset + rest.length,
        );
        if (isKept) this.#index.keepOnly(isKept);
        if (bytesRead === 0) return;
        const piece = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
        const end = piece.lastIndexOf(NEW_LINE) + 1;
        for (const line of piece.toString('utf8', 0, end).split('\n')) this.#take(line);
        // pickaxe writes no line this long. Its last byte is kept, so that the whole line counts as one unreadable
        // line.
        const isJunk = end === 0 && piece.length > PIECE_BYTES;
        rest = piece.subarray(isJunk ? -1 : end);
        this.#offset += piece.length - rest.length;
      }
    } finally {
      await file.close();
    }
  }

  #take(text: string): void {
    if (text === '') return;
    const line = readLine(text);
    if (line) this.#index.apply(line);
    else this.#skipped++;
  }
}

function openToAppend(path: string): Promise<StoreFile> {
  return openPrivate(path, true);
}

async function endsTorn(file: StoreFile): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return false;
  const { bytesRead, buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 1 && buffer[0] !== NEW_LINE;
}

/* The store of a ledger that ends with the process: in memory only. */

export type Store = Pick<
  BlockStore,
  'blocks' | 'hiddenBlocks' | 'block' | 'searchedExpectedBlocks' | 'notFollowed' | 'add' | 'refresh' | 'close'
>;

export class MemoryStore implements Store {
  readonly #book = new BlockIndex();

  get blocks(): readonly TrackedBlock[] {
    return this.#book.blocks;
  }

  get hiddenBlocks(): readonly TrackedBlock[] {
    return this.#book.hiddenBlocks;
  }

  get searchedExpectedBlocks(): number {
    return this.#book.searchedExpectedBlocks;
  }

  get notFollowed(): NotFollowed {
    return this.#book.notFollowed;
  }

  block(hash: string): TrackedBlock | undefined {
    return this.#book.block(hash);
  }

  add(line: Line): void {
    this.#book.apply(line);
  }

  async refresh(): Promise<void> {}

  async close(): Promise<void> {}
}
