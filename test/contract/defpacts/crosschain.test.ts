/** Defpacts that continue on another chain, and those that come back. */

import { describe, expect, it } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import type { DefpactState } from '#pickaxe/contract/runtime/defpact-state.js';
import type { Environment } from '#pickaxe/contract/runtime/environment.js';
import { hashText } from '#pickaxe/contract/values/hash.js';
import { faultOf, messageOf } from '../faults.ts';
import { hashOf5 } from '../hashes.ts';
import { Chain, ID, onChain, YIELDS } from './chain.ts';

const HASH = hashText(YIELDS);
const OTHER_HASH = hashText('another module');

describe('defpacts across chains', () => {
  /** @returns a defpact that has begun on chain 0 */
  function begun(code = YIELDS): DefpactState {
    const chain = new Chain(code, 4, onChain('0'));
    chain.run('(m.over "a")');
    return chain.defpact;
  }

  it('go on, come back, and tell of it', () => {
    const [here, there] = [new Chain(YIELDS, 4, onChain('0')), new Chain(YIELDS, 4, onChain('1'))];
    here.run('(m.over "a")');
    expect(here.events).toEqual(['pact.X_YIELD ["1" "m.over" ["a"]]']);
    expect(here.evaluator.state.events[0].moduleHash).toBe(HASH);
    expect(there.continue(1, { foreign: here.defpact })).toBe('{"v": ["a" "1"]}');
    expect(there.events).toEqual(['pact.X_RESUME ["0" "m.over" ["a"]]']);
    expect(there.continue(2)).toBe('{"v": [["a" "1"] "2"]}');
    expect(there.events).toEqual(['pact.X_YIELD ["0" "m.over" ["a"]]']);
    expect(here.continue(3, { foreign: there.defpact })).toBe('[[["a" "1"] "2"] "3"]');
    expect(here.events).toEqual(['pact.X_RESUME ["1" "m.over" ["a"]]']);
  });

  it('go from one foreign chain to the next', () => {
    const [here, there] = [new Chain(YIELDS, 4, onChain('0')), new Chain(YIELDS, 4, onChain('1'))];
    here.run('(m.relay "a")');
    there.continue(1, { foreign: here.defpact });
    expect(there.events).toEqual(['pact.X_RESUME ["0" "m.relay" ["a"]]', 'pact.X_YIELD ["2" "m.relay" ["a"]]']);
  });

  it('without their events', () => {
    for (const flag of ['DisablePact40', 'DisablePactEvents'] as const) {
      const chain = new Chain(YIELDS, 4, { flags: new Set([flag]) });
      chain.run('(m.over "a")');
      expect(chain.events).toEqual([]);
      expect(chain.defpact.yielded?.sourceChain).toBe(flag === 'DisablePact40' ? undefined : '');
    }
  });

  it.each<[string, (foreign: DefpactState) => DefpactState, Dialect, string]>([
    [
      'too early',
      (foreign) => foreign,
      4,
      'resumePact: db step 0 must be at least 2 steps before cross-chain continuation step 0',
    ],
    ['too early', (foreign) => foreign, 5, 'Crosschain defpact continuation error: defpact id:1'],
    [
      'with other arguments',
      (foreign) => ({ ...foreign, step: 2, continuation: { ...foreign.continuation, args: ['b', [1n, 2n]] } }),
      4,
      'resumePact: cross-chain continuation (m.over "b" [1, 2]) does not match db continuation (m.over "a")',
    ],
    [
      'with other steps',
      (foreign) => ({ ...foreign, step: 2, stepCount: 5 }),
      4,
      'resumePact: cross-chain step count 5 does not match db step count 4',
    ],
  ])('do not come back %s', (_, change, dialect, message) => {
    const chain = new Chain(YIELDS, dialect, onChain('0'));
    chain.run('(m.over "a")');
    const foreign = change(chain.defpact);
    expect(messageOf(() => chain.continue(1, { foreign }))).toBe(message);
  });

  it.each<[Dialect, string]>([
    [4, `resumePactExec: request and context pact IDs do not match: (${ID}, x)`],
    [5, `Requested defpact id: ${ID} does not match context defpact id: x`],
  ])('do not go on under another id, dialect %i', (dialect, message) => {
    const there = new Chain(YIELDS, dialect, onChain('1'));
    expect(messageOf(() => there.continue(1, { foreign: { ...begun(), id: 'x' } }))).toBe(message);
  });

  it('name at most ten characters of a chain, and twenty of a hash, in what nodes of dialect 5 store', () => {
    for (const [chain, shown] of [
      ['1234567890', '1234567890'],
      ['12345678901', '1234567890...'],
    ]) {
      const there = new Chain(YIELDS, 5, onChain(chain));
      const [received, expected] = [HASH, hashOf5(YIELDS)].map((hash) => `${hash.slice(0, 20)}...`);
      const stored = `Yield provenance does not match, received: Provenance 1 ${received} , expected: Provenance ${shown} ${expected}`;
      expect(faultOf(() => there.continue(1, { foreign: begun() }))).toMatchObject({ stored });
    }
  });

  it.each<[string, Partial<Environment>, Dialect, string]>([
    [
      'on another chain',
      onChain('2'),
      4,
      `enforceYield: yield provenance (chain = "1" hash="${HASH}") does not match [(chain = "2" hash="${HASH}")]`,
    ],
    [
      'on another chain',
      onChain('2'),
      5,
      `Yield provenance does not match, received (Provenance 1 ${HASH}), expected [(Provenance 2 ${hashOf5(YIELDS)})]`,
    ],
    [
      'on another chain, by the older rule',
      { ...onChain('2'), flags: new Set(['DisablePact40']) },
      4,
      `enforceYield: yield provenance (chain = "2" hash="${HASH}") does not match (chain = "1" hash="${HASH}")`,
    ],
  ])('resume nothing %s', (_, environment, dialect, message) => {
    const there = new Chain(YIELDS, dialect, environment);
    expect(messageOf(() => there.continue(1, { foreign: begun() }))).toBe(message);
  });

  it('resume what an earlier version of the module has yielded, if it is blessed', () => {
    const newer = YIELDS.replace('(defpact on', `(bless "${HASH}") (bless "${OTHER_HASH}") (defpact on`);
    const there = new Chain(newer, 4, onChain('1'));
    expect(there.continue(1, { foreign: begun() })).toBe('{"v": ["a" "1"]}');
    const hash = hashText(newer);
    const allowed = [hash, HASH, OTHER_HASH].map((each) => `(chain = "1" hash="${each}")`).join(', ');
    const foreign = begun(YIELDS.replace('"resumed"', '"else"'));
    const { moduleHash } = foreign.yielded?.provenance ?? {};
    expect(messageOf(() => there.continue(1, { foreign, pactId: ID }))).toBe(
      'resumePact: db step 1 must be at least 2 steps before cross-chain continuation step 0',
    );
    expect(messageOf(() => new Chain(newer, 4, onChain('1')).continue(1, { foreign }))).toBe(
      `enforceYield: yield provenance (chain = "1" hash="${moduleHash}") does not match [${allowed}]`,
    );
    const older = new Chain(newer, 4, { ...onChain('1'), flags: new Set(['DisablePact40']) });
    expect(messageOf(() => older.continue(1, { foreign: begun() }))).toContain(`hash="${hash}") does not match`);
  });
});
