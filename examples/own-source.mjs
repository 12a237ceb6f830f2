// Mines work that this program makes: a source gives work and judges solutions.
//
//   node own-source.mjs

import { CpuEngine, Miner, parseWork, targetForDifficulty } from 'pickaxe';

/** @typedef {import('pickaxe').WorkSource} WorkSource */

const SHARES = 5;

/**
 * A source of work for a few shares of one header. A block takes ten times the work of a share.
 * @implements {WorkSource}
 */
class OwnSource {
  name = 'own source';
  /** @type {import('pickaxe').Solution[]} */
  solutions = [];

  /**
   * @param {import('pickaxe').UpdateListener} listener
   * @param {AbortSignal} stop
   */
  async follow(listener, stop) {
    // chain (4 bytes) | target (32) | header (286)
    const record = new Uint8Array(322);
    record.set(targetForDifficulty(2 ** 20), 4);
    crypto.getRandomValues(record.subarray(36));
    const work = parseWork(record, {
      blockTarget: targetForDifficulty(10 * 2 ** 20),
      // This program has the low byte of the nonce for itself.
      nonce1: { value: 0x2a, bytes: 1 },
      rollTime: false,
      until: 'replaced',
    });
    listener({ kind: 'work', work });
    await new Promise((resolve) => {
      stop.addEventListener('abort', resolve, { once: true });
    });
  }

  /** @param {import('pickaxe').Solution} solution */
  async submit(solution) {
    this.solutions.push(solution);
    const { nonce, isBlock } = solution;
    console.log(`${isBlock ? 'block' : 'share'} with nonce 0x${nonce.toString(16).padStart(16, '0')}`);
    if (this.solutions.length >= SHARES) miner.stop();
    return { outcome: /** @type {const} */ ('accepted'), reason: '' };
  }

  latestTimeUs() {
    return BigInt(Date.now()) * 1000n;
  }
}

const source = new OwnSource();
const miner = new Miner({ source, engines: [new CpuEngine()] });
await miner.run();
if (source.solutions.some(({ nonce }) => (nonce & 0xffn) !== 0x2an)) throw new Error('nonce1 was not kept');
console.log(`${source.solutions.length} shares`);
