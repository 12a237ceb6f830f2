// Hands work to a hasher of this program, and lets pickaxe roll the time, verify what comes back and submit it.
//
//   node own-relay.mjs

import { Events, MockNode, NodeSource, RelayedWorks, systemClock, verify } from 'pickaxe';

const BLOCKS = 3;

const node = new MockNode({ network: 'development', dialect: 'chainweb', difficulty: 500 });
const { url } = await node.start();
const identity = { account: 'demo', predicate: /** @type {const} */ ('keys-all'), publicKeys: ['0'.repeat(64)] };
const source = new NodeSource({ url, network: 'development', miner: identity });
const events = new Events();
const ending = new AbortController();

let accepted = 0;
events.on((event) => {
  if (event.type !== 'verdict') return;
  console.log(`chain ${event.chain} height ${event.height}: ${event.outcome} ${event.reason}`.trim());
  if (event.outcome === 'accepted' && ++accepted >= BLOCKS) ending.abort();
});

const works = new RelayedWorks({
  name: 'own-relay',
  source,
  emit: events.emit,
  clock: systemClock,
  changed: (work) => {
    const job = work && works.jobOf(work);
    if (job) void hash(job);
  },
});

/** Stands for hardware: it tries nonces until the work is replaced or solved. @param {import('pickaxe').Job} job */
async function hash(job) {
  for (let nonce = 0n; works.current === job.work && !ending.signal.aborted; nonce++) {
    if (verify(job, nonce).proves) {
      works.judge(job, nonce);
      return;
    }
    if (nonce % 64n === 0n) await new Promise((resolve) => setImmediate(resolve));
  }
}

await works.follow(ending.signal); // It ends when nothing is pending any more.
await node.close();
console.log(`${accepted} blocks accepted`);
