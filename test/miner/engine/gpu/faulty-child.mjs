/**
 * A GPU's child process with injected faults. Its argument is a JSON file with `faults`, one for each opening of the
 * device, in order (null for none; later openings have none), and `searcher`, the searcher's options to change.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { DeviceError } from '#pickaxe/miner/engine/engine.js';
import { CHILD_PARTS, startChild } from '#pickaxe/miner/engine/gpu/child/child.js';
import { joinNonce } from '#pickaxe/protocol/chain/nonce.js';

const [, , file] = process.argv;
const { faults, searcher } = JSON.parse(readFileSync(file, 'utf8'));
const fault = faults.shift() ?? undefined;
writeFileSync(file, JSON.stringify({ faults, searcher }));

const { openDevice, selfTest, spotCheck, createSearcher, send } = CHILD_PARTS;
const findNothing = async () => ({ hits: [] });
const end = (signal) => process.kill(process.pid, signal);

let device;
let isOpen = false;
let reports = 0;
let selfTests = 0;

/** Changes reports, by fault. `first`: whether it is the first report. */
const REPORTS = {
  'wrong nonces': (report) => {
    const { lane, page, counter } = report.searched;
    send({ ...report, candidates: [...report.candidates, joinNonce({ lane, step: 1, page, counter })] });
  },
  'wrong range': (report, first) => {
    const { searched } = report;
    send(first ? report : { ...report, searched: { ...searched, lane: searched.lane ^ 1 } });
  },
  garbage: (report, first) => send(first ? report : { ...report, candidates: ['0x00'] }),
  hang: () => {},
  crash: (report, first) => send(report, () => first && end('SIGKILL')),
  freeze: (report, first) => send(report, () => first && end('SIGSTOP')),
  'device loss': (report, first) => {
    if (first) device.destroy();
    send(report);
  },
};

function endBetweenTurns(made) {
  const interrupt = made.interrupt.bind(made);
  made.interrupt = async (turn) => {
    await interrupt(turn);
    await sleep(50);
    end('SIGKILL');
  };
}

startChild({
  openDevice: async (...args) => {
    if (fault === 'no device') {
      throw new DeviceError('lost', 'the driver refuses to open the GPU (a test asked for it)');
    }
    device = await openDevice(...args);
    return device;
  },
  selfTest: async (scan, unit) => {
    if (fault === 'loss while tuning') end('SIGKILL');
    if (fault === 'loss before measuring' && selfTests++ > 0) {
      // The device is open, and its parent knows that.
      while (!isOpen) await sleep(10);
      await sleep(100);
      end('SIGKILL');
    }
    return selfTest(fault === 'wrong-hashes' ? findNothing : scan, unit);
  },
  spotCheck: (scan) => spotCheck(fault === 'wrong hashes later' && isOpen ? findNothing : scan),
  createSearcher: (options) => {
    const made = createSearcher({ ...options, ...searcher });
    if (fault === 'loss between turns') endBetweenTurns(made);
    return made;
  },
  send: (message, sent) => {
    if (message.type === 'opened') isOpen = true;
    const sendReport = message.type === 'report' && REPORTS[fault];
    const kills = fault === 'loss while measuring' && isOpen && message.variant?.startsWith('wgsl ');
    if (kills) send(message, () => end('SIGKILL'));
    else if (sendReport) sendReport(message, reports++ === 0);
    else send(message, sent);
  },
});
