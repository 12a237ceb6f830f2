/** What a pool that works sends now and then, and nobody can read. */

import { expect, it } from 'vitest';
import { Dialogue } from '#pickaxe/miner/source/pool/dialogue.js';
import { MOST_LINE_BYTES, MOST_SENT, MOST_UNREADABLE } from '#pickaxe/miner/source/pool/pool-limits.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { FakeClock } from '../../../rig/status/fakes.ts';
import { eventually } from '../follow.ts';
import { MockPool } from './mock-pool.ts';
import { FakeSocket, followPool, GREETING, jobLine, makeHeader, targetLine } from './pool.ts';

const header = makeHeader();
const JOB = jobLine('1', header, 'true');
const CANNOT = 'the pool sent what cannot be read, which is skipped: ';

/** Half of them are from reports about pools, and half are their neighbours. */
const LINES: Record<string, string> = {
  'a text that is almost JSON (bfgminer #676)': '{ id: null, result: [], error: true }',
  'an id without quotes (AntPool)': '{"id":auth,"result":true,"error":null}',
  'an empty list': '[]',
  'an empty object': '{}',
  'an answer to nothing': '{"id":null}',
  'control bytes': '\u0001\u0002\u001b[2J',
  'two objects on a line': '{"id":null,"method":"a"}{"id":null,"method":"b"}',
  'a message that is too long': `{"id":null,"method":"client.show_message","params":["${'x'.repeat(20_000)}"]}`,
  'a job without fields': '{"id":null,"method":"mining.notify","params":[]}',
  'a job of nulls': '{"id":null,"method":"mining.notify","params":[null,null,null]}',
  'a job of another kind': `{"id":null,"method":"mining.notify","params":["2","${toHex(new Uint8Array(80))}",true]}`,
  'a target that is a number': '{"id":null,"method":"mining.set_target","params":[7]}',
  'a target that is empty': '{"id":null,"method":"mining.set_target","params":[]}',
  'a nonce1 that is missing': '{"id":null,"method":"mining.set_extranonce","params":[]}',
  'a nonce1 that is empty': '{"id":null,"method":"mining.set_extranonce","params":[""]}',
  'a nonce1 that is empty behind its prefix': '{"id":null,"method":"mining.set_extranonce","params":["0x"]}',
  'a nonce1 that is no number': '{"id":null,"method":"mining.set_extranonce","params":["xyz",6]}',
};

it.each(Object.entries(LINES))('%s is skipped and shown, and mining goes on', async (_, line) => {
  const pool = await MockPool.start([...GREETING, targetLine(1e6), JOB]);
  const { follower, recorder } = followPool(pool.url);
  const before = await follower.work();
  pool.play(`< ${line}`, jobLine('3', header, 'false'));
  await eventually(() => expect(follower.received).toHaveLength(2));
  // The next job still has the target and the nonce1 from before.
  expect(follower.received[1]).toMatchObject({ target: before.target, nonce1: before.nonce1 });
  const notes = recorder.of('source').filter(({ state }) => state === 'warning');
  expect(notes.map(({ reason }) => reason)).toEqual([expect.stringContaining(CANNOT)]);
  expect(pool.connections).toBe(1);
});

it('an answer with neither result nor error is one to its request', () => {
  const { dialogue, sends, told } = working();
  const replies: unknown[] = [];
  dialogue.ask({ method: 'mining.submit', params: [], limitMs: 60_000 }, (reply) => replies.push(reply));
  sends('{"id":1}');
  expect(replies).toMatchObject([{ result: undefined, error: undefined }]);
  expect(told).toEqual([]);
  dialogue.end(undefined as never);
});

/** A dialogue with a pool that has sent a message. */
function working() {
  const clock = new FakeClock();
  const socket = new FakeSocket();
  const told: string[] = [];
  const nothing = () => {};
  const events = { onCall: nothing, onStray: nothing, onRead: nothing, onSkipped: (what: string) => told.push(what) };
  const dialogue = new Dialogue(socket.asSocket, { url: '', clock, ...events });
  socket.receives('{"id":null,"method":"client.show_message","params":["hello"]}');
  return { clock, dialogue, told, sends: (line: string) => socket.receives(line) };
}

it('such a line every two seconds is borne for ever, and shown once a minute with the number that was not', () => {
  const { clock, dialogue, told, sends } = working();
  for (let i = 0; i < 3_600; i++) {
    clock.advance(2_000);
    sends('no JSON');
  }
  expect(dialogue.isOpen).toBe(true);
  expect(told.length).toBeLessThan(2 * 60 + 5);
  expect(told.at(-1)).toMatch(
    /^the pool sent what cannot be read, which is skipped: “no JSON”\. \d\d more were skipped before\.$/,
  );
});

it('more of them end the connection: it speaks another language', async () => {
  const { dialogue, sends } = working();
  for (let i = 0; i < MOST_UNREADABLE.lines; i++) sends('no JSON');
  expect(dialogue.isOpen).toBe(true);
  sends('no JSON');
  expect((await dialogue.ended).message).toContain('the pool sent what is not stratum: “no JSON”');
});

it('a line without an end is read only so far', async () => {
  const { dialogue, sends } = working();
  sends('x'.repeat(MOST_LINE_BYTES + 1));
  expect(dialogue.isOpen).toBe(true);
  for (let i = 0; i * 10_000 < MOST_SENT.bytes && dialogue.isOpen; i++) sends('y'.repeat(10_000));
  const { dialogue: endless, sends: unended } = working();
  for (let i = 0; i * 10_000 < 2 * MOST_SENT.bytes && endless.isOpen; i++) unended('z'.repeat(20_000));
  expect((await endless.ended).message).toMatch(/what is not stratum|far more than a pool needs/);
});
