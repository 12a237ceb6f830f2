/** What the help pages show at their end. */

export const PROGRAM_EXAMPLES = `
Examples:
  pickaxe demo                        mine at once, on a mock node inside this process
  pickaxe init                        answer a few questions, and pickaxe.toml is written
  pickaxe doctor                      find out what keeps this machine from mining
  pickaxe mine                        mine as pickaxe.toml says
  pickaxe mine --node http://HOST:1848 --network mainnet01 --public-key KEY
                                      mine without a file
  pickaxe mine --pool stratum+tcp://HOST:PORT --user NAME.WORKER
                                      mine on a pool
`;

export const NOTES = `
Settings come from flags, PICKAXE_… variables, pickaxe.toml and the user's config.toml: see pickaxe config example.

Exit codes: 0 done, 1 internal error, 2 wrong usage, 3 no usable device, 4 no work within a bounded run,
6 a device computed wrong hashes, 130 ended by a second signal. No developer fee, no telemetry.`;

export const MINE_EXAMPLES = `
Examples:
  # on a node, with the CPU and every GPU
  pickaxe mine -o http://10.0.0.2:1848 --network mainnet01 -u KEY
  # on two nodes, the first one preferred; -u as pools write it names the rig, too
  pickaxe mine -o http://10.0.0.2:1848 -o http://10.0.0.3:1848 --network mainnet01 -u k:KEY.rig1
  # on a pool, with another one for when it fails
  pickaxe mine --pool stratum+tcp://one.example:3333 --pool stratum+ssl://two.example:3334 --user NAME.rig1
  # with the first two GPUs only, paused at 80 °C
  pickaxe mine -d 0,1 --temp-limit 80
  # at night, with four CPU threads, and with a web page at http://127.0.0.1:8080
  pickaxe mine -d cpu -t 4 --schedule 22:00-07:00 --http 8080
  # with ASICs alone, which connect to port 1917
  pickaxe mine -d none --stratum-listen 0.0.0.0:1917
  # for a program: events as JSON on stdout, the log as JSON on stderr
  pickaxe mine --json --log-format json

Without flags, pickaxe.toml says what to mine: pickaxe init writes it.`;

export const WORKER_EXAMPLES = `
Examples:
  # on stdin and stdout, for the program that starts it
  pickaxe worker
  # for programs that come and go, on a socket that only you can use
  pickaxe worker --listen unix:$XDG_RUNTIME_DIR/pickaxe.sock

docs/worker.md has the whole dialogue.`;

export const TX_EXAMPLES = `
Examples:
  # pay somebody: the plan, a question, and waiting until it is done
  pickaxe tx transfer --to k:KEY --amount 0.5 --chain 0 --key-file my-key.json --node http://10.0.0.2:1848
  # a form, signed on another machine, and made a command
  pickaxe tx build transfer.yaml --unsigned > transfer.form.yaml
  pickaxe tx sign transfer.form.yaml my-key.json > transfer.sig.yaml
  pickaxe tx add-sig transfer.form.yaml transfer.sig.yaml > transfer.json
  # what it does, and what is wrong with it
  pickaxe tx show transfer.json
  # on a node: try it, send it, and wait until it is in a block with three blocks above
  pickaxe tx local transfer.json --preflight --node http://10.0.0.2:1848
  pickaxe tx send transfer.json --node http://10.0.0.2:1848
  pickaxe tx poll transfer.json --confirmation-depth 3 --node http://10.0.0.2:1848

docs/transactions.md has all steps.`;
