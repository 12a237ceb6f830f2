/** An operator of a fleet in memory, whose commands run in this process. */

import { loadConfig } from '#pickaxe/app/config/load.js';
import type { Operator } from '#pickaxe/cli/fleet/operator.js';
import { type ControlAnswer, ControlRequest, messageBytes, readMessage } from '#pickaxe/fleet/messages.js';
import { asker } from '#pickaxe/fleet/operator/ask-rigs.js';
import { FakeNats } from '../../fleet/nats/fake-nats.ts';
import { INSTANCE, SUBJECTS } from '../../fleet/operator/messages.ts';
import { FakeClock } from '../../rig/status/fakes.ts';
import { isolated } from '../pickaxe.ts';

/** The settings without a file. */
export const LOADED = loadConfig({ flags: new Map(), environment: {}, cwd: isolated.cwd });

export function setUp() {
  const nats = new FakeNats();
  const clock = new FakeClock();
  const link = nats.link('operator', SUBJECTS.operatorInbox('operator'));
  const operator: Operator = {
    link,
    subjects: SUBJECTS,
    clock,
    instance: INSTANCE,
    ask: asker(link, SUBJECTS, 'operator'),
    close,
  };
  let isClosed = false;
  async function close() {
    isClosed = true;
  }
  return { nats, clock, link, operator, open: () => operator, isClosed: () => isClosed };
}

/** A rig that answers every request in the same way. @returns the requests so far */
export function answeringRig(nats: FakeNats, name: string, answer: ControlAnswer): ControlRequest[] {
  const link = nats.link(name);
  const requests: ControlRequest[] = [];
  link.subscribe(SUBJECTS.controlsTo(name), ({ data, reply }) => {
    const request = readMessage(ControlRequest, data);
    if (request) requests.push(request);
    if (reply !== undefined) link.publish(reply, messageBytes(answer));
  });
  return requests;
}
