/**
 * The rooms of `src/`, from the bottom to the top, with the rooms and packages that each may import. A room is a
 * folder, or a single file that others may import without the rest of its folder. A file belongs to the room with the
 * longest name that fits.
 */

export interface Room {
  readonly name: string;
  /** Rooms above in this list, besides itself; `all`: every one that is above and runs on a rig. */
  readonly rooms: readonly string[] | 'all';
  readonly packages: readonly string[];
}

/** The rooms that never run on a rig, with the only files that may import them. */
export const NOT_ON_A_RIG: ReadonlyMap<string, readonly string[]> = new Map([
  ['mock-node', ['cli/demo.ts', 'cli/mock-node.ts', 'index.ts']],
  ['mock-node/simulated-relay.ts', ['app/relays.ts']],
]);

export const ROOMS: readonly Room[] = [
  { name: 'chain', rooms: [], packages: ['@noble/hashes'] },
  { name: 'ledger', rooms: ['chain'], packages: ['@noble/hashes', 'jsonc-parser', 'zod'] },
  { name: 'ledger/command', rooms: ['chain', 'ledger'], packages: ['@noble/hashes', 'zod'] },
  { name: 'text', rooms: [], packages: [] },
  { name: 'ledger/request-file', rooms: ['chain', 'ledger', 'ledger/command', 'text'], packages: ['yaml'] },
  { name: 'system', rooms: [], packages: ['zod'] },
  { name: 'engine/device.ts', rooms: [], packages: [] },
  { name: 'engine/engine.ts', rooms: ['chain', 'engine/device.ts'], packages: [] },
  { name: 'engine/sensors.ts', rooms: ['system', 'engine/device.ts'], packages: [] },
  {
    name: 'engine/cpu',
    rooms: ['chain', 'text', 'system', 'engine/device.ts', 'engine/engine.ts', 'engine/sensors.ts'],
    packages: ['piscina', 'zod'],
  },
  {
    name: 'engine/gpu',
    rooms: ['chain', 'system', 'engine/device.ts', 'engine/engine.ts', 'engine/sensors.ts'],
    packages: ['koffi', 'webgpu', 'zod'],
  },
  { name: 'source/vocabulary.ts', rooms: [], packages: [] },
  { name: 'events', rooms: ['engine/device.ts', 'source/vocabulary.ts'], packages: [] },
  { name: 'source/source.ts', rooms: ['chain', 'system', 'source/vocabulary.ts', 'events'], packages: [] },
  {
    name: 'source/submitter.ts',
    rooms: ['chain', 'system', 'source/vocabulary.ts', 'events', 'source/source.ts'],
    packages: [],
  },
  { name: 'wire', rooms: ['chain', 'text'], packages: ['zod'] },
  { name: 'blocks', rooms: ['chain', 'ledger', 'text', 'system', 'events'], packages: ['zod'] },
  {
    name: 'mine',
    rooms: [
      'chain',
      'text',
      'system',
      'engine/device.ts',
      'engine/engine.ts',
      'events',
      'source/source.ts',
      'source/submitter.ts',
    ],
    packages: [],
  },
  {
    name: 'relay',
    rooms: [
      'chain',
      'text',
      'system',
      'source/vocabulary.ts',
      'events',
      'source/source.ts',
      'source/submitter.ts',
      'wire',
    ],
    packages: [],
  },
  {
    name: 'relay/stratum',
    rooms: ['chain', 'text', 'system', 'events', 'source/source.ts', 'wire', 'relay'],
    packages: ['zod'],
  },
  { name: 'net/certificate.ts', rooms: [], packages: [] },
  { name: 'net', rooms: ['net/certificate.ts'], packages: [] },
  { name: 'survey/finding.ts', rooms: [], packages: ['zod'] },
  { name: 'node/url.ts', rooms: [], packages: [] },
  { name: 'node/miner-identity.ts', rooms: [], packages: [] },
  {
    name: 'node',
    rooms: [
      'chain',
      'ledger',
      'ledger/command',
      'text',
      'system',
      'net',
      'survey/finding.ts',
      'node/url.ts',
      'node/miner-identity.ts',
    ],
    packages: ['undici', 'zod'],
  },
  { name: 'source', rooms: ['chain', 'system', 'source/vocabulary.ts', 'events', 'source/source.ts'], packages: [] },
  {
    name: 'source/node',
    rooms: [
      'chain',
      'system',
      'source/vocabulary.ts',
      'source/source.ts',
      'net',
      'node/url.ts',
      'node/miner-identity.ts',
      'node',
      'source',
    ],
    packages: ['eventsource'],
  },
  {
    name: 'source/pool',
    rooms: ['chain', 'text', 'system', 'source/vocabulary.ts', 'source/source.ts', 'wire', 'net', 'source'],
    packages: ['zod'],
  },
  {
    name: 'source/parent',
    rooms: ['chain', 'system', 'source/vocabulary.ts', 'events', 'source/source.ts', 'wire', 'source'],
    packages: [],
  },
  { name: 'sweep', rooms: ['ledger', 'ledger/command', 'system'], packages: ['zod'] },
  {
    name: 'mock-node/simulated-relay.ts',
    rooms: ['chain', 'text', 'system', 'events', 'source/source.ts', 'relay'],
    packages: ['zod'],
  },
  { name: 'mock-node', rooms: ['chain', 'ledger', 'ledger/command', 'system'], packages: ['zod'] },
  {
    name: 'config',
    rooms: ['text', 'engine/device.ts', 'net/certificate.ts', 'node/url.ts', 'node/miner-identity.ts'],
    packages: ['fastest-levenshtein', 'smol-toml', 'zod'],
  },
  { name: 'report/shapes.ts', rooms: ['engine/device.ts', 'source/vocabulary.ts', 'events'], packages: ['zod'] },
  {
    name: 'report/status.ts',
    rooms: ['engine/device.ts', 'source/vocabulary.ts', 'events', 'report/shapes.ts'],
    packages: ['zod'],
  },
  { name: 'report/answers.ts', rooms: ['report/shapes.ts', 'report/status.ts'], packages: ['zod'] },
  { name: 'report/units.ts', rooms: ['source/vocabulary.ts', 'report/status.ts'], packages: [] },
  {
    name: 'report/figures.ts',
    rooms: ['source/vocabulary.ts', 'report/status.ts', 'report/units.ts'],
    packages: [],
  },
  {
    name: 'survey',
    rooms: [
      'chain',
      'ledger',
      'ledger/command',
      'text',
      'system',
      'net',
      'survey/finding.ts',
      'node/miner-identity.ts',
      'node/url.ts',
      'node',
      'source/pool',
      'report/units.ts',
    ],
    packages: [],
  },
  {
    name: 'report',
    rooms: [
      'text',
      'system',
      'engine/device.ts',
      'source/vocabulary.ts',
      'events',
      'report/shapes.ts',
      'report/status.ts',
      'report/answers.ts',
      'report/units.ts',
      'report/figures.ts',
    ],
    packages: ['pino', 'zod'],
  },
  {
    name: 'report/http',
    rooms: [
      'text',
      'system',
      'source/vocabulary.ts',
      'events',
      'report/status.ts',
      'report/answers.ts',
      'report/figures.ts',
      'report',
    ],
    packages: ['fastify', 'pino', 'prom-client', 'zod'],
  },
  {
    name: 'web',
    rooms: [
      'text',
      'source/vocabulary.ts',
      'report/status.ts',
      'report/answers.ts',
      'report/units.ts',
      'report/figures.ts',
    ],
    packages: ['uplot'],
  },
  { name: 'guards', rooms: ['text', 'system', 'events', 'report'], packages: [] },
  {
    name: 'notify',
    rooms: [
      'text',
      'system',
      'engine/device.ts',
      'events',
      'report/shapes.ts',
      'report/status.ts',
      'report/units.ts',
      'report/figures.ts',
      'report',
    ],
    packages: ['pino', 'undici', 'zod'],
  },
  {
    name: 'bench',
    rooms: ['chain', 'system', 'engine/device.ts', 'engine/engine.ts', 'mine'],
    packages: ['@noble/hashes', 'zod'],
  },
  {
    name: 'terminal',
    rooms: [
      'text',
      'system',
      'engine/engine.ts',
      'config',
      'report/status.ts',
      'report/units.ts',
      'report/figures.ts',
      'report',
    ],
    packages: ['pino', 'pino-pretty', 'uqr'],
  },
  { name: 'app', rooms: 'all', packages: ['chokidar', 'koffi', 'pino', 'zod'] },
  { name: 'doctor', rooms: 'all', packages: ['zod'] },
  { name: 'cli', rooms: 'all', packages: ['@inquirer/prompts', 'commander', 'koffi', 'pino', 'undici', 'zod'] },
  { name: 'index.ts', rooms: 'all', packages: [] },
];
