/** What a rig tells other programs of events drawn at random: metrics, and the answers for mining systems. */

import type { FastifyReply } from 'fastify';
import { it, onTestFinished } from 'vitest';
import { Events } from '#pickaxe/miner/events/events.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { hiveStats, mmposStats, xmrigRoutes } from '#pickaxe/rig/http/compat.js';
import { Metrics } from '#pickaxe/rig/http/metrics.js';
import { sendNotices } from '#pickaxe/rig/notify/notices.js';
import { reportedSetup } from '#pickaxe/rig/running-miner.js';
import { History } from '#pickaxe/rig/status/history.js';
import type { Status } from '#pickaxe/rig/status/status.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { type Recorded, recordIn, written } from '../../recorded.ts';
import { drawer } from '../../variants.ts';
import { eventDrawer, rounded } from '../drawn-events.ts';
import { FakeClock, hashes, SETUP } from '../status/fakes.ts';

const MOMENTS = 20;
/** What depends on the machine and on versions. */
const OF_MACHINE = new Set(['id', 'resources', 'cpu', 'ua', 'version', 'ver', 'miner_version']);
const OWN_METRIC = /^(?:# HELP |# TYPE )?pickaxe_(?!build_info)/;

const expectRecorded = recordIn(new URL('recorded.json', import.meta.url));

async function momentsOf(seed: number): Promise<Recorded[]> {
  const one = drawer(seededRandom(200 + seed));
  const kind = seed % 2 === 0 ? 'node' : 'pool';
  const draw = eventDrawer(300 + seed, kind);
  const clock = new FakeClock();
  const events = new Events();
  const tally = new Tally(clock, [{ name: 'cpu', kind: 'cpu' }], [{ name: 'stratum' }], kind);
  events.on(tally.listen);
  const status = (): Status => ({ ...reportedSetup('rig-7', SETUP), control: one(true, false), ...tally.status() });
  const metrics = new Metrics(status, events, { timeout: 2 } as never);
  onTestFinished(() => metrics.close());
  const history = new History(tally, clock);
  const notices: unknown[] = [];
  const stop = sendNotices({ rigName: 'rig-7', events, tally, clock }, (notice) => notices.push(notice));
  const routes = [...xmrigRoutes(status), metrics.route];
  const reply = { type: () => reply } as unknown as FastifyReply;
  const outcomes: Recorded[] = [];
  for (let i = 0; i < MOMENTS; i++) {
    const happened = Array.from({ length: one(1, 4, 8) }, draw);
    const rate = one(0, 1e6, 8e9);
    for (const name of ['cpu', 'gpu0']) {
      happened.push(hashes(name, rate), { type: 'proof', device: name, hashes: rate, difficulty: rate });
    }
    for (const event of happened) events.emit(event);
    clock.advance(one(1, 500, 1_000, 10_000, 60_000, 900_000));
    history.step();
    const answers = [hiveStats(status()), mmposStats(status())].map((stats) => written(withoutMachine(stats)));
    for (const route of routes) {
      const answer = await route.answer({ query: {}, body: {}, ifNoneMatch: undefined }, reply);
      answers.push(typeof answer === 'string' ? ownMetrics(answer) : written(withoutMachine(answer)));
    }
    answers.push(...notices.splice(0).map(written), written(history.points(one('10m', '1h', '24h'))));
    outcomes.push({ input: `${i}: ${written(happened)}`, outcome: rounded(answers.join('\n')) });
  }
  stop();
  return [...outcomes, { input: 'stop', outcome: rounded(notices.map(written).join('\n')) }];
}

const ownMetrics = (text: string) =>
  text
    .split('\n')
    .filter((line) => OWN_METRIC.test(line))
    .join('\n');

const withoutMachine = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer, (key, value) => (OF_MACHINE.has(key) ? undefined : value)));

it.each([0, 1])('rig %i tells what is recorded', async (seed) => {
  expectRecorded(`rig ${seed}`, await momentsOf(seed));
});
