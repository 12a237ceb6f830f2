/** Requests to every endpoint, with parts that were exchanged or left out: the status, type and body of the answers. */

import { describe, it } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { getBalance } from '#pickaxe/protocol/ledger/command/coin.js';
import { commandJson, sendJson } from '#pickaxe/protocol/ledger/command/command.js';
import { encodeBase64url } from '#pickaxe/protocol/ledger/json.js';
import { type Recorded, recordIn } from '../../recorded.ts';
import { changed } from '../../variants.ts';
import type { AskOptions } from '../ask.ts';
import { ALICE, alice, banksOf, commandOf, read, toBob, toChain, toNewBob } from '../execution/bank.ts';
import { DIALECTS } from '../node.ts';

const VARIANTS = 16;
const NOW_S = 1_800_000_000;
/** A clock that stands still, so that blocks and answers are the same in each run. */
const clock = { ...systemClock, nowUs: () => BigInt(NOW_S) * 1_000_000n };

interface Request extends AskOptions {
  readonly path: string;
}

type Bank = Awaited<ReturnType<ReturnType<typeof banksOf>>>;

/** @returns a request to each endpoint, by its name */
function requestsTo({ node }: Bank, language: string): Record<string, Request> {
  const { chains } = node.ledger;
  const block = chains.blocksOf(0).canonical(5_000_003n)!;
  const before = chains.blocksOf(0).canonical(5_000_001n)!;
  const payload = encodeBase64url(block.header.payloadHash);
  const meta = { creationTime: NOW_S - 15 };
  const commands = [toBob('1.5'), toNewBob('2.0'), toChain(1, '0.5')].map((call, i) =>
    commandOf(0, call, { meta, nonce: `${i}` }),
  );
  const question = commandOf(0, read(getBalance('coin', alice)), { meta, nonce: 'q', signers: [] });
  const post = (path: string, body: unknown, more: Partial<Request> = {}): Request => {
    return { method: 'POST', path: `/chain/0/${path}`, body, ...more };
  };
  const api = `${language}/api/v1`;
  const keys = commands.map(({ hash }) => hash);
  return {
    cut: { path: '/cut?maxheight=50000020' },
    hashes: { path: '/chain/0/hash?limit=2&minheight=5000001&maxheight=5000004' },
    headers: { path: '/chain/0/header?limit=3&minheight=5000002' },
    'headers as objects': { path: '/chain/0/header?limit=2', accept: 'application/json;blockheader-encoding=object' },
    blocks: { path: '/chain/0/block?limit=2&minheight=5000002' },
    'branch of hashes': post('hash/branch?limit=3', { lower: [before.id], upper: [block.id] }),
    'branch of headers': post('header/branch?maxheight=5000003', { lower: [], upper: [block.id] }),
    'branch of blocks': post('block/branch?limit=2', { lower: [before.id], upper: [block.id] }),
    header: { path: `/chain/0/header/${block.id}` },
    'header as bytes': { path: `/chain/0/header/${block.id}`, accept: 'application/octet-stream' },
    payload: { path: `/chain/0/payload/${payload}?height=5000003` },
    outputs: { path: `/chain/0/payload/${payload}/outputs`, accept: 'application/octet-stream' },
    'payloads of a list': post('payload/batch', [payload]),
    'outputs of a batch': post('payload/outputs/batch', { hashes: [payload], heights: [5_000_003] }),
    work: {
      path: '/mining/work?chain=0',
      body: { account: alice, predicate: 'keys-all', 'public-keys': [ALICE.publicKey] },
    },
    solved: { method: 'POST', path: '/mining/solved', body: 'a'.repeat(286) },
    local: post(`${api}/local?preflight=true&signatureVerification=false`, commandJson(question)),
    send: post(`${api}/send`, sendJson(commands)),
    'lookup in the mempool': post('mempool/lookup', keys),
    'membership in the mempool': post('mempool/member', keys),
    'pending commands': { method: 'POST', path: '/chain/0/mempool/getPending?nonce=1&since=0' },
    poll: post(`${api}/poll?confirmationDepth=0`, { requestKeys: keys }),
    spv: post(`${language}/spv`, { requestKey: keys[2], targetChainId: '1' }),
  };
}

const SEGMENTS = ['20', '9', '99', 'x', '-1', '00', '10000000000', 'A'.repeat(43), 'hash', 'header', 'batch'];
const QUERIES = [
  'limit',
  'next',
  'minheight',
  'maxheight',
  'height',
  'chain',
  'preflight',
  'rewindDepth',
  'confirmationDepth',
];
const NUMBERS = ['0', '1', '2', '-1', 'x', '', '5000003', '5000009', '1e3', '18446744073709551616', 'true'];
const TYPES = [
  'application/octet-stream',
  'application/json',
  'text/html',
  '*/*',
  'application/json;blockheader-encoding=object',
];

/** @returns variants of a request, which are the same in each run */
function variantsOf(request: Request, seed: number): Request[] {
  const random = seededRandom(seed);
  const oneOf = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)];
  const [path, query = ''] = request.path.split('?');
  const withQuery = (name: string, value: string) => {
    const search = new URLSearchParams(query);
    search.set(name, value);
    return { ...request, path: `${path}?${search}` };
  };
  const bodyOf = () => (typeof request.body === 'string' ? JSON.parse(request.body) : request.body);
  const variants = [
    () => ({ ...request, path: request.path.replace(oneOf(path.split('/').slice(1)), oneOf(SEGMENTS)) }),
    () => withQuery(oneOf(QUERIES), oneOf(NUMBERS)),
    () =>
      withQuery(
        'next',
        `${oneOf(['inclusive', 'exclusive', 'x'])}:${oneOf(['A'.repeat(43), path.split('/').at(-1)!])}`,
      ),
    () => ({ ...request, accept: oneOf(TYPES) }),
    () => ({ ...request, method: oneOf(['GET', 'POST', 'PUT'] as const) }),
    ...(request.body === undefined || path.endsWith('solved')
      ? []
      : Array(4).fill(() => ({ ...request, body: JSON.stringify(changed(bodyOf(), random)) }))),
  ];
  return [request, ...Array.from({ length: VARIANTS }, () => oneOf(variants)())];
}

const expectRecorded = recordIn(new URL('recorded.json', import.meta.url));

describe.each(DIALECTS)('a node of the dialect %s gives the recorded answers', (dialect) => {
  it('to variants of all requests', async () => {
    const bank = await banksOf(dialect)({}, { clock });
    bank.grow(6);
    const requests = requestsTo(bank, dialect === 'document' ? 'flow' : 'pact');
    for (const [i, [name, request]] of Object.entries(requests).entries()) {
      // What was sent is in a block then, and other chains know of it.
      if (name === 'poll') bank.grow(4);
      const outcomes: Recorded[] = [];
      for (const { path, ...how } of variantsOf(request, i)) {
        const { status, headers, text } = await bank.ask(path, how);
        outcomes.push({
          input: JSON.stringify([path, how]),
          outcome: JSON.stringify([status, headers['content-type'], text]),
        });
      }
      expectRecorded(`${dialect} ${name}`, outcomes);
    }
  });
});
