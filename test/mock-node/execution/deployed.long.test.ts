/** Contracts of users, deployed by `/send`. */

import { describe, expect, it } from 'vitest';
import type { CommandResult } from '#pickaxe/protocol/ledger/command/results.js';
import { distance } from '#pickaxe/protocol/ledger/graphs.js';
import { jsonInteger } from '#pickaxe/protocol/ledger/json.js';
import { at } from '../ask.ts';
import { ALICE, alice, BOB, banksOf, bob, coins, keysetOf } from './bank.ts';
import { codeOn, deployment, STATION, signed, TICKETS } from './deployed.ts';

const startBank = banksOf('chainweb');

const FUNDED = {
  accounts: [
    { account: alice, balance: '100.0' },
    { account: bob, balance: '10.0' },
  ],
};
const ISSUE = '(free.tickets.issue "alice" (read-keyset "a") 5.0) (free.tickets.issue "bob" (read-keyset "b") 1.0)';
const HAND_ON = '(free.tickets.hand-on "alice" "bob" 2.0)';
const GAS = { name: 'coin.GAS', args: [] };
const handOn = (tickets: string) => {
  return { name: 'free.tickets.HAND_ON', args: ['alice', 'bob', { decimal: tickets }] };
};

async function started(chains: readonly number[] = [0]) {
  const bank = await startBank(FUNDED);
  const results: CommandResult[] = [];
  for (const chain of chains) results.push(await bank.run(chain, deployment(chain)));
  const data = { a: keysetOf(ALICE), b: keysetOf(BOB) };
  results.push(await bank.run(0, codeOn(0, ISSUE, { data })));
  for (const { result } of results) expect(result).toMatchObject({ status: 'success' });
  const ask = async (code: string, chain = 0) => {
    return bank.readOutcome(chain, { exec: { code: `(+ "" (format "{}" [${code}]))`, data: {} } });
  };
  const count = async (name: string, chain = 0) => {
    const outcome = await ask(`(free.tickets.count "${name}")`, chain);
    return outcome.status === 'success' ? outcome.data : outcome.error.message;
  };
  const hash = async () => {
    const outcome = await ask('(at "hash" (describe-module "free.tickets"))');
    return outcome.status === 'success' ? outcome.data : '';
  };
  return { ...bank, results, ask, count, hash };
}

const messageOf = ({ result }: CommandResult) => (result.status === 'failure' ? result.error.message : 'success');
const namesOf = ({ events }: CommandResult) =>
  events.map(({ module, name }) => `${module.namespace ? `${module.namespace}.` : ''}${module.name}.${name}`);

describe('a module', () => {
  it('lives on, and answers', async () => {
    const { results, count, grow, hash } = await started();
    expect(results[0].gas).toBeGreaterThan(2_000);
    expect(results[0].gas).toBeLessThan(10_000);
    grow(2);
    expect([await count('alice'), await count('bob'), await count('carol', 1)]).toEqual([
      '5.0',
      '1.0',
      expect.stringContaining('free.tickets'),
    ]);
    expect(await hash()).toMatch(/^[\w-]{43}$/);
  });

  it('is taken back by a reorganisation', async () => {
    const { node, tip, run, count } = await started();
    const command = deployment(1);
    await run(1, command);
    expect(await count('alice', 1)).toContain('No value found in table free.tickets_holders');
    node.commands.badlist(command.hash);
    node.ledger.reorganise(tip(1));
    expect(await count('alice', 1)).toContain('free.tickets');
    expect(await count('alice', 1)).not.toContain('No value found');
  });

  it('runs again after a reorganisation, as a waiting command', async () => {
    const { node, tip, run, count } = await started();
    await run(1, deployment(1));
    node.ledger.reorganise(tip(1));
    node.ledger.advance(1);
    expect(await count('alice', 1)).toContain('No value found in table free.tickets_holders');
  });

  it('is upgraded by those whom its governance allows', async () => {
    const { run, count, hash } = await started();
    const before = await hash();
    const code = TICKETS.replace('(define-keyset "free.tickets-admin" (read-keyset "admin"))', '').replace(
      '(at "tickets" (read holders name))',
      '(+ 100.0 (at "tickets" (read holders name)))',
    );
    const data = { admin: keysetOf(BOB), 'is-new': false };
    const refused = await run(0, codeOn(0, code, { pair: BOB, meta: { sender: bob }, data }));
    expect(messageOf(refused)).toContain('Keyset failure');
    expect([await count('alice'), await hash()]).toEqual(['5.0', before]);
    expect(messageOf(await run(0, deployment(0, { code, isNew: false })))).toBe('success');
    expect(await count('alice')).toBe('105.0');
    expect(await hash()).not.toBe(before);
  });
});

describe('capabilities of a user', () => {
  it('are needed, and hold once', async () => {
    const { run, count } = await started();
    const without = await run(0, codeOn(0, HAND_ON, { clist: [GAS] }));
    expect(messageOf(without)).toContain('Managed capability free.tickets.HAND_ON was not installed');
    const less = await run(0, codeOn(0, HAND_ON, { clist: [GAS, handOn('1.5')] }));
    expect(messageOf(less)).toBe('only 1.5 tickets are signed for');
    const twice = await run(0, codeOn(0, `${HAND_ON} ${HAND_ON}`, { clist: [GAS, handOn('3.0')] }));
    expect(messageOf(twice)).toBe('only 1.0 tickets are signed for');
    expect(await count('bob')).toBe('1.0');
    await run(0, codeOn(0, HAND_ON, { clist: [GAS, handOn('2.0')] }));
    expect([await count('alice'), await count('bob')]).toEqual(['3.0', '3.0']);
  });

  it('cannot be signed for by somebody else', async () => {
    const { run } = await started();
    const theft = codeOn(0, HAND_ON, { pair: BOB, meta: { sender: bob }, clist: [GAS, handOn('2.0')] });
    expect(messageOf(await run(0, theft))).toContain('Keyset failure');
  });

  it('are events in the order in which they are acquired, with the hash of the module', async () => {
    const { run, hash } = await started();
    const done = await run(0, codeOn(0, HAND_ON, { clist: [GAS, handOn('2.0')] }));
    expect(namesOf(done)).toEqual([
      'free.tickets.HAND_ON',
      'free.tickets.COUNTED',
      'free.tickets.COUNTED',
      'coin.TRANSFER',
    ]);
    const itsHash = await hash();
    expect(done.events.map(({ moduleHash }) => moduleHash === itsHash)).toEqual([true, true, true, false]);
  });

  it('are tried without effect', async () => {
    const { local, run, count } = await started();
    const command = codeOn(0, HAND_ON, { clist: [GAS, handOn('2.0')] });
    const tried = (await local(0, command, '?preflight=true')).json;
    expect(at(tried, 'preflightResult', 'result', 'status')).toBe('success');
    expect(await count('bob')).toBe('1.0');
    const done = await run(0, command);
    expect(at(tried, 'preflightResult', 'gas')).toBe(String(done.gas));
    const failed = (await local(0, codeOn(0, HAND_ON, { clist: [GAS] }), '?preflight=true')).json;
    expect(at(failed, 'preflightResult', 'result', 'error', 'message')).toContain('was not installed');
  });
});

describe('defpacts', () => {
  const TRAVEL = (chain: number) => `(free.tickets.travel "alice" (read-keyset "a") "${chain}" 2.0)`;
  const holder = { name: 'free.tickets.HOLDER', args: ['alice'] };
  const data = { a: keysetOf(ALICE) };

  it('go on on another chain, with a proof', async () => {
    const target = 9;
    const { run, post, node, count } = await started([0, target]);
    const first = await run(0, codeOn(0, TRAVEL(target), { data, clist: [GAS, holder] }));
    expect(first.continuation).toMatchObject({ step: 0, yield: { provenance: { targetChainId: '9' } } });
    expect([await count('alice'), await count('alice', target)]).toEqual(['3.0', expect.stringContaining('No value')]);
    const steps = distance(node.ledger.chains.graph, 0, target);
    node.ledger.advanceTo(target, BigInt(first.metaData!.blockHeight! + steps));
    const answer = await post(0, 'spv', { requestKey: first.reqKey, targetChainId: String(target) });
    const cont = { pactId: first.reqKey, step: 1, rollback: false, data: {}, proof: answer.json as string };
    const unproven = await run(target, signed(target, { cont: { ...cont, proof: null } }, { clist: [GAS] }));
    expect(messageOf(unproven)).toContain('No previous defpact execution found');
    const second = await run(target, signed(target, { cont }, { clist: [GAS] }));
    expect(messageOf(second)).toBe('success');
    expect(namesOf(second)).toEqual(['pact.X_RESUME', 'coin.TRANSFER']);
    expect(await count('alice', target)).toBe('2.0');
    expect(messageOf(await run(target, signed(target, { cont }, { clist: [GAS] })))).toContain('already completed');
  });

  it('nested in others go along to another chain, and continue there', async () => {
    const target = 9;
    const code = `(namespace "free")
      (module tours G (defcap G () true)
        (defpact leg (name:string) (step (yield { "from": name })) (step (resume { "from" := from } (+ "leg of " from))))
        (defpact stage (name:string) (step (leg name)) (step (continue (leg name))))
        (defpact tour (name:string chain:string)
          (step (let ((x (stage name))) (yield { "name": name } chain)))
          (step (resume { "name" := who } [who (continue (stage name))]))))`;
    const { run, post, node } = await startBank(FUNDED);
    for (const chain of [0, target]) expect(messageOf(await run(chain, codeOn(chain, code)))).toBe('success');
    const first = await run(0, codeOn(0, `(free.tours.tour "alice" "${target}")`));
    const [[stageId, stage]] = Object.entries(first.continuation?.nested ?? {});
    expect([stageId, Object.keys(at(stage, 'nested') as object)]).toEqual([
      at(stage, 'pactId'),
      [expect.stringMatching(/^[\w-]{43}$/)],
    ]);
    expect(stage).not.toHaveProperty('stepHasRollback');
    node.ledger.advanceTo(target, BigInt(first.metaData!.blockHeight! + distance(node.ledger.chains.graph, 0, target)));
    const proof = (await post(0, 'spv', { requestKey: first.reqKey, targetChainId: String(target) })).json as string;
    const cont = { pactId: first.reqKey, step: 1, rollback: false, data: {}, proof };
    const second = await run(target, signed(target, { cont }));
    expect(second.result).toMatchObject({ status: 'success', data: ['alice', 'leg of alice'] });
  });

  it('are tried without effect, step by step', async () => {
    const { local, run, count } = await started();
    const tried = async (command: Parameters<typeof run>[1]) => {
      const { json } = await local(0, command, '?preflight=true');
      return [at(json, 'preflightResult', 'result', 'status'), at(json, 'preflightResult', 'gas')];
    };
    const offer = codeOn(0, '(free.tickets.offer "alice" 4.0)', { clist: [GAS, holder] });
    const before = await tried(offer);
    expect(await count('alice')).toBe('5.0');
    const first = await run(0, offer);
    expect(before).toEqual(['success', String(first.gas)]);
    const cont = { pactId: first.reqKey, step: 0, rollback: true, data: {}, proof: null };
    const back = signed(0, { cont }, { clist: [GAS] });
    const backTried = await tried(back);
    expect(await count('alice')).toBe('1.0');
    expect(backTried).toEqual(['success', String((await run(0, back)).gas)]);
    expect(await tried(back)).toEqual(['failure', '150000']);
    const own = deployment(0, { code: STATION });
    expect(await tried(own)).toEqual(['success', expect.any(String)]);
    expect(messageOf(await run(0, own))).toBe('success');
  });

  it('do not go on where the module is another one', async () => {
    const target = 9;
    const { run, post, node } = await started();
    await run(target, deployment(target, { code: TICKETS.replace('there are not so many', 'too many') }));
    const first = await run(0, codeOn(0, TRAVEL(target), { data, clist: [GAS, holder] }));
    node.ledger.advanceTo(target, BigInt(first.metaData!.blockHeight! + 5));
    const answer = await post(0, 'spv', { requestKey: first.reqKey, targetChainId: String(target) });
    const cont = { pactId: first.reqKey, step: 1, rollback: false, data: {}, proof: answer.json as string };
    expect(messageOf(await run(target, signed(target, { cont }, { clist: [GAS] })))).not.toBe('success');
  });

  it('are rolled back', async () => {
    const { run, count } = await started();
    const first = await run(0, codeOn(0, '(free.tickets.offer "alice" 4.0)', { clist: [GAS, holder] }));
    expect(first.continuation).toMatchObject({ step: 0, stepCount: 2, stepHasRollback: true });
    expect(await count('alice')).toBe('1.0');
    const cont = { pactId: first.reqKey, step: 0, rollback: true, data: {}, proof: null };
    const back = await run(0, signed(0, { cont }, { clist: [GAS] }));
    expect(messageOf(back)).toBe('success');
    expect(await count('alice')).toBe('5.0');
    const late = signed(0, { cont: { ...cont, step: 1, rollback: false } }, { clist: [GAS] });
    expect(messageOf(await run(0, late))).toContain('completed');
  });
});

describe('a gas station of a user', () => {
  const SENDER = 'ticket-station';
  const payer = { name: 'free.ticket-station.GAS_PAYER', args: ['', { int: jsonInteger(1) }, { decimal: '1.0' }] };
  const paid = { sender: SENDER, gasLimit: 2_000 };

  async function withStation(code = STATION) {
    const bank = await started();
    expect(messageOf(await bank.run(0, deployment(0, { code })))).toBe('success');
    const capability = { name: 'coin.TRANSFER', args: [alice, SENDER, { decimal: '1.0' }] };
    const payIn = codeOn(0, `(coin.transfer "${alice}" "${SENDER}" 1.0)`, { clist: [GAS, capability] });
    expect(messageOf(await bank.run(0, payIn))).toBe('success');
    return bank;
  }

  it('pays for what it wants to pay', async () => {
    const { run, balance, count } = await withStation();
    const before = await balance(0, alice);
    const done = await run(0, codeOn(0, HAND_ON, { meta: paid, clist: [payer, handOn('2.0')] }));
    expect(messageOf(done)).toBe('success');
    expect(await count('bob')).toBe('3.0');
    expect(await balance(0, alice)).toBe(before);
    expect(await balance(0, SENDER)).toBe(coins('1.0') - BigInt(done.gas) * coins('0.000001'));
  });

  it.each(['@event', '@managed'])('tells that it pays, with a capability that has %s', async (meta) => {
    // A module that implements the interface of gas stations cannot have such a capability.
    const head = '(defcap GAS_PAYER:bool (user:string limit:integer price:decimal)';
    const code = STATION.replace('(implements gas-payer-v1)', '').replace(head, `${head} ${meta}`);
    const { run, balance } = await withStation(code);
    const done = await run(0, codeOn(0, HAND_ON, { meta: paid, clist: [payer, handOn('2.0')] }));
    expect(messageOf(done)).toBe('success');
    const names = namesOf(done);
    expect(names.slice(0, 2)).toEqual(['free.ticket-station.GAS_PAYER', 'free.tickets.HAND_ON']);
    expect(names.at(-1)).toBe('coin.TRANSFER');
    expect(await balance(0, SENDER)).toBe(coins('1.0') - BigInt(done.gas) * coins('0.000001'));
  });

  it.each([
    ['two stations', [payer, { ...payer, args: ['bob', ...payer.args.slice(1)] }], 'Multiple gas payer capabilities'],
    ['a module that does not exist', [{ ...payer, name: 'free.none.GAS_PAYER' }], 'Cannot find module: free.none'],
    [
      'a module without the capability',
      [{ ...payer, name: 'free.tickets.GAS_PAYER' }],
      'Module member does not exist free.tickets.GAS_PAYER',
    ],
  ])('is not %s', async (_, payers, fault) => {
    const { send } = await withStation();
    const { status, text } = await send(0, codeOn(0, HAND_ON, { meta: paid, clist: [...payers, handOn('2.0')] }));
    expect([status, text]).toEqual([400, expect.stringContaining(`Failed to buy gas: ${fault}`)]);
  });

  it('refuses all else, and what nobody has signed for', async () => {
    const { send, balance, local } = await withStation();
    const refusal = async (code: string, { meta = paid, clist = [payer, handOn('2.0')] } = {}) => {
      const { status, text } = await send(0, codeOn(0, code, { meta, clist }));
      expect(status).toBe(400);
      return text;
    };
    expect(await refusal('(+ 1 2)')).toContain('only tickets are handed on');
    expect(await refusal(`${HAND_ON} (+ 1 2)`)).toContain('only one call');
    expect(await refusal(HAND_ON, { meta: { ...paid, gasPrice: coins('0.000002') } as never })).toContain(
      'the price is too high',
    );
    expect(await refusal(HAND_ON, { clist: [handOn('2.0')] })).toContain('Attempt to buy gas failed');
    expect(await balance(0, SENDER)).toBe(coins('1.0'));
    const tried = await local(0, codeOn(0, '(+ 1 2)', { meta: paid, clist: [payer] }), '?preflight=true');
    expect(at(tried.json, 'preflightResult', 'result', 'error', 'message')).toContain('only tickets are handed on');
  });
});

describe('namespaces and keysets', () => {
  const data = { k: keysetOf(ALICE) };
  const tried = async (code: string) => {
    const { run } = await startBank(FUNDED);
    return messageOf(await run(0, codeOn(0, code, { data })));
  };

  it('can be defined under the name that is made from their guard', async () => {
    const name = '(ns.create-principal-namespace (read-keyset "k"))';
    const own = `(define-namespace ${name} (read-keyset "k") (read-keyset "k")) (namespace ${name})`;
    const { run, readOutcome } = await startBank(FUNDED);
    const module = '(module own G (defcap G () true) (defun one () 1))';
    const done = await run(0, codeOn(0, `${own} ${module}`, { data }));
    expect(messageOf(done)).toBe('success');
    const namespace = await readOutcome(0, { exec: { code: name, data } });
    expect(namespace).toMatchObject({ data: expect.stringMatching(/^n_[0-9a-f]{40}$/) });
    const call = `(${namespace.status === 'success' ? namespace.data : ''}.own.one)`;
    expect(await readOutcome(0, { exec: { code: `(format "{}" [${call}])`, data: {} } })).toMatchObject({ data: '1' });
  });

  it('cannot be defined under another name', async () => {
    const code = '(define-namespace "mine" (read-keyset "k") (read-keyset "k"))';
    expect(await tried(code)).toContain('Namespace definition not permitted');
  });

  it('must contain every new module and keyset', async () => {
    expect(await tried('(module own G (defcap G () true))')).toContain('cannot install in root namespace');
    expect(await tried('(define-keyset "own" (read-keyset "k"))')).not.toBe('success');
    expect(await tried('(namespace "free") (define-keyset "free.own" (read-keyset "k"))')).toBe('success');
    expect(await tried('(namespace "free") (define-keyset "user.own" (read-keyset "k"))')).not.toBe('success');
    expect(await tried('(namespace "nobodys") (module own G (defcap G () true))')).toContain('nobodys');
  });
});
