// Loaded before the command line (node --import): its CPU engine does not report the first candidate of each search,
// or, with SKIP=odd, of every other search, like a kernel that skips nonces.

import { CpuEngine } from '#pickaxe/miner/engine/cpu/cpu-engine.js';

const { search } = CpuEngine.prototype;
let searches = 0;

CpuEngine.prototype.search = async function* (...args) {
  searches++;
  let skip = process.env.SKIP !== 'odd' || searches % 2 === 1;
  for await (const report of search.apply(this, args)) {
    const [first, ...others] = report.candidates;
    if (first !== undefined && skip) {
      skip = false;
      yield { ...report, candidates: others };
    } else yield report;
  }
};
