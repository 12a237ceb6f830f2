// Measures what a misbehaving node costs a miner: time without work, verdicts, timers, and processor time.
//
//   node test/faults/node-misbehaviour.mjs [--seconds 120] [--scenario NAME]… [--json] [--out FILE] [--no-goals]
//
// Scenarios run side by side, on miners that hash nothing, with the default limits. The floods follow one after the
// other. Waits for work end after --seconds. The exit code is 1 when a goal is missed. It runs only on Linux, because
// it reads the scheduler's statistics.

import { setTimeout as sleep } from 'node:timers/promises';
import { bytesRead, mainThreadMs } from '../../bench/lib/process-cpu.mjs';
import { IdleMiner } from './lib/idle-miner.mjs';
import { startIdleMinerProcess } from './lib/idle-miner-process.mjs';
import { runScenarios } from './lib/scenarios.mjs';
import { nowMs, secondsTo } from './lib/timed-records.mjs';
import { startWatchedNode } from './lib/watched-node.mjs';

const CHAIN = 0;
/** A stream that has lasted this long is reopened at once: see steadyStreamMs in node/http/request-limits.ts. */
const STEADY_MS = 6_000;
/** How long to wait until the miner notices what a node did: far longer than it takes. */
const PAUSE_MS = 1_000;
/** The time for V8 to compile the code that a flood runs. */
const WARM_UP_MS = 3_000;
const FLOOD_MS = 10_000;

/** A node with work on one chain only, and a miner with an open stream of that chain. */
async function startSteady(options) {
  const watched = await startWatchedNode(options);
  watched.node.ledger.pickChain = () => CHAIN;
  const miner = new IdleMiner([watched.url]);
  while (watched.node.server.streams.openFor(CHAIN) === 0) await sleep(10);
  await sleep(STEADY_MS + 2_000 * Math.random());
  const close = async () => {
    await miner.stop();
    await watched.node.close();
  };
  return { ...watched, miner, close };
}

/** A stream ends and is reopened, so work is fetched again. That request fails, and then a New Cut comes. */
function spoiltRefresh(fault) {
  return async (seconds) => {
    const { node, miner, isFresh, close } = await startSteady();
    node.server.faults = [{ endpoint: 'work', times: 1, ...fault }];
    node.server.streams.endAll();
    while (node.server.stats.faults === 0) await sleep(10);
    while (node.server.streams.openFor(CHAIN) === 0) await sleep(10);
    await sleep(PAUSE_MS);
    const cutMs = nowMs();
    node.ledger.advance(CHAIN);
    const sample = await secondsTo(miner.turns, isFresh, cutMs, seconds * 1000);
    await close();
    return [sample];
  };
}

async function earlyCut(seconds) {
  const { node, miner, isFresh, close } = await startSteady({ cutLeadMs: 50 });
  const cutMs = nowMs();
  node.ledger.advance(CHAIN);
  // Work that is mined before the block has come is not stale yet.
  const isNext = (turn) => isFresh(turn) && turn.atMs > cutMs + 50;
  const height = miner.turns.all.findLast(({ work }) => work).work.height;
  const sample = await secondsTo(
    miner.turns,
    (turn) => isNext(turn) && turn.work.height > height,
    cutMs,
    seconds * 1000,
  );
  await close();
  return [sample];
}

/** @param figure `refused`: 100 when the verdict is not `accepted`; `idle`: seconds until the next work is mined */
function solvedAnswer(kind, figure) {
  return async (seconds) => {
    const { node, miner, isFresh, close } = await startSteady();
    // This miner's own block would be a New Cut, which causes a fetch whatever the answer is.
    node.server.streams.silenceAll();
    node.server.faults = [{ endpoint: 'solved', kind, times: 1 }];
    const solvedMs = nowMs();
    miner.solve();
    const idle = await secondsTo(miner.turns, isFresh, solvedMs, seconds * 1000);
    const event = await miner.events.first(({ type }) => type === 'verdict', solvedMs, seconds * 1000);
    const refused = event?.outcome === 'accepted' ? 0 : 100;
    await close();
    return [{ idle, refused }[figure]];
  };
}

/** Two nodes. The second one was used for a moment; then the first accepts no solutions any more. */
function standby(endpoint) {
  return async (seconds) => {
    const first = await startWatchedNode();
    const second = await startWatchedNode();
    const miner = new IdleMiner([first.url, second.url]);
    const isOf =
      (rank) =>
      ({ work }) =>
        work?.rank === rank;
    await miner.turns.first(isOf(0), 0, seconds * 1000);
    await first.node.goAway();
    await miner.turns.first(isOf(1), 0, seconds * 1000);
    const backMs = nowMs();
    await first.node.comeBack();
    await miner.turns.first(isOf(0), backMs, seconds * 1000);
    await sleep(STEADY_MS);
    first.node.server.faults = [{ endpoint, kind: 'hang' }];
    const solvedMs = nowMs();
    miner.solve();
    const sample = await secondsTo(miner.turns, ({ work }) => work !== undefined, solvedMs, seconds * 1000);
    await miner.stop();
    await first.node.close();
    await second.node.close();
    return [sample];
  };
}

/** @param figure `timers` or `warnings`: by how many their number in the miner's process has grown */
function retryLines(retryMs, figure) {
  return async (seconds) => {
    const { node, url } = await startWatchedNode({ streamMs: STEADY_MS });
    const miner = await startIdleMinerProcess([url]);
    while (node.server.streams.open < node.ledger.settings.chains) {
      await sleep(100);
      node.ledger.advance();
    }
    const count = async () => {
      const { timers, warnings } = await miner.measure();
      return { timers, warnings: warnings.length }[figure];
    };
    const before = await count();
    node.server.faults = [
      { endpoint: 'updates', kind: 'noisy-stream', noise: `retry: ${retryMs}\nid: 7\n\n`, noiseBytesPerS: 100 },
    ];
    await sleep(seconds * 1000);
    const sample = (await count()) - before;
    await miner.stop();
    await node.close();
    return [sample];
  };
}

/** @returns 100 when no event reported that there is no stream */
async function unreported(seconds) {
  const { node, url } = await startWatchedNode({ rivalMs: 7_500 });
  node.server.faults = [{ endpoint: 'updates', kind: 'hang' }];
  const miner = new IdleMiner([url]);
  const isWord = ({ type, reason }) => type === 'source' && /stream/.test(reason);
  const event = await miner.events.first(isWord, 0, seconds * 1000);
  await miner.stop();
  await node.close();
  return [event ? 0 : 100];
}

/**
 * A node that gives work on its chains in turn, with a script for its streams.
 * @param count `work` or `updates`: the requests that are counted
 * @returns how many of them the miner sends each second, with what it sends at its start
 */
function asked(count, options, misbehave = () => {}) {
  return async (seconds) => {
    const { node, url } = await startWatchedNode({ chains: 20, ...options });
    let next = 0;
    node.ledger.pickChain = () => next++ % 20;
    misbehave(node);
    const miner = await startIdleMinerProcess([url]);
    const { requests } = node.server.stats;
    while (requests[count] === 0) await sleep(10);
    const beganMs = nowMs();
    await sleep(seconds * 1000);
    const sample = (1000 * requests[count]) / (nowMs() - beganMs);
    await miner.stop();
    await node.close();
    return [sample];
  };
}

/** The node refuses the fourth stream, and no other. */
function refuseOne(node) {
  const { streams } = node.server;
  let asked = 0;
  Object.defineProperty(streams, 'full', { get: () => ++asked === 4 });
}

/** Each work is outdated as soon as it is given. */
function outdateAll(node) {
  const { pickChain } = node.ledger;
  node.ledger.pickChain = () => {
    const chain = pickChain();
    setTimeout(() => node.ledger.advance(chain), 1);
    return chain;
  };
}

/**
 * @returns the main thread's processor time ÷ the time in which the noise that was read was sent: a busy machine reads
 *   slowly
 */
function flood(noise, noiseBytesPerS, endpoint = 'updates', kind = 'noisy-stream') {
  return async () => {
    const { node, url } = await startWatchedNode();
    node.ledger.pickChain = () => CHAIN;
    node.server.faults = [{ endpoint, kind, noise, noiseBytesPerS }];
    const miner = await startIdleMinerProcess([url]);
    while (node.server.stats.requests[endpoint] === 0) await sleep(10);
    await sleep(WARM_UP_MS);
    const measure = () => ({
      cpuMs: mainThreadMs(miner.pid),
      noiseMs: (1000 * bytesRead(miner.pid)) / noiseBytesPerS,
      ms: nowMs(),
    });
    const before = measure();
    await sleep(FLOOD_MS);
    const after = measure();
    // After the miner has closed the stream, there is no noise to measure with.
    const isOver =
      node.server.stats.requests[endpoint] > 1 || (kind === 'noisy-stream' && node.server.streams.open === 0);
    const isRead = after.noiseMs - before.noiseMs > 0.1 * (after.ms - before.ms);
    const by = isOver || !isRead ? 'ms' : 'noiseMs';
    await miner.stop();
    await node.close();
    return [(100 * (after.cpuMs - before.cpuMs)) / (after[by] - before[by])];
  };
}

const idle = { figure: 'until fresh work is mined', unit: 's', judged: 'worst' };
const verdict = { figure: 'solutions not accepted', unit: '%', judged: 'worst', goal: 0 };
/** At its start, a miner asks for work, and for a stream, once for each chain, and a few times more. */
const atMost = (perSecond, atStart = 30) => ({
  judged: 'worst',
  unit: '/s',
  goal: (seconds) => perSecond + atStart / seconds,
});
const works = { figure: 'requests for work', ...atMost(0.6) };
const openings = { figure: 'requests for streams', ...atMost(0.1) };
const mainThread = { figure: 'main thread', unit: '%', judged: 'worst', goal: 10, alone: true };

const scenarios = {
  'refresh-busy': {
    ...idle,
    goal: 1,
    what: 'a refresh is answered by 503 with retry-after: 60, then comes a New Cut',
    run: spoiltRefresh({ kind: 'unavailable', retryAfterS: 60 }),
  },
  'refresh-hangs': {
    ...idle,
    goal: 1,
    what: 'a refresh is never answered, then comes a New Cut',
    run: spoiltRefresh({ kind: 'hang' }),
  },
  'early-cut': {
    ...idle,
    goal: 2,
    what: 'a New Cut is announced 50 ms before the work changes',
    run: earlyCut,
  },
  'broken-verdict': {
    ...verdict,
    what: 'the body of a solution’s answer breaks',
    run: solvedAnswer('broken-body', 'refused'),
  },
  'broken-idle': { ...idle, goal: 1, what: 'the same', run: solvedAnswer('broken-body', 'idle') },
  'endless-verdict': {
    ...verdict,
    what: 'the body of a solution’s answer never ends',
    run: solvedAnswer('endless-body', 'refused'),
  },
  'endless-idle': { ...idle, goal: 1, what: 'the same', run: solvedAnswer('endless-body', 'idle') },
  'solved-hangs': {
    ...idle,
    goal: 2,
    what: 'the first of two nodes takes no solution any more: the POST hangs; the second has work',
    run: standby('solved'),
  },
  'all-hangs': { ...idle, goal: 2, what: 'and it answers nothing else either', run: standby('any') },
  'retry-timers': {
    figure: 'timers more than before',
    unit: '',
    judged: 'worst',
    goal: 4,
    what: 'streams that say retry: 3600000 and end every 6 s',
    run: retryLines(3_600_000, 'timers'),
  },
  'retry-warnings': {
    figure: 'warnings of Node.js',
    unit: '',
    judged: 'worst',
    goal: 0,
    what: 'streams that say retry: 99999999999 and end every 6 s',
    run: retryLines(99_999_999_999, 'warnings'),
  },
  'updates-hang': {
    figure: 'runs in which nobody was told',
    unit: '%',
    judged: 'worst',
    goal: 0,
    what: 'requests for streams are never answered, while work is',
    run: unreported,
  },
  'one-refused': {
    ...works,
    what: 'work on 20 chains in turn; the fourth stream is refused with 503, once',
    run: asked('work', {}, refuseOne),
  },
  'three-streams': {
    ...works,
    what: 'work on 20 chains in turn; three streams',
    run: asked('work', { streamLimit: 3 }),
  },
  'three-openings': { ...openings, what: 'the same', run: asked('updates', { streamLimit: 3 }) },
  'ten-streams': { ...works, what: 'work on 20 chains in turn; ten streams', run: asked('work', { streamLimit: 10 }) },
  'ended-streams': {
    ...openings,
    ...atMost(5, 62),
    what: 'each stream ends as soon as it is open',
    run: asked('updates', {}, (node) => {
      node.server.faults = [{ endpoint: 'updates', kind: 'end-stream' }];
    }),
  },
  'endless-cuts': {
    ...works,
    ...atMost(25, 252),
    what: 'each work is followed by a New Cut',
    run: asked('work', {}, outdateAll),
  },
  'hints-updates': {
    ...mainThread,
    what: 'interim answers (103) instead of a stream, 10 MB/s',
    run: flood('\n', 1e7, 'updates', 'early-hints'),
  },
  'hints-work': {
    ...mainThread,
    what: 'interim answers (103) instead of work, 10 MB/s',
    run: flood('\n', 1e7, 'work', 'early-hints'),
  },
  'extension-updates': {
    ...mainThread,
    what: 'a chunk extension in a stream, 10 MB/s',
    run: flood('\n', 1e7, 'updates', 'chunk-extension'),
  },
  'extension-work': {
    ...mainThread,
    what: 'a chunk extension instead of work, 10 MB/s',
    run: flood('\n', 1e7, 'work', 'chunk-extension'),
  },
  'newlines-1': { ...mainThread, what: 'a stream of bare newlines, 1 MB/s', run: flood('\n', 1e6) },
  'newlines-3': { ...mainThread, what: 'a stream of bare newlines, 3 MB/s', run: flood('\n', 3e6) },
  'comments-3': { ...mainThread, what: 'a stream of comments, 3 MB/s', run: flood(':\n\n', 3e6) },
};

await runScenarios(scenarios, 120);
