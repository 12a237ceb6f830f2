/** The faults that tests ask for: everything that the child would say passes through here, spoilt as asked. */

import { joinNonce } from '../../../chain/nonce.ts';
import { DeviceError } from '../../engine.ts';
import type { Fault, ToParent } from '../protocol.ts';
import type { Scanner } from './scanner.ts';

type ReportMessage = Extract<ToParent, { type: 'report' }>;
export type Send = (message: ToParent, sent?: () => void) => void;

/** Before the device is asked for. @throws DeviceError when the fault is that there is none. */
export function openUnder(fault: Fault | undefined): void {
  if (fault === 'no device') throw new DeviceError('lost', 'the driver refuses to open the GPU (a test asked for it)');
}

/** The scan that a check of the device sees. */
export function scanUnder(scanner: Scanner, fault: Fault | undefined, when: 'opening' | 'mining'): Scanner['scan'] {
  if (fault === 'loss while tuning') process.kill(process.pid, 'SIGKILL');
  const wrong = fault === (when === 'opening' ? 'wrong hashes' : 'wrong hashes later');
  return wrong ? async () => ({ hits: [] }) : (search, range) => scanner.scan(search, range);
}

/** Sends reports, and brings about the fault when its turn comes. */
export function sendReportsUnder(
  fault: Fault | undefined,
  send: Send,
  loseDevice: () => void,
): (report: ReportMessage) => void {
  let reports = 0;
  return (report) => {
    const first = reports++ === 0;
    const { lane, page, counter } = report.searched;
    if (fault === 'wrong nonces') {
      send({ ...report, candidates: [...report.candidates, joinNonce({ lane, page, counter })] });
    } else if (fault === 'wrong range' && !first) {
      send({ ...report, searched: { ...report.searched, lane: lane ^ 1 } });
    } else if (fault === 'garbage' && !first) {
      send({ ...report, candidates: ['0x00'] } as never);
    } else if (fault === 'crash' && first) {
      send(report, () => process.kill(process.pid, 'SIGKILL'));
    } else if (fault === 'freeze' && first) {
      send(report, () => process.kill(process.pid, 'SIGSTOP'));
    } else if (fault !== 'hang') {
      if (fault === 'device loss' && first) loseDevice();
      send(report);
    }
  };
}
