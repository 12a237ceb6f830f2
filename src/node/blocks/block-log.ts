/**
 * The block log: an append-only file of JSON lines, so that neither a crash nor a second process can destroy earlier
 * lines. Lines are appended whole, with one system call. A line that a crash has torn is skipped. If the disk is full
 * or out of reach, mining goes on, and lines wait in memory until they can be written.
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
 * Once this number of bytes waits in memory, further lines are dropped. It is far more than a rig writes while its disk
 * is repaired.
 */
const WAITING_BYTES = 2 * 1024 ** 2;
/** Maximum number of bytes in one write, small enough that the system writes them in one piece. */
const WRITTEN_AT_ONCE = 32 * 1024;
/** Maximum time for which closing waits for the disk. */
const CLOSE_MS = 5_000;
/**
 * Number of bytes that are read at once. Reading them takes a few milliseconds. No line that pickaxe writes is longer.
 */
const PIECE_BYTES = 128 * 1024;
const NEW_LINE = 0x0a;

export type StoreFile = Pick<FileHandle, 'stat' | 'read' | 'appendFile' | 'datasync' | 'close'>;

export interface StoreOptions {
  readonly folder: string;
  /**
   * Called once when the file cannot be written, once when it can be written again, and once when it cannot be read.
   * Also called for unreadable lines, and for lines that were not written before the store was closed.
   */
  readonly warn: (line: string) => void;
  /** Opens the file for writing, and creates it if necessary. Tests replace this function. */
  readonly openFile?: (path: string) => Promise<StoreFile>;
  /** Time after which a failed write is repeated. */
  readonly againMs?: number;
}

export class BlockStore {
  readonly path: string;
  readonly #options: StoreOptions;
  readonly #index = new BlockIndex();
  readonly #lines: AppendFile;
  /** Position in the file up to which lines have been read. */
  #offset = 0;
  #skipped = 0;
  /** Number of lines that were not taken, because too many waited. */
  #dropped = 0;
  #isUnreadable = false;

  /** Nothing is read before the first `refresh`, and the file is not created before the first write. */
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

  /**
   * Appends a line. The line changes the index at once, even if it cannot be written. Only a sum (`isSum`) changes the
   * index later, when it is read from the file.
   */
  add(line: Line): void {
    if (!isSum(line)) this.#index.apply(line);
    if (!this.#lines.add(writeLine(line))) this.#dropped++;
  }

  /**
   * Reads the lines that this or another process has appended since the last call. Warns if the file cannot be read.
   * @param isKept whether to keep a block in memory; by default, all blocks are kept
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

  /** Writes the waiting lines, for at most `CLOSE_MS`. Warns if lines were not written. */
  async close(): Promise<void> {
    await this.#lines.close(CLOSE_MS);
    const { waiting } = this.#lines;
    if (waiting > 0) this.#options.warn(`${waiting} lines of the block log were not written`);
    if (this.#dropped > 0) {
      this.#options.warn(`${this.#dropped} lines of the block log were dropped, because too many waited for the disk`);
    }
  }

  /**
   * Opens the file for each write, because lines are rare, and the file may have been moved away since the last write.
   */
  async #append(lines: Buffer): Promise<number> {
    const { folder, openFile = openToAppend } = this.#options;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = await openFile(this.path);
    try {
      // If a crash has torn the last line, the new lines must not continue it.
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
      // The file was replaced by a shorter one, which is read from its start. The sums begin again at zero, because the
      // lines that add to them would count twice. All other lines may be applied twice without a change.
      if (size < this.#offset) {
        this.#offset = 0;
        this.#index.restartSums();
      }
      // Lines are split as bytes, because a piece may end within a character. The incomplete line at the end of a piece
      // is prepended to the next piece.
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
        // Junk is a line that is longer than any line of pickaxe. Only the last byte of it is kept, so that the whole
        // line counts as one unreadable line.
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

/* A store in memory only, for a ledger that ends with the process. */

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
