/** What happens to pools and to the connections to them: faults of networks, of processes, and lies. */

import type { Random } from '#pickaxe/mock-node/random.js';
import type { PoolSite } from '../pool-site.ts';
import type { Connection, PoolUser } from '../pool-user.ts';
import type { Faults, Simulation } from '../simulation.ts';
import { pick } from './faults.ts';

export interface FaultyPools {
  readonly simulation: Simulation;
  readonly sites: readonly PoolSite[];
  /** The processes that mine on the pools at present. */
  readonly users: () => readonly PoolUser[];
}

/** Lines that no pool should send. */
const LIES: readonly ((random: Random) => string)[] = [
  () => 'this is no JSON',
  () => '[1,2',
  () => '{"id":null}',
  () => callLine('mining.notify', []),
  () => callLine('mining.notify', ['1', 'zz'.repeat(286), true]),
  () => callLine('mining.notify', ['1', '00'.repeat(285), true]),
  () => callLine('mining.notify', ['', '00'.repeat(286), true]),
  () => callLine('mining.notify', [{}, 5, 'true']),
  () => `{"id":null,"method":"mining.notify","params":[12345678901234567890,"${'00'.repeat(286)}",false]}`,
  () => callLine('mining.set_target', ['xyz']),
  () => callLine('mining.set_target', ['f'.repeat(65)]),
  () => callLine('mining.set_target', [1e300]),
  () => callLine('mining.set_target', []),
  () => callLine('mining.set_extranonce', ['nonce']),
  () => callLine('mining.set_extranonce', ['0102030405060708', 0]),
  () => callLine('mining.set_extranonce', [7]),
  () => `{"id":null,"method":"client.show_message","params":["${'x'.repeat(20_000)}"]}`,
];

/** Lines that are strange, and change nothing. */
const ODDITIES: readonly ((random: Random) => string)[] = [
  (random) => answerLine(1_000_000 + Math.floor(random() * 1e9)),
  () => answerLine(0),
  () => answerLine(-1),
  () => answerLine('abc'),
  () => answerLine(null),
  () => '{"id":1e400,"result":true,"error":null}',
  () => '{"id":null,"result":null,"error":[25,"not subscribed",null]}',
  () => callLine('client.show_message', ['maintenance at noon']),
  () => callLine('client.show_message', [5]),
  () => callLine('mining.set_difficulty', [4]),
  () => callLine('mining.set_difficulty', ['x']),
  () => callLine('mining.unknown', [1, 2, 3]),
  () => '{"id":7,"method":"client.get_version","params":[]}',
  () => '{"id":8,"method":"mining.ping","params":[]}',
  () => callLine('client.reconnect', ['elsewhere.example', 3333, 0]),
];

export function poolFaults({ simulation, sites, users }: FaultyPools): Faults {
  // Where all faults come alone, the preferred pool has them, as in `nodeFaults`.
  const pickSite = (random: Random) => (simulation.options.alone ? sites[0] : pick(random, sites));
  const open = () => users().flatMap(({ connections }) => connections.filter(({ wire }) => wire.isOpen));
  const connection = (act: (connection: Connection, random: Random) => void) => (random: Random) => {
    const all = open();
    if (all.length > 0) act(pick(random, all), random);
  };
  /** Something is true of a pool for a while. */
  const state =
    (mostMs: number, begin: (site: PoolSite) => void, end: (site: PoolSite) => void) => (random: Random) => {
      const site = pickSite(random);
      begin(site);
      simulation.note(`it is ${site.name}`);
      simulation.endLater(random, mostMs, () => end(site));
    };
  return {
    'a connection is reset': connection(({ pipe }) => pipe.reset()),
    'a connection is closed': connection(({ pipe }) => pipe.close()),
    'a connection is half-open': connection(({ pipe }) => pipe.deafen()),
    'a connection is stalled': connection(({ pipe }, random) => pipe.stall(random() * 20_000)),
    'a pool is out of reach': (random) => {
      const site = pickSite(random);
      site.gate = pick(random, ['refuses', 'is silent'] as const);
      for (const each of open()) {
        if (each.site !== site) continue;
        if (random() < 0.7) each.pipe.reset();
        else each.pipe.deafen();
      }
      simulation.endLater(random, 60_000, () => {
        site.gate = 'accepts';
      });
    },
    'a pool takes no new connections': state(
      60_000,
      (site) => {
        site.gate = 'refuses';
      },
      (site) => {
        site.gate = 'accepts';
      },
    ),
    'a pool is killed': state(
      30_000,
      (site) => site.kill(),
      (site) => site.start(),
    ),
    'all pools are killed': (random) => {
      for (const site of sites) site.kill();
      simulation.endLater(random, 10_000, () => {
        for (const site of sites) site.start();
      });
    },
    'a pool ends all connections': (random) => pickSite(random).pool.disconnectAll(),
    'a pool is frozen': state(
      40_000,
      ({ process }) => process.freeze(),
      ({ process }) => process.thaw(),
    ),
    'a pool does not answer shares': state(
      60_000,
      ({ pool }) => {
        pool.silence = 'shares';
      },
      ({ pool }) => {
        pool.silence = 'none';
      },
    ),
    'a pool says nothing': state(
      60_000,
      ({ pool }) => {
        pool.silence = 'all';
      },
      ({ pool }) => {
        pool.silence = 'none';
      },
    ),
    'a pool loses answers': state(
      60_000,
      ({ pool }) => {
        pool.lostAnswers = 0.5;
      },
      ({ pool }) => {
        pool.lostAnswers = 0;
      },
    ),
    'a pool refuses all shares': state(
      40_000,
      ({ pool }) => {
        pool.refusesAll = true;
      },
      ({ pool }) => {
        pool.refusesAll = false;
      },
    ),
    'a pool refuses a user': (random) => {
      const { pool } = pickSite(random);
      const { user } = pick(random, users());
      pool.refusedUsers.add(user);
      pool.disconnectAll();
      simulation.endLater(random, 20_000, () => pool.refusedUsers.delete(user));
    },
    'a pool asks to reconnect': (random) => {
      const params = pick(random, [[], ['', 0, 2], [null, null, 30], ['pool0.example', 3333, 0], [5, 'x', -1]]);
      pickSite(random).pool.askToReconnect(...params);
    },
    'a pool changes nonce1': (random) => pickSite(random).pool.changeNonce1s(random() < 0.5),
    'a pool changes the difficulty': (random) => {
      const { pool } = pickSite(random);
      for (let at = 0; at < 6; at++)
        simulation.after(at * 3_000, () => pool.setDifficulty(pick(random, [8, 16, 48, 100, 300])));
    },
    'a pool sets an absurd difficulty': (random) => {
      const { pool } = pickSite(random);
      pool.setDifficulty(pick(random, [1, 2 ** 50]));
      simulation.endLater(random, 15_000, () => pool.setDifficulty(pool.habits.difficulty));
    },
    'a pool repeats its jobs': (random) => pickSite(random).pool.repeatJobs(),
    'many jobs come at once': (random) => {
      const { pool } = pickSite(random);
      for (let at = 0; at < 60; at++)
        simulation.after(at * 25, () => (random() < 0.5 ? pool.newJob() : pool.newBlock()));
    },
    'a pool lies': (random) => pickSite(random).pool.sendLine(pick(random, LIES)(random)),
    'a pool lies for long': (random) => {
      const { pool } = pickSite(random);
      for (let at = 0; at < 20; at++) simulation.after(at * 300, () => pool.sendLine(pick(random, LIES)(random)));
    },
    'a pool is strange': (random) => {
      const { pool } = pickSite(random);
      for (let at = 0; at < 5; at++) pool.sendLine(pick(random, ODDITIES)(random));
    },
    'a pool floods': (random) => {
      const site = pickSite(random);
      for (let at = 0; at < 40; at++) {
        const line = Array.from({ length: 100 }, () => callLine('mining.unknown', [at])).join('\n');
        simulation.after(at * 20, () => site.pool.sendLine(line));
      }
    },
  };
}

const callLine = (method: string, params: readonly unknown[]) => JSON.stringify({ id: null, method, params });
const answerLine = (id: unknown) => JSON.stringify({ id, result: true, error: null });
