/** The roster: what reports and states become, and what senders of junk, floods and others' names can do. */

import { describe, expect, it } from 'vitest';
import { givenWorkOf } from '#pickaxe/fleet/messages.js';
import { FleetStatus } from '#pickaxe/fleet/operator/fleet-status.js';
import { Roster } from '#pickaxe/fleet/operator/roster.js';
import { HEADER_OFFSET } from '#pickaxe/protocol/chain/bytes.js';
import { expectShape } from '../../expect-shape.ts';
import { makeWork } from '../../fakes.ts';
import { FakeClock } from '../../rig/status/fakes.ts';
import { FakeNats } from '../nats/fake-nats.ts';
import {
  beat,
  delivered,
  INSTANCE,
  OTHER_INSTANCE,
  reportedDevice,
  SUBJECTS,
  sendReport,
  sendState,
  stateWithWork,
} from './messages.ts';

function setUp() {
  const nats = new FakeNats();
  const link = nats.link('operator');
  const sender = nats.link('sender');
  const clock = new FakeClock();
  const lines: string[] = [];
  const roster = new Roster({ link, subjects: SUBJECTS, clock, warn: (line) => lines.push(line) });
  return { link, sender, clock, lines, roster };
}

/** A work of this height, as a state gives it. */
function givenAt(height: bigint, name = `${INSTANCE}-1`) {
  const work = makeWork(1e6);
  const header = Uint8Array.from(work.header);
  new DataView(header.buffer).setBigUint64(HEADER_OFFSET.height, height, true);
  return { chain: work.chain, name, given: givenWorkOf({ ...work, header }, name) };
}

describe('rigs', () => {
  it('are listed by name, with their last report and its age', async () => {
    const { sender, clock, roster } = setUp();
    sendReport(sender, 'rig 2', { hashesPerSecond: 2 });
    sendReport(sender, 'rig 1', { hashesPerSecond: 1 });
    await delivered();
    clock.advance(10_000);
    sendReport(sender, 'rig 2', { hashesPerSecond: 3, state: 'paused' });
    await delivered();
    const status = roster.status();
    expect(status.rigs).toMatchObject([
      { name: 'rig 1', ageSeconds: 10, hashesPerSecond: 1, silent: false, duplicate: false },
      { name: 'rig 2', ageSeconds: 0, hashesPerSecond: 3, state: 'paused' },
    ]);
    expect(status).toMatchObject({ rigsMining: 1, rigsPaused: 1, hashesPerSecond: 4 });
    expectShape(FleetStatus, status);
  });

  it('are silent without a report for 35 s, and forgotten after a day', async () => {
    const { sender, clock, roster } = setUp();
    sendReport(sender, 'rig', { found: 3, accepted: 1, stale: 1 });
    await delivered();
    clock.advance(35_000);
    expect(roster.status()).toMatchObject({ rigsSilent: 0, rigsMining: 1 });
    clock.advance(1);
    const silent = { rigsSilent: 1, rigsMining: 0, hashesPerSecond: 0, found: 3, accepted: 1, stale: 1, pending: 1 };
    expect(roster.status()).toMatchObject(silent);
    clock.advance(86_400_000 - 35_001);
    expect(roster.status().rigs).toHaveLength(1);
    clock.advance(1);
    expect(roster.status().rigs).toEqual([]);
  });

  it('are faulty without work or devices, and with a device that has failed', async () => {
    const { sender, roster } = setUp();
    sendReport(sender, 'good');
    sendReport(sender, 'parked', { devices: [reportedDevice(), reportedDevice({ state: 'parked' })] });
    sendReport(sender, 'waiting', { state: 'waiting-for-work' });
    sendReport(sender, 'paused', { state: 'paused', devices: [reportedDevice({ state: 'paused' })] });
    await delivered();
    expect(roster.status()).toMatchObject({ rigsFaulty: 2, rigsMining: 2, rigsPaused: 1 });
  });

  it('have proven hashrates that are summed up where they are known, and solutions without an outcome', async () => {
    const { sender, roster } = setUp();
    sendReport(sender, 'a', { provenHashesPerSecond: 5, found: 10, accepted: 1, rejected: 2, stale: 3, unknown: 1 });
    sendReport(sender, 'b', { provenHashesPerSecond: null, found: 1, accepted: 3 });
    await delivered();
    expect(roster.status()).toMatchObject({
      provenHashesPerSecond: 5,
      found: 11,
      accepted: 4,
      rejected: 2,
      stale: 3,
      unknown: 1,
      pending: 3,
    });
  });

  it('are no duplicates after a restart, but when two of one name alternate', async () => {
    const { sender, clock, roster } = setUp();
    const isDuplicateAfter = async (instance: string) => {
      sendReport(sender, 'rig', { instance });
      await delivered();
      const [rig] = roster.status().rigs;
      clock.advance(5_000);
      return rig?.duplicate;
    };
    expect(await isDuplicateAfter(INSTANCE)).toBe(false);
    expect(await isDuplicateAfter(OTHER_INSTANCE)).toBe(false);
    expect(await isDuplicateAfter(OTHER_INSTANCE)).toBe(false);
    expect(await isDuplicateAfter(INSTANCE)).toBe(true);
    clock.advance(55_000);
    expect(roster.status().rigs[0]?.duplicate).toBe(false);
  });

  it('show texts on one line, whatever they sent', async () => {
    const { sender, roster } = setUp();
    const text = 'a\n\u001b[2Jb';
    sendReport(sender, 'rig', { version: text, stateReason: text, devices: [reportedDevice({ reason: text })] });
    await delivered();
    const [rig] = roster.status().rigs;
    expect(rig).toMatchObject({ version: 'a [2Jb', stateReason: 'a [2Jb', devices: [{ reason: 'a [2Jb' }] });
  });
});

describe('coordinators', () => {
  it('are listed with their work and the rigs that mine it', async () => {
    const { sender, clock, roster } = setUp();
    const work = makeWork(1e6);
    sendState(sender, 'c1', stateWithWork(1, { given: givenWorkOf(work, `${INSTANCE}-1`) }));
    for (const rig of ['rig', 'second']) sendReport(sender, rig, { coordinator: 'c1' });
    sendReport(sender, 'other', { coordinator: 'c2' });
    await delivered();
    clock.advance(3_000);
    sendState(sender, 'c1', beat(2, `${INSTANCE}-1`));
    await delivered();
    const { chain } = work;
    expect(roster.status().coordinators).toMatchObject([
      {
        name: 'c1',
        chain,
        workAgeSeconds: 3,
        rigs: 2,
        hashesPerSecond: 50e9,
        silent: false,
        lost: null,
        ageSeconds: 0,
      },
    ]);
    clock.advance(5_001);
    expect(roster.status().coordinators).toMatchObject([{ silent: true }]);
  });

  it('have the work of their last state, with what is known of it, and its age', async () => {
    const { sender, clock, roster } = setUp();
    const shown = async (state: Parameters<typeof sendState>[2]) => {
      sendState(sender, 'c1', state);
      await delivered();
      const [{ chain, height, workAgeSeconds }] = roster.status().coordinators;
      clock.advance(1_000);
      return [chain, height, workAgeSeconds];
    };
    const { chain, name: work, given } = givenAt(7n);
    const height = 7;
    // The name alone says nothing of the chain. The work may come later.
    expect(await shown(beat(1, work))).toEqual([null, null, 0]);
    expect(await shown({ ...beat(2, work), given })).toEqual([chain, height, 1]);
    expect(await shown(beat(3, work))).toEqual([chain, height, 2]);
    expect(await shown(beat(3, work))).toEqual([chain, height, 3]);
    // A work that is not the current one counts for nothing.
    expect(await shown({ ...beat(4, `${INSTANCE}-2`), given })).toEqual([null, null, 0]);
    expect(await shown(beat(5, null))).toEqual([null, null, null]);
    expect(await shown(beat(6, work))).toEqual([null, null, 0]);
  });

  it('have a height that programs can read, whatever they claim', async () => {
    const { sender, roster } = setUp();
    const { name, given } = givenAt(2n ** 64n - 1n);
    sendState(sender, 'c1', { ...beat(1, name), given });
    await delivered();
    expect(roster.status().coordinators[0].height).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('are believed about the newest state of an instance', async () => {
    const { sender, roster } = setUp();
    sendState(sender, 'c1', { ...beat(7, null), lost: 'the node is away' });
    sendState(sender, 'c1', beat(6, null));
    await delivered();
    expect(roster.status().coordinators).toMatchObject([{ lost: 'the node is away' }]);
    sendState(sender, 'c1', { ...beat(7, null), lost: 'it is still away' });
    await delivered();
    expect(roster.status().coordinators).toMatchObject([{ lost: 'it is still away' }]);
    sendState(sender, 'c1', { ...beat(0, null), instance: OTHER_INSTANCE });
    await delivered();
    expect(roster.status().coordinators).toMatchObject([{ lost: null, chain: null, workAgeSeconds: null }]);
  });

  it('count again after a state with the greatest number that was forged in their name', async () => {
    const { sender, clock, roster } = setUp();
    sendState(sender, 'c1', beat(Number.MAX_SAFE_INTEGER, null));
    for (let number = 0; number < 7; number++) {
      await delivered();
      clock.advance(1_000);
      sendState(sender, 'c1', beat(number, null));
    }
    await delivered();
    expect(roster.status().coordinators).toMatchObject([{ name: 'c1', silent: false, ageSeconds: 0 }]);
  });

  it('have room for no more than 16, of which only a silent one makes room', async () => {
    const { sender, clock, roster } = setUp();
    for (let i = 0; i < 17; i++) sendState(sender, `c${i}`, beat(1, null));
    await delivered();
    expect(roster.status().coordinators).toHaveLength(16);
    expect(roster.status().ignored).toEqual({ malformed: 0, tooFast: 0, tooManyMembers: 1 });
    clock.advance(5_001);
    sendState(sender, 'new', beat(1, null));
    await delivered();
    const names = roster.status().coordinators.map(({ name }) => name);
    expect(names).toHaveLength(16);
    expect(names).toContain('new');
    expect(names).not.toContain('c0');
  });
});

describe('the expected share of repeated work', () => {
  it('is rigs × mean rate × 3 s ÷ 2^64 for work whose creation time moves', async () => {
    const { sender, roster } = setUp();
    sendState(sender, 'c1', stateWithWork(1));
    for (let i = 0; i < 4; i++) sendReport(sender, `rig${i}`, { hashesPerSecond: 1e12 });
    sendReport(sender, 'paused', { state: 'paused', hashesPerSecond: 1e12 });
    await delivered();
    const repeats = { rigs: 4, meanHashesPerSecond: 1e12, jobSeconds: 3, nonces: 2 ** 64 };
    expect(roster.status().repeats).toEqual({ ratio: (4e12 * 3) / 2 ** 64, ...repeats });
  });

  it('takes the time of the whole work and the rest of the nonce for a pool’s', async () => {
    const { sender, clock, roster } = setUp();
    const given = (number: number) => {
      const work = makeWork(1e6, { rollTime: false, until: 'replaced', nonce1: { value: 5, bytes: 2 } });
      return stateWithWork(number, { given: givenWorkOf(work, `${INSTANCE}-${number}`) });
    };
    clock.advance(5_000);
    sendState(sender, 'c1', given(1));
    sendReport(sender, 'rig');
    await delivered();
    clock.advance(20_000);
    expect(roster.status().repeats).toMatchObject({ jobSeconds: 20, nonces: 2 ** 48 });
    sendState(sender, 'c1', given(2));
    await delivered();
    clock.advance(1_000);
    expect(roster.status().repeats).toMatchObject({ jobSeconds: 20 });
  });

  it('is that of the work with the most of it, and at most the whole', async () => {
    const { sender, clock, roster } = setUp();
    const pool = (number: number, bytes: 1 | 2 | 4) => {
      const work = makeWork(1e6, { rollTime: false, until: 'replaced', nonce1: { value: 5, bytes } });
      return stateWithWork(number, { given: givenWorkOf(work, `${INSTANCE}-${number}`) });
    };
    sendState(sender, 'wide', pool(1, 1));
    sendState(sender, 'narrow', pool(1, 4));
    sendState(sender, 'unused', pool(1, 4));
    sendState(sender, 'middle', pool(1, 2));
    for (const coordinator of ['wide', 'narrow', 'middle']) sendReport(sender, coordinator, { coordinator });
    await delivered();
    clock.advance(10_000);
    expect(roster.status().repeats).toMatchObject({ nonces: 2 ** 32, jobSeconds: 10, rigs: 3, ratio: 1 });
    // The first work of a coordinator after a time without one has no work before it.
    sendState(sender, 'narrow', beat(2, null));
    sendState(sender, 'narrow', pool(3, 4));
    await delivered();
    expect(roster.status().repeats).toMatchObject({ nonces: 2 ** 48, jobSeconds: 10 });
  });

  it('is not known without a coordinator whose work rigs mine', async () => {
    const { sender, roster } = setUp();
    sendState(sender, 'c2', stateWithWork(1));
    sendReport(sender, 'rig', { coordinator: 'c1' });
    await delivered();
    expect(roster.status().repeats).toBeNull();
    // Of this one only the name of the work is known.
    sendState(sender, 'c1', beat(1, `${INSTANCE}-1`));
    await delivered();
    expect(roster.status().repeats).toBeNull();
  });
});

describe('what others can do', () => {
  it.each([
    ['no JSON', 'x'],
    ['another form', '{}'],
    ['more than a message may have', `"${'x'.repeat(70_000)}"`],
  ])('sends %s: it is counted, logged and ignored', async (_, text) => {
    const { sender, lines, roster } = setUp();
    sendReport(sender, 'good');
    sender.publish(SUBJECTS.report('bad\nrig'), new TextEncoder().encode(text));
    await delivered();
    expect(roster.status().rigs.map(({ name }) => name)).toEqual(['good']);
    expect(roster.status().ignored).toEqual({ malformed: 1, tooFast: 0, tooManyMembers: 0 });
    expect(lines).toEqual(['the rig bad rig sends reports that cannot be read']);
  });

  it.each([
    ['no state', '{}', 'the coordinator c 1 sends states that cannot be read'],
    ['no name in its subject', '{}', 'a message has no name of a member in its subject'],
  ])('sends %s: it is counted, logged and ignored', async (what, text, line) => {
    const { sender, lines, clock, roster } = setUp();
    const subject = what === 'no state' ? SUBJECTS.beat('c\n1') : 'pickaxe.beat.%zz';
    const send = () => sender.publish(subject, new TextEncoder().encode(text));
    for (let i = 0; i < 8; i++) send();
    await delivered();
    expect(roster.status()).toMatchObject({ coordinators: [], ignored: { malformed: 8, tooFast: 0 } });
    expect(lines).toEqual(Array.from({ length: 5 }, () => line));
    clock.advance(10_000);
    send();
    await delivered();
    expect(lines.slice(5)).toEqual([`${line} (3 such lines were left out)`]);
  });

  it('floods with states: as many are read as a busy coordinator sends, and those of others', async () => {
    const { sender, roster } = setUp();
    for (let number = 0; number < 100; number++) sendState(sender, 'c1', beat(number, null));
    sendState(sender, 'c2', beat(1, null));
    await delivered();
    const { coordinators, ignored } = roster.status();
    expect(coordinators.map(({ name }) => name)).toEqual(['c1', 'c2']);
    expect(ignored).toEqual({ malformed: 0, tooFast: 40, tooManyMembers: 0 });
  });

  it('floods with junk or reports: few are parsed, few lines are logged, and the messages of others are read', async () => {
    const { sender, lines, clock, roster } = setUp();
    for (let i = 0; i < 1_000; i++) sender.publish(SUBJECTS.report('flood'), new TextEncoder().encode('junk'));
    for (let i = 0; i < 1_000; i++) sendReport(sender, 'keen', { hashesPerSecond: i });
    sendReport(sender, 'good');
    await delivered();
    const status = roster.status();
    expect(status.ignored).toEqual({ malformed: 3, tooFast: 1_994, tooManyMembers: 0 });
    expect(status.rigs.map(({ name }) => name)).toEqual(['good', 'keen']);
    expect(lines).toHaveLength(3);
    clock.advance(10_000);
    sendReport(sender, 'keen', { hashesPerSecond: 7 });
    await delivered();
    expect(roster.status().rigs[1]).toMatchObject({ name: 'keen', hashesPerSecond: 7 });
  });

  it('cannot send more by many names than all rigs together may', async () => {
    const { sender, roster } = setUp();
    for (let i = 0; i < 5_000; i++) sendReport(sender, `rig${i}`);
    await delivered();
    const { rigs, ignored } = roster.status();
    expect(rigs).toHaveLength(4_000);
    expect(ignored.tooFast).toBe(1_000);
  });

  it('cannot take the places of rigs that report', async () => {
    const { sender, clock, roster } = setUp();
    for (let second = 0; second < 6; second++) {
      for (let i = 0; i < 4_000; i++) sendReport(sender, `rig${second}-${i}`);
      await delivered();
      clock.advance(1_000);
    }
    const { rigs, ignored } = roster.status();
    expect(rigs).toHaveLength(20_000);
    expect(rigs.some(({ name }) => name.startsWith('rig0-'))).toBe(true);
    expect(ignored.tooManyMembers).toBe(4_000);
  });
});

it('says why there is no connection, and for how long it has listened', () => {
  const { link, clock, roster } = setUp();
  clock.advance(2_000);
  expect(roster.status()).toMatchObject({ disconnected: null, listeningSeconds: 2 });
  link.disconnect('the server\nis away');
  clock.advance(3_000);
  expect(roster.status()).toMatchObject({ disconnected: 'the server is away', listeningSeconds: 0 });
  link.reconnect();
  clock.advance(1_000);
  expect(roster.status()).toMatchObject({ disconnected: null, listeningSeconds: 1 });
});

it('receives nothing once it is closed', async () => {
  const { sender, roster } = setUp();
  roster.close();
  sendReport(sender, 'rig');
  await delivered();
  expect(roster.status().rigs).toEqual([]);
});
