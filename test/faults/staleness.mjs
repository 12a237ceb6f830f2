// Measures how much of the mining is stale while a node's streams send nothing, and how soon mining goes on after an
// outage.
//
//   node test/faults/staleness.mjs [--seconds 600] [--scenario NAME]… [--json] [--out FILE] [--no-goals]
//
// All scenarios run side by side, each several times, on miners that hash nothing, so they need almost no processor
// time. Stale is the time on work whose parent is no longer the tip of its chain at the node. The exit code is 1 when a
// goal is missed.
//
// With --seconds below 600, the scenarios whose figure is a fraction run faster: the times of blocks and streams and
// the source's time limits are all shortened. The time of a message is not, so the goals are wider, and a busy machine
// can miss them. The other scenarios keep the default limits and are repeated less often.

import { setTimeout as sleep } from 'node:timers/promises';
import { nodeLimits } from '#pickaxe/node/http/request-limits.js';
import { startMockProcess } from '../../bench/lib/mock-process.mjs';
import { IdleMiner } from './lib/idle-miner.mjs';
import { startIdleMinerProcess } from './lib/idle-miner-process.mjs';
import { runScenarios } from './lib/scenarios.mjs';
import { mined, nowMs, secondsTo } from './lib/timed-records.mjs';
import { startWatchedNode } from './lib/watched-node.mjs';

const FULL_SECONDS = 600;
const CHAINS = 4;
/** The average time between the blocks of one chain, as in the real network. */
const BLOCK_MS = 30_000;
const STREAM_MS = 240_000;
/** How long streams work before they fail, in scenarios where they work at first. */
const FAIL_MS = 20_000;
const RIGS = 5;
/** The longest wait for work: longer than any time limit of a source. */
const MOST_WAIT_S = 180;
const LEAST_WAIT_S = 30;
const SUSPENDED_MS = 60_000;
const OUTAGES_S = [2, 10, 30, 60];

/** @returns the limits for a simulation that runs `pace` times as fast */
function quickened(limits, pace) {
  const quicker = (value) => (typeof value === 'number' ? value / pace : quickened(value, pace));
  return Object.fromEntries(Object.entries(limits).map(([name, value]) => [name, quicker(value)]));
}

const rivals = (pace = 1) => ({
  rivalMs: Math.round(BLOCK_MS / CHAINS / pace),
  streamMs: Math.round(STREAM_MS / pace),
});

const paceOf = (seconds) => Math.max(1, FULL_SECONDS / seconds);

/** Messages take the same time in a faster simulation: 60 ms for each block, which is 0.2 % of 30 s. */
const shareGoal = (percent) => (seconds) => percent + 0.2 * (paceOf(seconds) - 1);

/** @param spoil makes the node misbehave; it waits with `after(ms)` */
function staleShare(spoil) {
  const rig = async (seconds) => {
    const pace = paceOf(seconds);
    const { node, url, staleFromMs } = await startWatchedNode({
      ...rivals(pace),
      workLifetimeMs: Math.round(300_000 / pace),
    });
    const miner = new IdleMiner([url], quickened(nodeLimits, pace));
    while (node.server.streams.open === 0) await sleep(10);
    const beganMs = nowMs();
    await spoil(node, (ms) => sleep(ms / pace));
    await sleep(beganMs + seconds * 1000 - nowMs());
    const { minedMs, staleMs } = mined(miner.turns.all, staleFromMs, beganMs, nowMs());
    await miner.stop();
    await node.close();
    return (100 * staleMs) / minedMs;
  };
  return sideBySide(RIGS, async (seconds) => [await rig(seconds)]);
}

function sideBySide(rigs, run) {
  return async (seconds) => (await Promise.all(Array.from({ length: rigs }, () => run(seconds)))).flat();
}

/**
 * Repeats an action as long as another run fits into the time, but at least once.
 * @param ownS how many seconds a run takes, without waiting for work
 * @param action gets the longest time that it may wait for work, in ms
 */
async function repeated(seconds, ownS, action) {
  const endMs = nowMs() + seconds * 1000;
  const waitMs = 1000 * Math.max(LEAST_WAIT_S, Math.min(MOST_WAIT_S, seconds));
  const samples = [];
  do samples.push(await action(waitMs));
  while (nowMs() + ownS * 1000 + waitMs < endMs);
  return samples;
}

/** Waits a random time, so that what follows meets every phase of the source's own timers. */
const anyPhase = (fromS, toS) => sleep(1000 * (fromS + Math.random() * (toS - fromS)));

const isOf =
  (rank) =>
  ({ work }) =>
    work?.rank === rank;

/**
 * One of two nodes freezes.
 * @param figure `over`: the time until the other node's work is mined; `back`: until the frozen node's work is mined
 *   again
 */
function frozen(figure) {
  return sideBySide(3, async (seconds) => {
    const first = await startMockProcess({ chains: CHAINS, difficulty: 100, ...rivals() });
    const second = await startWatchedNode(rivals());
    const miner = new IdleMiner([first.url, second.url]);
    const samples = await repeated(seconds, 45, async (waitMs) => {
      await miner.turns.first(isOf(0), nowMs(), waitMs);
      await anyPhase(10, 40);
      process.kill(first.pid, 'SIGSTOP');
      const over = await secondsTo(miner.turns, isOf(1), nowMs(), waitMs);
      await sleep(5_000);
      process.kill(first.pid, 'SIGCONT');
      const back = await secondsTo(miner.turns, isOf(0), nowMs(), waitMs);
      return { over, back }[figure];
    });
    await miner.stop();
    await first.close();
    await second.node.close();
    return samples;
  });
}

/** How a node goes away, and how it comes back. */
const AWAY = {
  refused: { leave: (node) => node.goAway(), comeBack: (node) => node.comeBack() },
  unavailable: {
    leave(node) {
      node.server.faults = [{ endpoint: 'any', kind: 'unavailable' }];
      node.server.streams.endAll();
    },
    comeBack(node) {
      node.server.faults = [];
    },
  },
};

/** Adds a block to every chain while the node is away, so that new work is needed. */
function outage(form, outageS) {
  return sideBySide(4, async (seconds) => {
    const { node, url, isFresh, advanceAll } = await startWatchedNode();
    const miner = new IdleMiner([url]);
    const samples = await repeated(seconds, outageS + 20, async (waitMs) => {
      await anyPhase(2, 20);
      await AWAY[form].leave(node);
      await sleep(outageS * 500);
      advanceAll();
      await sleep(outageS * 500);
      await AWAY[form].comeBack(node);
      return await secondsTo(miner.turns, isFresh, nowMs(), waitMs);
    });
    await miner.stop();
    await node.close();
    return samples;
  });
}

/** No other block comes meanwhile, so the solution stays valid until after the outage. */
function lostSolutions(form, outageS) {
  return sideBySide(2, async (seconds) => {
    const { node, url } = await startWatchedNode();
    const miner = new IdleMiner([url]);
    const isVerdict = ({ type }) => type === 'verdict';
    const samples = await repeated(seconds, outageS + 20, async (waitMs) => {
      await miner.turns.first(({ work }) => work, nowMs(), waitMs);
      await anyPhase(2, 5);
      await AWAY[form].leave(node);
      await anyPhase(0, 1);
      const solvedMs = nowMs();
      miner.solve();
      await sleep(outageS * 1000 - 500);
      await AWAY[form].comeBack(node);
      const verdict = await miner.events.first(isVerdict, solvedMs, waitMs);
      return verdict?.outcome === 'accepted' ? 0 : 100;
    });
    await miner.stop();
    await node.close();
    return samples;
  });
}

/** @param meanwhile what else happens to the node */
function suspended(meanwhile) {
  return sideBySide(3, async (seconds) => {
    const suspendedMs = Math.min(SUSPENDED_MS, (seconds * 1000) / 6);
    const { node, url, isFresh, advanceAll } = await startWatchedNode(rivals());
    const miner = await startIdleMinerProcess([url]);
    await miner.turns.first(({ work }) => work, 0, 1000 * LEAST_WAIT_S);
    const samples = await repeated(seconds, suspendedMs / 1000 + 20, async (waitMs) => {
      await anyPhase(5, 20);
      process.kill(miner.pid, 'SIGSTOP');
      meanwhile(node);
      await sleep(suspendedMs);
      advanceAll();
      const resumedMs = nowMs();
      process.kill(miner.pid, 'SIGCONT');
      return await secondsTo(miner.turns, isFresh, resumedMs, waitMs);
    });
    await miner.stop();
    await node.close();
    return samples;
  });
}

const share = { figure: 'stale part of the time mined', unit: '%', judged: 'mean' };
const untilMined = { figure: 'until its work is mined', unit: 's', judged: 'worst' };

const scenarios = {
  healthy: {
    ...share,
    goal: shareGoal(1),
    what: 'a block per chain every 30 s, streams that work',
    run: staleShare(() => {}),
  },
  buffered: {
    ...share,
    goal: shareGoal(10),
    what: 'a proxy holds back a stream until it ends, after 240 s',
    run: staleShare((node) => {
      node.server.faults = [{ endpoint: 'updates', kind: 'buffered-stream' }];
    }),
  },
  silent: {
    ...share,
    goal: shareGoal(10),
    what: 'from 20 s on, streams stay open and announce nothing',
    run: staleShare(async (node, after) => {
      await after(FAIL_MS);
      node.server.faults = [{ endpoint: 'updates', kind: 'silent-stream' }];
      node.server.streams.silenceAll();
    }),
  },
  lost: {
    ...share,
    goal: shareGoal(2),
    what: 'after 20 s, all streams are gone without a word, once; later ones work',
    run: staleShare(async (node, after) => {
      await after(FAIL_MS);
      node.server.streams.loseAll();
    }),
  },
  frozen: {
    ...untilMined,
    goal: 5,
    what: 'the first of two nodes is stopped (SIGSTOP): until work of the second is mined',
    run: frozen('over'),
  },
  thawed: { ...untilMined, what: 'and when it goes on (SIGCONT): until its work is mined again', run: frozen('back') },
  ...Object.fromEntries(
    Object.keys(AWAY).flatMap((form) =>
      OUTAGES_S.map((outageS) => [
        `${form}-${outageS}`,
        {
          ...untilMined,
          goal: 1,
          leastSeconds: 2 * outageS,
          what: `a node is ${form} for ${outageS} s`,
          run: outage(form, outageS),
        },
      ]),
    ),
  ),
  ...Object.fromEntries(
    OUTAGES_S.map((outageS) => [
      `solved-${outageS}`,
      {
        figure: 'solutions not accepted',
        unit: '%',
        judged: 'mean',
        goal: 0,
        leastSeconds: 2 * outageS,
        what: `a node is refused for ${outageS} s, and the miner finds a solution meanwhile`,
        run: lostSolutions('refused', outageS),
      },
    ]),
  ),
  suspended: {
    figure: 'until fresh work is mined',
    unit: 's',
    judged: 'worst',
    goal: 1,
    what: 'the miner is stopped for 60 s (SIGSTOP, SIGCONT) while its chains move on',
    run: suspended(() => {}),
  },
  'suspended-lost': {
    figure: 'until fresh work is mined',
    unit: 's',
    judged: 'worst',
    goal: 1,
    what: 'the same, and its streams are gone without a word, as after a sleep',
    run: suspended((node) => node.server.streams.loseAll()),
  },
};

await runScenarios(scenarios, FULL_SECONDS);
