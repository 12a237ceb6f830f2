/**
 * The wings of `src/`, from the bottom to the top, with the wings and packages that the files of each may import. A
 * file may always import its own wing; `index.ts` may import every wing.
 */
export const WINGS: Readonly<Record<string, { wings: readonly string[]; packages: readonly string[] }>> = {
  base: { wings: [], packages: ['zod'] },
  protocol: { wings: ['base'], packages: ['@noble/hashes', 'jsonc-parser', 'yaml', 'zod'] },
  contract: { wings: ['protocol'], packages: ['@noble/curves', '@noble/hashes'] },
  node: { wings: ['base', 'protocol'], packages: ['undici', 'zod'] },
  miner: { wings: ['base', 'protocol', 'node'], packages: ['eventsource', 'koffi', 'piscina', 'webgpu', 'zod'] },
  rig: {
    wings: ['base', 'protocol', 'node', 'miner'],
    packages: ['@noble/hashes', 'fastify', 'pino', 'pino-pretty', 'prom-client', 'undici', 'uplot', 'uqr', 'zod'],
  },
  fleet: {
    wings: ['base', 'protocol', 'miner', 'rig'],
    packages: ['@nats-io/nkeys', '@nats-io/transport-node', 'pino', 'prom-client', 'zod'],
  },
  'mock-node': { wings: ['base', 'protocol', 'contract'], packages: ['zod'] },
  app: {
    wings: ['base', 'protocol', 'node', 'miner', 'rig', 'fleet'],
    packages: ['chokidar', 'fastest-levenshtein', 'koffi', 'pino', 'smol-toml', 'zod'],
  },
  cli: {
    wings: ['base', 'protocol', 'contract', 'node', 'miner', 'rig', 'fleet', 'mock-node', 'app'],
    packages: ['@inquirer/prompts', 'chokidar', 'commander', 'koffi', 'pino', 'piscina', 'undici', 'zod'],
  },
};
