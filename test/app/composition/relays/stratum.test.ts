import { expect, it } from 'vitest';
import { systemContext } from '#pickaxe/app/composition/context.js';
import { stratumServer } from '#pickaxe/app/composition/relays.js';
import { FakeSource } from '../../../fakes.ts';
import { listeningLog } from '../../../rig/pauses/fakes.ts';

it('warns of networks of proxies in which others can be as well', async () => {
  const { log, said } = listeningLog();
  const proxies = ['10.0.0.0/8', '10.0.0.0/24', '127.0.0.1', 'fd00::/64', 'fd00::/120', 'fd00::1'];
  const settings = { listen: { host: '127.0.0.1', port: 0 }, shareSeconds: 10, proxies };
  const context = { source: new FakeSource(), emit() {}, ...systemContext, lane: 0 };
  const relay = stratumServer(settings, log)(context);
  await relay.open();
  await relay.run(AbortSignal.abort());
  const what = 'each of these addresses can name any client, and have it banned';
  expect(said.filter(({ level }) => level === 'warn').map(({ msg }) => msg)).toEqual([
    `--stratum-proxy-protocol 10.0.0.0/8: ${what}`,
    `--stratum-proxy-protocol fd00::/64: ${what}`,
  ]);
});
