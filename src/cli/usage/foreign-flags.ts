/**
 * Answers to flags that other miners have and pickaxe does not. A flag without effect would seem to work, so each is
 * refused with an answer. The flags that a pool's page shows, `-a ALGORITHM -o URL -u USER -p PASSWORD`, are accepted:
 * see `options.ts`.
 */

const PAID = 'Who is paid is given with -u: on a pool the user (-u ACCOUNT.RIG), on a node the public key (-u KEY).';
const RIG = 'The rig is named with --rig-name NAME, and at a pool by what follows the dot in -u ACCOUNT.RIG.';
const PLACE = 'Give the whole URL: -o stratum+tcp://HOST:PORT for a pool, -o http://HOST:1848 for a node.';
const TLS = 'TLS follows from the URL: stratum+ssl://HOST:PORT for a pool, https://HOST for a node.';
const CERTIFICATE = 'The certificate is pinned with --pool-fingerprint or --node-fingerprint.';
const RETRIES =
  'Leave it out: pickaxe tries again until you stop it, with growing pauses. -r is no name of the rig: --rig-name.';
const BACKUPS =
  'Leave it out: give -o several times, the preferred one first. pickaxe goes back to it as soon as it works again.';
const FEE = 'Leave it out: pickaxe takes no fee.';
const OTHER_WORK = 'Leave it out: pickaxe mines blake2s and nothing else, so there is nothing to choose.';
const DIALECT = 'Leave it out: pickaxe speaks the stratum dialect of this network’s pools and no other.';
const PROXY = 'pickaxe connects directly: it has no setting for a proxy.';
const DEVICES = 'Devices are named with -d: cpu, gpu0,gpu1, gpu (all GPUs) or all. pickaxe devices lists them.';
const LIST = 'Run pickaxe devices, which lists the devices and says which are used.';
const THREADS = 'CPU threads are given with -t, as a number or a part: -t 8, -t 50%.';
const TUNED = 'Leave it out: pickaxe measures what is fastest here. A GPU’s batches can be set with --gpu-batch-ms.';
const HOT = 'A GPU is paused at --temp-limit and resumes at --temp-resume, also for one GPU: --temp-limit gpu0=80.';
const CLOCKS =
  'pickaxe leaves clocks, voltages, power limits and fans alone: docs/devices.md has the vendors’ commands.';
const WATCHDOG =
  'Leave it out: a device that hangs or fails is opened again by itself. docs/unattended.md has what to do beyond that.';
const COLOURS = 'Colours are off where the output is no terminal, and everywhere with NO_COLOR=1 in the environment.';
const LOG_FILE = 'The log is written to a file with --log-file FILE.';
const LESS = 'The log is made shorter with --log-level warn, and --no-status hides the status line.';
const MORE = 'The log is made longer with --log-level debug.';
const FIGURES = 'Leave it out: the status line always shows the figures, and pickaxe stats prints them for scripts.';
const API = 'API, metrics and a web page are served with --http [HOST:]PORT.';
const TOKEN = 'The token of the API is in a file: --http-token-file FILE.';
const CONTROL = 'HTTP clients may pause and stop mining with --http-control, and only read without it.';
const BACKGROUND = 'To run in the background, run pickaxe as a service: pickaxe service install.';
const BENCH = 'Run pickaxe bench, which measures the hashrate of each device.';
const HOOKS =
  'Commands are run at events with --on-start, --on-stop, --on-device-lost, --on-low-hashrate and others: docs/unattended.md.';
const LIMIT = 'Mining ends after a time with --duration, like --duration 2h.';
const ORDER = 'Leave it out: pickaxe names GPUs by itself. pickaxe devices lists them with their bus addresses.';
const UPDATE = 'pickaxe does not update itself.';

/** Flags, separated by spaces, without leading hyphens, and with hyphens in place of underscores. */
const ANSWERS: readonly (readonly [flags: string, answer: string])[] = [
  ['w wallet wal ewal wallet-address address coinbase-addr payout-address', PAID],
  ['worker eworker workername worker-name rig-id rigid rig api-worker-id api-id', RIG],
  ['O userpass', 'User and password are given one by one: -u USER -p PASSWORD.'],
  ['pool-password epsw passwd pwd', 'The password at a pool is given with -p, or in a file with --password-file.'],
  ['server epool host port uri daemon-url pool-url', PLACE],
  ['tls ssl', TLS],
  ['tls-fingerprint no-strict-ssl strict-ssl ssl-verify', CERTIFICATE],
  ['cert', CERTIFICATE],
  ['r R T retries retry-pause timeout retry-delay reconnect-time max-network-failures', RETRIES],
  ['pool-strategy failover failover-only back-to-main-pool-sec backup', BACKUPS],
  [
    'daemon solo',
    'To mine on a node, give its URL and your public key: -o http://HOST:1848 --network mainnet01 -u KEY.',
  ],
  ['donate-level donate-over-proxy devfee dev-fee nofee no-fee dev-location community-fund', FEE],
  ['algorithm coin currency pers', OTHER_WORK],
  ['k keepalive nicehash nh no-nicehash protocol proto stratum user-agent no-stratum', DIALECT],
  ['x proxy proxy-url socks-proxy', PROXY],
  ['cpu-only no-gpu disable-gpu no-cpu disable-cpu cuda opencl no-cuda no-opencl nvidia amd intel', DEVICES],
  ['device gpus gpu-id gpu G di cuda-devices opencl-devices opencl-platform cl-devices', DEVICES],
  ['list-devices print-platforms L list-gpus devices-list export-topology', LIST],
  ['cpu-threads cpu-max-threads-hint max-cpu-usage cpu-max-usage', THREADS],
  ['i intensity lhr-tune worksize grid-size block-size kernel-mode low-load mode', TUNED],
  ['av asm huge-pages no-huge-pages hugepage-size huge-pages-jit cpu-memory-pool cpu-no-yield memory-pool', TUNED],
  ['opencl-no-cache opencl-loader cuda-loader cuda-bfactor-hint cuda-bsleep-hint', TUNED],
  ['tstop tstart ttli temp-stop temp-start temp-cutoff temp-target templimit temperature-limit temperature-start', HOT],
  ['temperature-limits max-temperature gpu-temp-limit max-temp tmax tt', HOT],
  ['pl cclk mclk cclock mclock cv mcv fan fan-control gpu-fan lock-cclock lock-mclock oc power-limit mt', CLOCKS],
  ['power powlim gpu-plimit gpu-cclock gpu-mclock gpu-coffset gpu-moffset coff moff', CLOCKS],
  ['cvddc mvddc fanmin fanmax fanidle fanpwm oc-fan-speed oc-lock-core-clock oc-lock-memory-clock', CLOCKS],
  ['oc-memory-clock-offset clk-core-mv clk-mem-mhz clk-mem-mv oc-core-clock-offset oc-power-limit', CLOCKS],
  ['watchdog no-watchdog watchdog-exit-mode watchdog-script watchdog-disabled wd', WATCHDOG],
  ['exit-on-cuda-error exit-on-connection-lost exit-on-high-power gpucheck share-check', WATCHDOG],
  ['no-color nocolor no-colour disable-colors force-colors color colour basecolor nc', COLOURS],
  ['log logfile log-path l logs S syslog', LOG_FILE],
  ['q quiet silent short-stats shortstats hide-date', LESS],
  ['D debug verbose P protocol-dump pool-debug log-level-debug', MORE],
  [
    'print-time log-interval longstats timeprint stats-interval gpu-report-interval N hashrate-avr health-print-time',
    FIGURES,
  ],
  ['api apiport apihost api-port api-host api-bind api-bind-http api-bind-telnet api-listen b', API],
  ['cm-api-listen http-port http-host http-enabled http-address telemetry mport web-port J', API],
  ['api-password cm-api-password http-access-token api-key', TOKEN],
  ['http-no-restricted api-read-only api-allow api-remote', CONTROL],
  ['background daemonize', BACKGROUND],
  ['B', `${BACKGROUND} To measure the hashrate: pickaxe bench.`],
  ['bench benchmark benchmark-epoch', BENCH],
  ['stress', 'Run pickaxe bench --stress, which keeps all devices busy and checks what they find.'],
  ['script-start script-exit script-crash script-low-hash oc-script', HOOKS],
  ['time-limit timelimit max-time exit-after', LIMIT],
  ['platform bus-reorder pci-indexing ab-indexing opencl-order pcie-fmt', ORDER],
  ['autoupdate auto-update update', UPDATE],
  ['pause-on-active', 'pickaxe pauses while somebody uses the machine with --pause-on-activity.'],
  [
    'p pass',
    'A password is given to a pool, by mine and doctor: pickaxe mine -o stratum+tcp://HOST:PORT -u USER -p x.',
  ],
];

const BY_FLAG = new Map(ANSWERS.flatMap(([flags, answer]) => flags.split(' ').map((flag) => [flag, answer] as const)));

/** Matches a flag for one GPU, such as `gpu-plimit0` for the first GPU. */
const OF_ONE_GPU = /^(gpu-[a-z]+)\d+$/;

/** @param flag as typed, such as `--api_port=4067` @returns what to do instead; undefined when the flag is not known */
export function answerTo(flag: string): string | undefined {
  const name = flag.replace(/^--?/, '').replace(/=.*$/s, '').replaceAll('_', '-');
  return BY_FLAG.get(name) ?? BY_FLAG.get(name.replace(OF_ONE_GPU, '$1'));
}
