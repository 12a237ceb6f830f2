import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type { StratumLimits } from '#pickaxe/miner/relay/stratum/stratum-limits.js';
import { formatTarget } from '#pickaxe/miner/relay/stratum/stratum-messages.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { makeWork } from '../../../fakes.ts';
import { eventually } from '../../source/follow.ts';
import { jobOf, mineShare, parse, SessionBench, type TestClient } from './session-bench.ts';

/** 2^214 − 1, with which sessions begin. */
const FIRST_TARGET = `${'0'.repeat(10)}3${'f'.repeat(53)}`;
/** The lane of the local miner is 0x0101, and nonce1 counts from the next one on. */
const NONCE1 = '0102';
/** So hard that no test meets it. */
const HARD = 2 ** 60;

const benches: SessionBench[] = [];
afterEach(async () => {
  for (const bench of benches.splice(0)) await bench.end();
});

/** A server with work whose blocks are hard to find. */
async function serving(difficulty = HARD, limits: Partial<StratumLimits> = {}) {
  const bench = new SessionBench(limits);
  benches.push(bench);
  const work = await bench.give(makeWork(difficulty));
  return { bench, work, client: bench.client() };
}

/** A server whose shares are found within some hundred hashes, and a session of it. */
async function sharing() {
  const world = await serving();
  const messages = world.client.login('k:abc.rig1', 'd=0.00000005');
  const [target, notify] = messages;
  return { ...world, target: target.params[0], ...jobOf(world.work, notify, target.params[0]) };
}

describe('what a client says first, line by line', () => {
  it.each([
    ['subscribe as most ASICs write it', '{"id":1,"method":"mining.subscribe","params":["kdaminer-v1.0.0",null]}'],
    ['subscribe of the BM-K1', '{"id":1,"method":"mining.subscribe","params":["bmminer/1.0.0"]}'],
    ['subscribe without parameters', '{"id":1,"method":"mining.subscribe","params":[]}'],
    ['subscribe without a list', '{"id":1,"method":"mining.subscribe"}'],
    ['subscribe with a former session', '{"id":1,"method":"mining.subscribe","params":["cgminer/4","00000001"]}'],
    ['subscribe with host and port', '{"id":1,"method":"mining.subscribe","params":["gm",null,"192.0.2.1",1917]}'],
  ])('%s is answered with nonce1', async (_, line) => {
    const { client } = await serving();
    expect(client.say(line)).toEqual([`{"result":[null,"${NONCE1}",6],"error":null,"id":1}`]);
  });

  it('subscribe, then authorize: a target and a job come at once', async () => {
    const { client, work } = await serving();
    client.say('{"id":1,"method":"mining.subscribe","params":["a",null]}');
    const lines = client.say('{"id":2,"method":"mining.authorize","params":["user.rig","x"]}');
    const header = parse(lines[2]).params[1];
    expect(lines).toEqual([
      '{"result":true,"error":null,"id":2}',
      `{"method":"mining.set_target","params":["${FIRST_TARGET}"],"id":null}`,
      `{"method":"mining.notify","params":["00000001","${header}",true],"id":null}`,
    ]);
    expect(header).toHaveLength(572);
    // All but the creation time is the work's.
    expect(header.slice(0, 16) + header.slice(32)).toBe(toHex(work.header).slice(0, 16) + toHex(work.header).slice(32));
  });

  it('authorize, then subscribe', async () => {
    const { client } = await serving();
    expect(client.say('{"id":"a","method":"mining.authorize","params":["user","x"]}')).toEqual([
      '{"result":true,"error":null,"id":"a"}',
    ]);
    const [answer, ...messages] = client.say('{"id":"b","method":"mining.subscribe","params":[]}');
    expect(answer).toBe(`{"result":[null,"${NONCE1}",6],"error":null,"id":"b"}`);
    expect(messages.map((line) => parse(line).method)).toEqual(['mining.set_target', 'mining.notify']);
  });

  it('authorize and subscribe twice: nonce1 stays, and no second job comes', async () => {
    const { client } = await serving();
    client.login();
    expect(client.say('{"id":3,"method":"mining.authorize","params":["w","x"]}')).toEqual([
      '{"result":true,"error":null,"id":3}',
    ]);
    expect(client.say('{"id":4,"method":"mining.subscribe","params":[]}')).toEqual([
      `{"result":[null,"${NONCE1}",6],"error":null,"id":4}`,
    ]);
  });

  it('authorize of several workers on one connection, up to a limit', async () => {
    const { client } = await serving(HARD, { workersPerSession: 2 });
    client.login('a');
    expect(client.say('{"id":3,"method":"mining.authorize","params":["b","x"]}')).toEqual([
      '{"result":true,"error":null,"id":3}',
    ]);
    expect(client.say('{"id":4,"method":"mining.authorize","params":["c","x"]}')).toEqual([
      '{"result":null,"error":[24,"a connection has 2 workers at most",null],"id":4}',
    ]);
  });

  it('a client that comes before there is work gets its job with the work', async () => {
    const bench = new SessionBench();
    benches.push(bench);
    const client = bench.client();
    expect(client.login()).toEqual([]);
    await bench.give(makeWork(HARD));
    expect(client.read().map((line) => parse(line).method)).toEqual(['mining.set_target', 'mining.notify']);
  });

  it.each([
    ['0', '0'],
    ['"x"', '"x"'],
    ['null', 'null'],
    ['{"a":[1]}', '{"a":[1]}'],
    ['1.5', '1.5'],
  ])('an id %s is echoed', async (id, echoed) => {
    const { client } = await serving();
    expect(client.say(`{"id":${id},"method":"mining.ping","params":[]}`)).toEqual([
      `{"result":"pong","error":null,"id":${echoed}}`,
    ]);
  });

  it.each([
    ['mining.extranonce.subscribe', '[]', '{"result":true,"error":null,"id":5}'],
    ['mining.get_transactions', '["1"]', '{"result":null,"error":[20,"unknown method",null],"id":5}'],
    ['eth_submitHashrate', '["0x1"]', '{"result":null,"error":[20,"unknown method",null],"id":5}'],
    ['mining.configure', '[["version-rolling"],{}]', '{"result":{"version-rolling":false},"error":null,"id":5}'],
    ['mining.configure', '["version-rolling",{}]', '{"result":{},"error":null,"id":5}'],
    ['mining.configure', '[[7,"a",null]]', '{"result":{"a":false},"error":null,"id":5}'],
    [
      'mining.suggest_difficulty',
      '["x"]',
      '{"result":null,"error":[20,"a difficulty is a number above 0",null],"id":5}',
    ],
    ['mining.submit', '["w","1","0"]', '{"result":null,"error":[24,"no worker is authorized",null],"id":5}'],
  ])('%s %s is answered', async (method, params, answer) => {
    const { client } = await serving();
    expect(client.say(`{"id":5,"method":"${method}","params":${params}}`)).toEqual([answer]);
    expect(client.closed).toBeUndefined();
  });

  it('a share before subscribing is refused with 25', async () => {
    const { client } = await serving();
    client.say('{"id":1,"method":"mining.authorize","params":["w","x"]}');
    expect(client.say('{"id":2,"method":"mining.submit","params":["w","1","0"]}')).toEqual([
      '{"result":null,"error":[25,"not subscribed",null],"id":2}',
    ]);
  });

  it('what is no request is told so, and disconnects only when it does not end; answers and empty lines are passed over', async () => {
    const { client } = await serving(HARD, { junkLines: 2 });
    expect(client.say('', '  ', '{"id":1,"result":true,"error":null}')).toEqual([]);
    const refusal = (id: string) => `{"result":null,"error":[20,"this is no stratum request",null],"id":${id}}`;
    expect(client.say('GET / HTTP/1.1', '{"id":7}')).toEqual([refusal('null'), refusal('7')]);
    expect(client.closed).toBeUndefined();
    expect(client.say('[]')).toEqual([refusal('null')]);
    expect([client.closed, client.penalty]).toEqual(['junk', [10, 'junk']]);
  });

  it('a client that does not log in is disconnected; one that has is never disconnected for silence', async () => {
    const { bench, client } = await serving();
    const silent = bench.client();
    client.login();
    bench.pass(3_600);
    expect([silent.closed, silent.penalty]).toEqual(['no login', [0, 'timeout']]);
    expect(client.closed).toBeUndefined();
    client.session.close('the server ends');
    expect([client.closed, client.penalty]).toEqual(['the server ends', [0, undefined]]);
  });

  it('costs as much as any line that is no share', async () => {
    const { client } = await serving();
    const id = 1;
    const share = { kind: 'share', id, worker: 'w', job: '1', jobNumber: 1, nonce: 1n } as const;
    const takes = (...requests: Parameters<TestClient['session']['receive']>) => client.session.receive(...requests);
    expect([takes({ kind: 'junk', id }), takes({ kind: 'suggest', id, difficulty: HARD })]).toEqual([false, false]);
    expect([takes(share), takes({ kind: 'authorize', id, worker: 'w', chosen: undefined })]).toEqual([false, false]);
    expect([takes(share), takes({ kind: 'subscribe', id, agent: '' }), takes(share)]).toEqual([false, false, false]);
  });
});

describe('the log', () => {
  it('has the begin and the end of a session with a worker, and no other', async () => {
    const { bench } = await serving();
    const leave = (login: (client: TestClient) => void) => {
      const client = bench.client();
      login(client);
      client.leave();
      return bench.logged.splice(0);
    };
    expect(leave((client) => client.say('{"id":1,"method":"mining.subscribe","params":["cgminer/4"]}'))).toEqual([]);
    expect(leave((client) => client.login('rig', 'x', 'cgminer/4'))).toEqual([
      'session 3 of rig has begun: 192.0.2.1, cgminer/4',
      'session 3 of rig has ended',
    ]);
    expect(leave((client) => client.login('', 'x', '')).at(0)).toBe(
      'session 4 of unnamed has begun: 192.0.2.1, an unnamed program',
    );
  });
});

describe('a session that has ended', () => {
  it('hashes no more in the account of its worker', async () => {
    const { bench, client } = await serving();
    client.login('rig');
    const listed = () => bench.world.accounts.list(bench.nowMs).map(({ name, sessions }) => [name, sessions]);
    expect(listed()).toEqual([['rig', 1]]);
    client.leave();
    expect(listed()).toEqual([['rig', 0]]);
  });

  it.each([
    [32, false],
    [33, true],
  ])('leaves its rate to the next one once it is known, with %i shares: %s', async (count, isKnown) => {
    const { bench, client, work } = await serving();
    const [target, notify] = client.login('rig', 'd=0.00000005');
    const { id, job } = jobOf(work, notify, target.params[0]);
    for (let share = 0, from = 1; share < count; share++) {
      const nonce2 = mineShare(job, client.nonce1, from);
      from = Number.parseInt(nonce2, 16) + 1;
      bench.nowMs += 1_000;
      expect(client.submit(id, nonce2, 'rig').result).toBe(true);
    }
    client.leave();
    expect(bench.world.rates.get('192.0.2.1', 'rig') !== undefined).toBe(isKnown);
  });
});

describe('a share', () => {
  it('counts once, with a nonce2 that may lack its leading zeros', async () => {
    const { bench, client, id, job } = await sharing();
    const nonce2 = mineShare(job, 0x0102);
    expect(client.submit(id, nonce2.replace(/^0+/, ''), 'k:abc.rig1')).toEqual({ result: true, error: null, id: 9 });
    expect(client.submit(id, nonce2)).toEqual({ result: null, error: [22, 'duplicate share', null], id: 9 });
    expect(client.submit(id.replace(/^0+/, ''), `0x${nonce2}`).error[0]).toBe(22);
    expect(bench.world.accounts.list(bench.nowMs)).toMatchObject([
      { name: 'k:abc.rig1', sessions: 1, accepted: 1, duplicate: 2, rejected: 0, stale: 0, blocks: 0 },
    ]);
    expect(bench.logged).toContain('first share of k:abc.rig1');
  });

  it('that misses the target is refused with 23, and the client stays', async () => {
    const { client, id, job } = await sharing();
    for (let from = 1; from < 30; from++) {
      const answer = client.submit(id, mineShare(job, 0x0102, from, false));
      expect(answer).toEqual({ result: null, error: [23, 'low difficulty share', null], id: 9 });
    }
    expect(client.closed).toBeUndefined();
  });

  it('of a job that the session never had is refused with 21', async () => {
    const { client } = await sharing();
    for (const job of ['ffffffff', '0', '', 'zz']) {
      expect(client.submit(job, '0')).toEqual({ result: null, error: [21, 'job not found', null], id: 9 });
    }
  });

  it('whose nonce2 is none is refused with 20', async () => {
    const { client, id } = await sharing();
    for (const nonce2 of ['', 'x', '0000000000001', '1'.repeat(100)]) {
      expect(client.submit(id, nonce2).error).toEqual([20, 'nonce2 is a text of 1 to 12 hex digits', null]);
    }
    expect(client.say('{"id":1,"method":"mining.submit","params":[1,{},[]]}')).toEqual([
      '{"result":null,"error":[20,"nonce2 is a text of 1 to 12 hex digits",null],"id":1}',
    ]);
  });

  it('of stale work is refused with 21 in other words', async () => {
    const { bench, work, client, id, job } = await sharing();
    await bench.condemn(work);
    expect(client.submit(id, mineShare(job, 0x0102))).toEqual({ result: null, error: [21, 'stale', null], id: 9 });
    expect(bench.world.accounts.list(bench.nowMs)[0]).toMatchObject({ accepted: 0, stale: 1 });
  });

  it('of work that was merely replaced counts', async () => {
    const { bench, client, id, job } = await sharing();
    await bench.give(makeWork(HARD));
    expect(client.submit(id, mineShare(job, 0x0102)).result).toBe(true);
  });

  it('of a job so old that it is no longer kept is stale', async () => {
    const { bench, client, id, job } = await sharing();
    bench.pass(60);
    expect(client.submit(id, mineShare(job, 0x0102)).error).toEqual([21, 'stale', null]);
  });

  it('of a BlackMiner F1 has its bytes in the other order, and is of the same lane', async () => {
    const { client, work } = await serving();
    const [subscribed, authorized, target, notify] = client.say(
      '{"id":1,"method":"mining.subscribe","params":["BlackMiner F1",null]}',
      '{"id":2,"method":"mining.authorize","params":["f1","d=0.00000005"]}',
    );
    expect([subscribed, authorized]).toEqual([
      '{"result":[null,"0201",6],"error":null,"id":1}',
      '{"result":true,"error":null,"id":2}',
    ]);
    const { id, job } = jobOf(work, parse(notify), parse(target).params[0]);
    const reversed = mineShare(job, 0x0102).match(/../g)!.reverse().join('');
    expect(client.submit(id, reversed).result).toBe(true);
    expect(client.submit(id, reversed.replace(/^0+/, '')).error[0]).toBe(22);
  });

  it('of a BlackMiner F1 has no more than its six bytes', async () => {
    const { client } = await serving();
    client.login('f1', 'd=0.00000005', 'BlackMiner F1');
    for (const nonce2 of ['0'.repeat(13), '0'.repeat(14)]) {
      expect(client.submit('1', nonce2).error).toEqual([20, 'nonce2 is a text of 1 to 12 hex digits', null]);
    }
  });

  it.each(['1', '0x1', '01', '000000000001'])('of a BlackMiner F1 may lack leading zeros: %s', async (nonce2) => {
    const { bench, client } = await serving();
    client.login('f1', 'd=0.00000005', 'BlackMiner F1');
    client.submit('1', nonce2);
    const [line] = bench.ledger.filter(({ type }) => type === 'share');
    expect(line).toMatchObject({ nonce: (2n ** 56n + 0x0102n).toString() });
  });

  it('that is a block is submitted, and counts as a block once the source accepts it', async () => {
    const { bench, client, work } = await serving(300);
    const [target, notify] = client.login('rig');
    // A block is easier than the session's shares would be, so its target is what counts.
    expect(target.params[0]).toBe(formatTarget(work.target));
    const { id, job } = jobOf(work, notify, target.params[0]);
    expect(client.submit(id, mineShare(job, 0x0102), 'rig').result).toBe(true);
    await eventually(() => expect(bench.world.accounts.list(bench.nowMs)[0]).toMatchObject({ blocks: 1, accepted: 1 }));
    expect(bench.source.submitted).toHaveLength(1);
    expect(bench.recorded.of('verdict')).toMatchObject([{ device: 'stratum', isRelay: true, isBlock: true }]);
    expect(bench.ledger.at(-1)).toMatchObject({ type: 'share', result: 'accepted', isBlock: true });
  });

  it('that is a block counts as none when the source does not accept it', async () => {
    const { bench, client, work } = await serving(300);
    bench.source.verdict = () => ({ outcome: 'rejected', reason: 'Invalid POW hash' });
    const [target, notify] = client.login('rig');
    const { id, job } = jobOf(work, notify, target.params[0]);
    expect(client.submit(id, mineShare(job, 0x0102), 'rig').result).toBe(true);
    await eventually(() => expect(bench.recorded.of('verdict')).toHaveLength(1));
    expect(bench.world.accounts.list(bench.nowMs)).toMatchObject([{ blocks: 0, accepted: 1 }]);
  });

  it('may name its job in capitals', async () => {
    const { bench, client } = await serving();
    const notifies = () =>
      client
        .read()
        .map(parse)
        .filter(({ method }) => method === 'mining.notify');
    client.login('w', EASY);
    bench.pass(10);
    const notify = notifies().find(({ params }) => /[a-f]/.test(params[0]));
    const { id, job } = jobOf(bench.works.current!, notify, EASY_TARGET);
    expect(client.submit(id.toUpperCase(), mineShare(job, 0x0102)).result).toBe(true);
  });

  it('may come under a name that was not authorized: it counts for the session’s worker', async () => {
    const { bench, client, id, job } = await sharing();
    expect(client.submit(id, mineShare(job, 0x0102), 'somebody').result).toBe(true);
    expect(bench.world.accounts.list(bench.nowMs)).toMatchObject([{ name: 'k:abc.rig1', accepted: 1 }]);
  });
});

it('first shares are logged at a bounded rate', async () => {
  const { bench, work } = await serving();
  const firstShare = (worker: string) => {
    const client = bench.client();
    const [target, notify] = client.login(worker, 'd=0.00000005');
    const { id, job } = jobOf(work, notify, target.params[0]);
    expect(client.submit(id, mineShare(job, client.nonce1)).result).toBe(true);
  };
  const logged = () => bench.logged.filter((line) => line.startsWith('first share'));
  for (let index = 1; index <= 110; index++) firstShare(`rig${index}`);
  expect(logged()).toHaveLength(100);
  bench.nowMs += 10_000;
  firstShare('late');
  expect(logged().at(-1)).toBe('first share of late, and of 10 others before it');
  firstShare('one more');
  bench.nowMs += 10_000;
  firstShare('last');
  expect(logged().at(-1)).toBe('first share of last, and of 1 others before it');
});

describe('the workers of a connection', () => {
  /** Uses more names than are kept. */
  function crowd({ world }: SessionBench): void {
    for (let index = 0; index < 5_000; index++) world.accounts.of(`name${index}`);
  }

  it('keep their counts while it lasts, also those that are not its first', async () => {
    const { bench, client } = await sharing();
    for (const id of [3, 4]) client.say(`{"id":${id},"method":"mining.authorize","params":["second","x"]}`);
    crowd(bench);
    client.submit('ffff', '0', 'second');
    expect(bench.world.accounts.of('second').counts.rejected).toBe(1);
    client.leave();
    crowd(bench);
    expect(bench.world.accounts.of('second').counts.rejected).toBe(0);
  });

  it('that has no job yet are kept, and forgotten when it ends', async () => {
    const { bench, client } = await serving();
    client.say('{"id":1,"method":"mining.authorize","params":["early","x"]}');
    const account = bench.world.accounts.of('early');
    crowd(bench);
    expect(bench.world.accounts.of('early')).toBe(account);
    client.leave();
    crowd(bench);
    expect(bench.world.accounts.of('early')).not.toBe(account);
  });
});

describe('the difficulty', () => {
  it.each([
    ['d=1', 2 ** 32],
    ['x,d=65536', 2 ** 48],
    ['D=0.5;x', 2 ** 31],
    ['d=1e3', 1000 * 2 ** 32],
  ])('can be chosen by the password %s', async (password, hashes) => {
    const { client } = await serving();
    const [target] = client.login('w', password);
    expect(target.params).toEqual([formatTarget(targetForDifficulty(hashes))]);
  });

  it.each(['x', 'd=', 'd=0', 'd=-1', 'd=abc', 'd=1e99', '', 'word=5'])(
    'begins as always when the password %s chooses none',
    async (password) => {
      const { client } = await serving();
      expect(client.login('w', password)[0].params).toEqual([FIRST_TARGET]);
    },
  );

  it('is suggested before or after the first job; a new target goes with a new clean job', async () => {
    const { client, bench } = await serving();
    client.say('{"id":1,"method":"mining.suggest_difficulty","params":[0.25]}');
    expect(client.login()[0].params).toEqual([formatTarget(targetForDifficulty(2 ** 30))]);
    bench.pass(1);
    bench.nowMs += 50;
    client.read();
    const [answer, target, notify] = client.say('{"id":2,"method":"mining.suggest_difficulty","params":[0.125]}');
    expect(answer).toBe('{"result":true,"error":null,"id":2}');
    expect(parse(target)).toMatchObject({
      method: 'mining.set_target',
      params: [formatTarget(targetForDifficulty(2 ** 29))],
    });
    expect(parse(notify)).toMatchObject({
      method: 'mining.notify',
      params: [expect.any(String), expect.any(String), true],
    });
  });

  it('waits for a later creation time, because a miner would search the same nonces again', async () => {
    const { client, bench } = await serving();
    client.login();
    const suggested = client.say('{"id":2,"method":"mining.suggest_difficulty","params":[0.125]}');
    expect(suggested).toEqual(['{"result":true,"error":null,"id":2}']);
    bench.pass(0.1);
    expect(client.read().map(parse)).toMatchObject([
      { method: 'mining.set_target', params: [formatTarget(targetForDifficulty(2 ** 29))] },
      { method: 'mining.notify', params: [expect.any(String), expect.any(String), true] },
    ]);
  });

  it('waits for nothing when shares are a flood', async () => {
    const { client } = await serving();
    client.say('{"id":1,"method":"mining.suggest_difficulty","params":[0.00000005]}');
    client.login();
    const [, target, notify] = client.say('{"id":2,"method":"mining.suggest_difficulty","params":[1]}').map(parse);
    expect([target.method, notify.params[2]]).toEqual(['mining.set_target', true]);
  });

  it('has a later creation time as soon as there is one where a harder target had to go with the same header', async () => {
    const { client, bench } = await serving();
    client.say('{"id":1,"method":"mining.suggest_difficulty","params":[0.00000005]}');
    const first = client.login().at(-1)?.params[1];
    const [, , again] = client.say('{"id":2,"method":"mining.suggest_difficulty","params":[1]}').map(parse);
    expect(again.params[1]).toBe(first);
    bench.pass(0.1);
    const [later, ...more] = client.read().map(parse);
    expect([later.method, later.params[1] === first, more]).toEqual(['mining.notify', false, []]);
    bench.pass(0.3);
    expect(client.read()).toEqual([]);
  });

  it('stays as suggested where the next suggestion is none', async () => {
    const { client } = await serving();
    client.say('{"id":1,"method":"mining.suggest_difficulty","params":[1]}');
    const wrong = '{"result":null,"error":[20,"a difficulty is a number above 0",null],"id":2}';
    for (const [method, param] of [
      ['difficulty', '"x"'],
      ['target', '7'],
      ['target', '"xyz"'],
      ['target', 'null'],
    ]) {
      expect(client.say(`{"id":2,"method":"mining.suggest_${method}","params":[${param}]}`)).toEqual([wrong]);
    }
    expect(client.login()[0].params).toEqual([formatTarget(targetForDifficulty(2 ** 32))]);
  });

  it('is suggested as a target, too', async () => {
    const { client } = await serving();
    const hex = formatTarget(targetForDifficulty(2 ** 35));
    client.say(`{"id":1,"method":"mining.suggest_target","params":["${hex}"]}`);
    expect(client.login()[0].params).toEqual([hex]);
  });

  it('is another for a new target only: shares of the job before are judged by its own', async () => {
    const { bench, work, client } = await serving();
    client.say('{"id":1,"method":"mining.suggest_difficulty","params":[0.00000005]}');
    const [target, notify] = client.login();
    const easy = jobOf(work, notify, target.params[0]);
    bench.nowMs += 200;
    client.say('{"id":2,"method":"mining.suggest_difficulty","params":[1]}');
    bench.pass(11);
    expect(client.submit(easy.id, mineShare(easy.job, 0x0102)).result).toBe(true);
    expect(bench.ledger.filter(({ type }) => type === 'share')).toMatchObject([
      { difficulty: expect.closeTo(214.7, 0) },
    ]);
  });

  it('falls for a client that finds nothing, and each new target has a clean job', async () => {
    const { bench, client } = await serving();
    client.login();
    bench.pass(10);
    const messages = client.read().map(parse);
    const targets = messages.flatMap(({ method }, index) => (method === 'mining.set_target' ? [index] : []));
    expect(targets.length).toBeGreaterThanOrEqual(3);
    for (const index of targets) expect(messages[index + 1].params[2]).toBe(true);
  });

  it('is remembered for the next session of the same worker', async () => {
    const { bench, client } = await serving();
    const known = { shares: 600, exposure: 600 / 1e12 };
    bench.world.rates.put('192.0.2.1', 'rig', known);
    const [target] = client.login('rig');
    expect(target.params).toEqual([formatTarget(targetForDifficulty(1e13))]);
  });

  it.each([4, 1e6, 1e9, 4e11])('begins no lower because a worker of that name found %d H/s before', async (rate) => {
    const { bench, client } = await serving();
    const rig = bench.client();
    bench.world.rates.put('192.0.2.1', 'rig', { shares: 600, exposure: 600 / rate });
    expect(rig.login('rig')).toMatchObject([client.login('another')[0], {}]);
    const chosen = bench.client();
    const [target] = chosen.login('rig', 'd=0.00000005');
    expect(target.params).toEqual([formatTarget(targetForDifficulty(2 ** 32 * 0.00000005))]);
  });

  it('is learned by the next session also where the one before has found shares that anybody finds', async () => {
    const { bench, client } = await serving();
    const [target, notify] = client.login('rig', 'd=0.0000000001');
    const { job, id } = jobOf(bench.works.current!, notify, target.params[0]);
    for (let share = 1; share <= 40; share++) {
      client.submit(id, mineShare(job, client.nonce1, 100 * share), 'rig');
      bench.pass(0.2);
    }
    client.leave();
    expect(bench.client().login('rig')[0].params).toEqual([formatTarget(targetForDifficulty(2 ** 42))]);
  });
});

describe('jobs', () => {
  it('have ids that never come again, and never 0', async () => {
    const { bench, client } = await serving();
    const ids = client.login().flatMap(({ method, params }) => (method === 'mining.notify' ? [params[0]] : []));
    for (let round = 0; round < 20; round++) {
      bench.pass(3);
      await bench.give(makeWork(HARD));
      ids.push(
        ...client.read().flatMap((line) => (parse(line).method === 'mining.notify' ? [parse(line).params[0]] : [])),
      );
    }
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => /^[\da-f]{8}$/.test(id) && id !== '00000000')).toBe(true);
  });

  it('are clean after a New Cut, and not where the work was merely replaced', async () => {
    const { bench, client, work } = await serving();
    client.login();
    await bench.give(makeWork(HARD));
    expect(client.read().map((line) => parse(line).params[2])).toEqual([false]);
    await bench.condemn(work);
    await bench.condemn(bench.works.current!);
    expect(client.read()).toEqual([]);
    await bench.give(makeWork(HARD));
    expect(client.read().map((line) => parse(line).params[2])).toEqual([true]);
  });

  it('come twice a second while the rate is not known, so that the fastest ASIC never runs out', async () => {
    const { bench, client } = await serving();
    client.login('w', 'd=1000000000000');
    bench.pass(10);
    const notifies = client.read().map(parse);
    expect(notifies.length).toBeGreaterThanOrEqual(19);
    expect(notifies.every(({ params }) => params[2] === false)).toBe(true);
    expect(new Set(notifies.map(({ params }) => params[1])).size).toBe(notifies.length);
  });

  it('come every 30 s to a slow miner', async () => {
    const { bench, client } = await serving();
    bench.world.rates.put('192.0.2.1', 'slow', { shares: 600, exposure: 600 / 1e12 });
    client.login('slow');
    bench.pass(90);
    const notifies = client
      .read()
      .map(parse)
      .filter(({ method }) => method === 'mining.notify');
    expect(notifies.length).toBe(3);
  });

  it('are sent again where the creation time may not be moved, and a nonce still counts once', async () => {
    const bench = new SessionBench();
    benches.push(bench);
    const work = await bench.give(makeWork(HARD, { rollTime: false }));
    const client = bench.client();
    const [target, notify] = client.login('w', 'd=0.00000005');
    const { id, job } = jobOf(work, notify, target.params[0]);
    bench.pass(31);
    expect(client.read().map(parse)).toEqual([{ ...notify, params: [id, notify.params[1], false] }]);
    const nonce2 = mineShare(job, 0x0102);
    expect(client.submit(id, nonce2).result).toBe(true);
    bench.pass(31);
    expect(client.read().map(parse)).toMatchObject([{ params: [id, notify.params[1], false] }]);
    expect(client.submit(id, nonce2).error[0]).toBe(22);
  });

  it('have one header for sessions that get theirs at once', async () => {
    const { bench, work } = await serving();
    const clients = Array.from({ length: 5 }, () => bench.client());
    for (const client of clients) client.login();
    await bench.condemn(work);
    bench.pass(1);
    for (const client of clients) client.read();
    await bench.give(makeWork(HARD));
    const lines = clients.map((client) => client.read().filter((line) => line.includes('notify')));
    expect(new Set(lines.flat()).size).toBe(1);
    expect(lines.every(({ length }) => length === 1)).toBe(true);
  });
});

it('a session that ends while it is answered does not begin', async () => {
  const { bench } = await serving();
  const client = bench.client();
  client.say(SUBSCRIBE);
  client.isDeaf = true;
  client.say('{"id":2,"method":"mining.authorize","params":["user.rig","x"]}');
  expect(client.session.jobs).toBeUndefined();
  expect(bench.logged.filter((line) => line.includes('has begun'))).toEqual([]);
});

describe('nonce1', () => {
  it('is of one session only, and never the local miner’s lane', async () => {
    const { bench } = await serving();
    const values = Array.from({ length: 500 }, () => parse(bench.client().say(SUBSCRIBE)[0]).result[1]);
    expect(new Set(values).size).toBe(500);
    expect(values).not.toContain('0101');
    expect(values.every((value) => /^[\da-f]{4}$/.test(value))).toBe(true);
  });

  it('is refused in words when all are taken; one of a session that ended is free once its work is stale', async () => {
    const { bench, work } = await serving();
    const nonce1s = bench.world.nonce1s;
    for (let count = 0; count < 65_534; count++) nonce1s.take(bench.nowMs);
    const last = bench.client();
    last.login();
    const late = bench.client();
    const words = 'all 65535 places of this server are taken; try again later';
    expect(late.say(SUBSCRIBE)).toEqual([`{"result":null,"error":[20,"${words}",null],"id":1}`]);
    last.leave();
    expect(parse(late.say(SUBSCRIBE)[0]).error[1]).toBe(words);
    await bench.condemn(work);
    expect(parse(late.say(SUBSCRIBE)[0]).result[1]).toBe('0100');
  });

  it('is not free while any work of its session may still count', async () => {
    const { bench, work } = await serving();
    for (let count = 0; count < 65_534; count++) bench.world.nonce1s.take(bench.nowMs);
    const last = bench.client();
    last.login();
    const other = await bench.give(makeWork(HARD));
    last.leave();
    const late = bench.client();
    for (const stale of [work, other]) {
      expect(parse(late.say(SUBSCRIBE)[0]).error[0]).toBe(20);
      await bench.condemn(stale);
    }
    expect(parse(late.say(SUBSCRIBE)[0]).result[1]).toBe('0100');
  });

  it('is free again after ten minutes, however long its work lasts', async () => {
    const { bench } = await serving();
    for (let count = 0; count < 65_534; count++) bench.world.nonce1s.take(bench.nowMs);
    const last = bench.client();
    last.login();
    last.leave();
    bench.nowMs += 599_000;
    expect(bench.world.nonce1s.take(bench.nowMs)).toBeUndefined();
    bench.nowMs += 1_000;
    expect(bench.world.nonce1s.take(bench.nowMs)).toBe(0x0100);
  });
});

it('sessions that bring nothing do not make others learn more slowly', async () => {
  const { bench, client } = await serving();
  for (let count = 0; count < 500; count++) bench.client().login(`idle${count}`);
  client.login('rig', 'd=0.01');
  bench.pass(1.1);
  expect(bench.sessions.learningSeconds()).toBe(0.15);
});

const SUBSCRIBE = '{"id":1,"method":"mining.subscribe","params":[]}';

describe('room in a full server', () => {
  it('is made by those that bring nothing, the oldest first, and by none that has just come or that hashes', async () => {
    const { bench, client } = await serving();
    client.login('rig', 'd=0.01');
    const old = Array.from({ length: 3 }, (_, i) => {
      const idle = bench.client();
      idle.login(`idle${i}`);
      return idle;
    });
    bench.pass(149);
    const all = [client, ...old];
    const closed = () => all.map((each) => each.closed);
    bench.sessions.makeRoom(10, bench.nowMs);
    expect(closed()).toEqual([undefined, undefined, undefined, undefined]);
    const young = bench.client();
    all.push(young);
    young.login('young');
    // 0.01 is 4e7 hashes a share.
    client.session.jobs?.share(2 ** 32 / 100, bench.nowMs);
    client.session.jobs?.share(2 ** 32 / 100, bench.nowMs);
    bench.pass(1);
    bench.sessions.makeRoom(2, bench.nowMs);
    const why = 'it brings nothing, and the server is full';
    expect(closed()).toEqual([undefined, why, why, undefined, undefined]);
    for (const each of old.slice(0, 2)) each.leave();
    bench.sessions.makeRoom(2, bench.nowMs);
    expect(closed()).toEqual([undefined, why, why, why, undefined]);
  });
});

describe('names from outside', () => {
  it('are made safe to print, and cut so that the worker stays', async () => {
    const { bench } = await serving();
    const share = (...login: Parameters<TestClient['login']>) => {
      const client = bench.client();
      client.login(...login);
      client.submit('ffff', '0');
    };
    share('evil\u001b[31m\nname', 'x', 'agent\u0000\u202e'.repeat(40));
    share(`k:${'a'.repeat(64)}.rig7`);
    share('');
    const begun = bench.ledger.filter((entry) => entry.type === 'session');
    expect(begun.map(({ worker }) => worker)).toEqual(['evil [31m name', `k:${'a'.repeat(64)}.rig7`, 'unnamed']);
    expect(begun.every(({ worker, agent }) => worker.length <= 128 && agent.length <= 63)).toBe(true);
    expect(begun[0].agent).not.toMatch(/\p{C}/u);
  });
});

const EASY = 'd=0.00000005';
const EASY_TARGET = formatTarget(targetForDifficulty(0.00000005 * 2 ** 32));
const shareLines = ({ ledger }: SessionBench) => ledger.filter((entry) => entry.type === 'share');
const results = (bench: SessionBench) => shareLines(bench).map(({ result }) => result);

/** What the ledger says at its end of the shares that have no line. */
function leftOut({ ledger, world }: SessionBench) {
  world.quota.close();
  return ledger.filter((entry) => entry.type === 'left-out');
}

describe('the ledger and shares that stand for nothing', () => {
  /** Half of the lines are kept for shares that were accepted. The session's own line is one of them. */
  const limits = { ledgerBurst: 8, ledgerLinesPerSecond: 1 };
  const none = { accepted: 0, blocks: 0, acceptedHashes: 0 };

  it.each([
    ['invalid', (client: TestClient) => client.submit('1', 'x').error[0], 20],
    ['unknown-job', (client: TestClient) => client.submit('ffff', '0').error[0], 21],
    ['low-difficulty', (client: TestClient, miss: string) => client.submit('1', miss).error[0], 23],
  ])('%s: some lines are written, the others are answered and counted', async (result, submit, code) => {
    const { bench, client, work } = await serving(HARD, limits);
    const [target, notify] = client.login('w', EASY);
    const { job } = jobOf(work, notify, target.params[0]);
    for (let share = 0; share < 100; share++) expect(submit(client, mineShare(job, 0x0102, share, false))).toBe(code);
    expect(results(bench)).toEqual([result, result, result]);
    expect(bench.world.accounts.list(bench.nowMs)).toMatchObject([{ rejected: 100 }]);
    bench.nowMs += 2_000;
    submit(client, mineShare(job, 0x0102, 200, false));
    expect(results(bench)).toHaveLength(4);
    client.leave();
    expect(leftOut(bench)).toEqual([{ type: 'left-out', worker: 'w', lines: 97, ...none }]);
    expect(client.closed).toBeUndefined();
  });

  it('duplicate: likewise, and good shares are written', async () => {
    const { bench, client, work } = await serving(HARD, limits);
    const [target, notify] = client.login('w', EASY);
    const { job, id } = jobOf(work, notify, target.params[0]);
    const nonce2 = mineShare(job, 0x0102);
    for (let share = 0; share < 10; share++) client.submit(id, nonce2);
    const other = mineShare(job, 0x0102, 1 + Number.parseInt(nonce2, 16));
    expect(client.submit(id, other).result).toBe(true);
    expect(results(bench)).toEqual(['accepted', 'duplicate', 'duplicate', 'accepted']);
    client.leave();
    expect(leftOut(bench)).toEqual([{ type: 'left-out', worker: 'w', lines: 7, ...none }]);
  });

  it('a flood that does not end is summed up each minute, and some of it is written', async () => {
    const { bench, client } = await serving(HARD, limits);
    client.login();
    for (let share = 0; share < 1_300; share++) {
      client.submit('ffff', '0');
      bench.nowMs += 100;
    }
    const told = bench.ledger.filter((entry) => entry.type === 'left-out');
    expect(told).toHaveLength(2);
    expect(results(bench)).toHaveLength(3 + 129);
    client.leave();
    const sum = leftOut(bench).reduce((lines, entry) => lines + entry.lines, 0);
    expect(sum).toBe(1_300 - 3 - 129);
  });
});

describe('the ledger and clients that bring more than a miner would', () => {
  /** A client that logs in and brings so many good shares of its first, easy job. */
  async function mineShares({ bench, work }: Awaited<ReturnType<typeof serving>>, count: number, worker = 'w') {
    const client = bench.client();
    const [target, notify] = client.login(worker, EASY);
    const { job, id } = jobOf(work, notify, target.params[0]);
    for (let share = 0, from = 1; share < count; share++) {
      const nonce2 = mineShare(job, client.nonce1, from);
      from = 1 + Number.parseInt(nonce2, 16);
      bench.nowMs += 20;
      expect(client.submit(id, nonce2, worker).result).toBe(true);
    }
    return client;
  }

  it('has nothing of clients that connect again and again and bring nothing', async () => {
    const { bench } = await serving();
    for (let count = 0; count < 100; count++) {
      const client = bench.client();
      client.login(`w${count}`);
      client.leave();
    }
    bench.world.quota.close();
    expect(bench.ledger).toEqual([]);
  });

  it('has so many lines of an address, and the sum of what the other shares stand for', async () => {
    const world = await serving(HARD, { ledgerBurst: 11, ledgerLinesPerSecond: 0.2 });
    const { bench } = world;
    const client = await mineShares(world, 50);
    expect(shareLines(bench)).toHaveLength(10);
    const [{ difficulty = 0 }] = shareLines(bench);
    client.leave();
    const [sum] = leftOut(bench);
    expect(sum).toMatchObject({ worker: 'w', lines: 40, accepted: 40, blocks: 0 });
    // Fifty shares of one job stand for the same, with or without a line.
    expect(sum.acceptedHashes).toBeCloseTo(40 * difficulty, 6);
    expect(bench.ledger.filter(({ type }) => type === 'session')).toHaveLength(1);
  });

  it('has no more of a client that connects again for each share, under whatever name', async () => {
    const world = await serving(HARD, { ledgerBurst: 11, ledgerLinesPerSecond: 0.2 });
    const { bench } = world;
    for (let count = 0; count < 40; count++) (await mineShares(world, 1, `w${count}`)).leave();
    // Five sessions with a line each for the session and its share; there is one token left.
    expect(bench.ledger).toHaveLength(10);
    // There is room for one more after a while.
    bench.nowMs += 5_000;
    (await mineShares(world, 1)).leave();
    expect(bench.ledger).toHaveLength(12);
    const sums = leftOut(bench);
    expect(sums.map(({ worker }) => worker)).toEqual(Array.from({ length: 35 }, (_, i) => `w${i + 5}`));
    expect(sums.reduce((lines, sum) => lines + sum.lines, 0)).toBe(35);
  });
});

it('the ledger has a line for a session before its first share, with its nonce1, and one for each share', async () => {
  const { bench, client, id, job, work } = await sharing();
  expect(bench.ledger).toEqual([]);
  const nonce2 = mineShare(job, 0x0102);
  client.submit(id, nonce2);
  client.submit('7', '0');
  onTestFinished(() => client.leave());
  const nonce = ((BigInt(`0x${nonce2}`) << 16n) | 0x0102n).toString();
  const share = { type: 'share', session: 1, worker: 'k:abc.rig1' };
  expect(bench.ledger).toEqual([
    { type: 'session', session: 1, nonce1: NONCE1, worker: 'k:abc.rig1', agent: 'test/1', address: '192.0.2.1' },
    {
      ...share,
      result: 'accepted',
      job: id,
      chain: work.chain,
      height: Number(work.height),
      nonce,
      difficulty: expect.closeTo(214.7, 0),
      isBlock: false,
    },
    { ...share, result: 'unknown-job', job: '7', nonce: '258', isBlock: false },
  ]);
});
