/** A stratum server on a free port of this machine, and what its clients do. Both end with the test. */

import { expect, onTestFinished } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { type StratumOptions, StratumRelay } from '#pickaxe/miner/relay/stratum/stratum-server.js';
import type { WorkSource } from '#pickaxe/miner/source/source.js';
import { FakeSource, makeWork, Recorder } from '../../../fakes.ts';
import { selfSigned } from '../../../node/client/certificates.ts';
import { eventually } from '../../source/follow.ts';
import { Asic } from './asic.ts';

/** The certificate is for no name. */
export const TRUST = { ca: selfSigned.cert, checkServerIdentity: () => undefined };

type More = Partial<
  Pick<StratumOptions, 'clock' | 'proxies' | 'secureContext' | 'limits' | 'openLedger' | 'shareSeconds'>
>;

/** A relay on a free port. */
export async function serve(source: WorkSource, more: More = {}) {
  const recorded = new Recorder();
  const logged: string[] = [];
  const log = (line: string) => void logged.push(line);
  const relay = new StratumRelay({
    source,
    emit: recorded.listen,
    clock: systemClock,
    log: { debug: log, info: log, warn: log },
    listen: { host: '127.0.0.1', port: 0 },
    lane: 7,
    shareSeconds: 10,
    ...more,
  });
  await relay.open();
  const stopping = new AbortController();
  const running = relay.run(stopping.signal);
  const end = async () => {
    stopping.abort();
    await running;
  };
  onTestFinished(end);
  const client = (options?: ConstructorParameters<typeof Asic>[1]) => {
    const asic = new Asic(relay.port as number, options);
    onTestFinished(() => asic.end());
    return asic;
  };
  return { relay, recorded, logged, client, end };
}

/** A relay whose work is so hard that only shares are found. */
export async function serveShares(more: More = {}) {
  const source = new FakeSource();
  const work = source.work(makeWork(2 ** 60));
  return { ...(await serve(source, more)), source, work };
}

/** Logs in, and waits for the first job. */
export async function ready(asic: Asic, ...login: Parameters<Asic['login']>): Promise<Asic> {
  asic.login(...login);
  await eventually(() => expect(asic.job).toBeDefined());
  return asic;
}

/** Mines a share, and waits for its answer. */
export async function share(asic: Asic) {
  const id = asic.mine();
  await eventually(() => expect(asic.answerTo(id)).toBeDefined());
  return asic.answerTo(id);
}
