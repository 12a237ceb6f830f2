import { expect, it } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { NodeError } from '#pickaxe/node/http/node-error.js';
import type { Cut } from '#pickaxe/protocol/ledger/cut.js';
import { blockHash, parseHeader } from '#pickaxe/protocol/ledger/header.js';
import { decodeBase64url } from '#pickaxe/protocol/ledger/json.js';
import { type LookedAt, lookAt } from '#pickaxe/rig/survey/look.js';
import { headers } from '../../protocol/ledger/vectors.ts';

const [first, second] = headers.map(({ binary }) => parseHeader(decodeBase64url(binary)));
/** Two real headers with other times, as blocks of one chain. */
const [older, younger] = first.creationTimeUs < second.creationTimeUs ? [first, second] : [second, first];

const missing = async () => {
  throw new NodeError('not found', 'it is not here');
};
const head = (height: bigint, { header = older } = {}) => ({ height, hash: blockHash(header) });

function cutOf(...heads: ReturnType<typeof head>[]): Cut {
  return { origin: null, height: 0n, weight: 0n, heads: new Map(heads.map((each, chain) => [chain, each])) };
}

/** A node that serves only the given parts, and not its network. */
function node(parts: Partial<LookedAt>): LookedAt {
  return { info: missing, header: missing, nodeVersion: undefined, skew: undefined, ...parts } as unknown as LookedAt;
}

const clockAt = (us: bigint) => ({ ...systemClock, nowUs: () => us });

it('the newest block is that of any chain, where the highest one is old', async () => {
  const times = [younger.creationTimeUs - 3_600_000_000n, younger.creationTimeUs];
  const asked: number[] = [];
  const api = node({
    cut: async () => cutOf(head(10n), head(9n), head(8n)),
    header: async (chain) => {
      asked.push(chain);
      return { ...older, creationTimeUs: times[chain] };
    },
  });
  const look = await lookAt(api, clockAt(younger.creationTimeUs + 1_000_000n));
  expect(look.newestBlockUs).toBe(younger.creationTimeUs);
  // The third chain need not be asked.
  expect(asked).toEqual([0, 1]);
});

it('the newest of old blocks counts, whichever chain is the highest', async () => {
  const times = [older.creationTimeUs + 5n, older.creationTimeUs + 9n, older.creationTimeUs + 7n];
  const api = node({
    cut: async () => cutOf(head(10n), head(9n), head(8n)),
    header: async (chain) => ({ ...older, creationTimeUs: times[chain] }),
  });
  expect((await lookAt(api, clockAt(older.creationTimeUs + 10n ** 12n))).newestBlockUs).toBe(older.creationTimeUs + 9n);
});

it('where no headers are served, the block is the one whose hash the cut has, not another one of its height', async () => {
  const api = node({
    cut: async () => cutOf({ height: 10n, hash: blockHash(older) }),
    blocks: async function* () {
      yield { header: younger } as never;
      yield { header: older } as never;
    },
  });
  expect((await lookAt(api, clockAt(younger.creationTimeUs))).newestBlockUs).toBe(older.creationTimeUs);
});

it.each([
  ['its description and its cut differ', async () => ({ network: 'described' }), 'in-cut', 'described'],
  ['it has no description', missing, 'in-cut', 'in-cut'],
  ['its cut names none', async () => ({ network: 'described' }), undefined, 'described'],
  ['neither names one', missing, undefined, undefined],
])('which network a node serves, where %s', async (_, info, inCut, network) => {
  const cut = async () => ({ ...cutOf(), ...(inCut !== undefined && { network: inCut }) });
  expect((await lookAt(node({ info: info as LookedAt['info'], cut }), systemClock)).network).toBe(network);
});

it('a node that does not answer keeps a look waiting only until the time on the given clock is up', async () => {
  let timeUp = () => {};
  const setTimeout: typeof systemClock.setTimeout = (act, ms) => {
    timeUp = act;
    expect(ms).toBe(7_000);
    return { cancel: () => {}, unref: () => expect.fail('the look must end before its process does') };
  };
  const api = node({
    info: (stop) => new Promise((_, reject) => stop!.addEventListener('abort', () => reject(stop!.reason))),
  });
  const looking = lookAt(api, { ...systemClock, setTimeout }, new AbortController().signal, 7_000);
  timeUp();
  expect((await looking).fault).toBe('some answers have not come within 7 s');
});
