// Mines with every device of this machine on a mock node for some seconds, and prints what each of them hashes.
//
//   node devices.mjs [SECONDS]

import {
  CpuEngine,
  DeviceError,
  Events,
  formatHashrate,
  GpuEngine,
  listGpus,
  Miner,
  MockNode,
  NodeSource,
  systemClock,
  Tally,
  userCacheDirectory,
} from 'pickaxe';

const seconds = Number(process.argv[2] ?? 10);

// Speeds of kernels and GPUs are measured once and remembered here.
const cacheDirectory = userCacheDirectory();
const remember = cacheDirectory === undefined ? {} : { cacheDirectory };

async function gpuEngines() {
  try {
    const gpus = await listGpus();
    return gpus
      .filter(({ usable }) => usable)
      .map(({ name, model, environment }) => {
        return new GpuEngine({ name, adapter: model, ...remember, ...(environment && { environment }) });
      });
  } catch (fault) {
    if (!(fault instanceof DeviceError)) throw fault;
    console.log(`no GPU is used: ${fault.message}`);
    return [];
  }
}

const node = new MockNode({ network: 'development', dialect: 'chainweb', difficulty: 2 ** 40 });
const { url } = await node.start();
const identity = { account: 'demo', predicate: /** @type {const} */ ('keys-all'), publicKeys: ['0'.repeat(64)] };
const engines = [new CpuEngine(remember), ...(await gpuEngines())];
const events = new Events();
const tally = new Tally(systemClock, engines);
events.on(tally.listen);
const source = new NodeSource({ url, network: 'development', miner: identity });
const miner = new Miner({ source, engines, emit: events.emit });

// Opening takes a while where speeds have to be measured first. The time counts from the first hashes on.
/** @type {NodeJS.Timeout | undefined} */
let timer;
events.on(({ type }) => {
  if (type === 'hashes') timer ??= setTimeout(() => miner.stop(), 1000 * seconds);
});
await miner.run();
clearTimeout(timer);
await node.close();

for (const [name, { hashes, proven, hardwareErrors }] of Object.entries(tally.summary().devices)) {
  const { kernel, hashesPerSecond } = tally.status().devices[name];
  const proof = proven
    ? `${((100 * proven.hashes) / hashes).toFixed(0)} % of its hashes are proven`
    : 'nothing is proven yet';
  console.log(`${name} (${kernel}): ${formatHashrate(hashesPerSecond)}, ${proof}, ${hardwareErrors} hardware errors`);
}
