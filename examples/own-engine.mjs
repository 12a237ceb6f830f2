// Lets code of this program hash, beside pickaxe's CPU engine. Every candidate is verified before it counts.
//
//   node own-engine.mjs

import { CpuEngine, Events, joinNonce, Miner, MockNode, NodeSource, systemClock, Tally, verify } from 'pickaxe';

/** @typedef {import('pickaxe').Engine} Engine */

/**
 * The slowest engine in the world: it hashes whole headers with the referee's own function.
 * @implements {Engine}
 */
class SlowEngine {
  name = 'slow';
  kind = /** @type {const} */ ('cpu');

  async open() {
    return { model: 'an example', kernel: 'referee', why: 'it is the only one' };
  }

  /**
   * @param {import('pickaxe').Job} job
   * @param {import('pickaxe').Ranges} ranges
   * @param {AbortSignal} stop
   * @returns {AsyncGenerator<import('pickaxe').SearchReport>}
   */
  async *search(job, ranges, stop) {
    while (!stop.aborted) {
      const searched = ranges.take({ counters: 256, pages: 1 });
      if (!searched) return;
      const beganMs = systemClock.monotonicMs();
      const candidates = [];
      for (let i = 0; i < searched.counters; i++) {
        const nonce = joinNonce({ ...searched, counter: searched.counter + i });
        if (verify(job, nonce).proves) candidates.push(nonce);
      }
      yield { searched, hashes: searched.counters, beganMs, candidates };
      await new Promise((resolve) => setImmediate(resolve)); // Lets new work arrive.
    }
  }

  async close() {}
}

const node = new MockNode({ network: 'development', dialect: 'chainweb', difficulty: 2 ** 20 });
const { url } = await node.start();
const identity = { account: 'demo', predicate: /** @type {const} */ ('keys-all'), publicKeys: ['0'.repeat(64)] };
const engines = [new CpuEngine(), new SlowEngine()];
const events = new Events();
const tally = new Tally(systemClock, engines);
events.on(tally.listen);
const source = new NodeSource({ url, network: 'development', miner: identity });
// The engine is slow, so its first proofs must be easy.
const miner = new Miner({ source, engines, emit: events.emit, firstProofDifficulty: 2 ** 12 });
events.on(({ type }) => {
  const { slow } = tally.summary().devices;
  if (type === 'proof' && tally.accepted > 0 && slow?.proven) miner.stop();
});
await miner.run();
await node.close();
for (const [name, { hashes, hardwareErrors, proven }] of Object.entries(tally.summary().devices)) {
  console.log(`${name}: ${hashes} hashes, ${proven?.proofs ?? 0} proofs, ${hardwareErrors} hardware errors`);
}
