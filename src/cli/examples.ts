/** What the help pages show at their end. */

/** The commands that programs run, and people who write programs. */
export const FOR_PROGRAMS = ['worker', 'external-worker', 'ledger', 'tx', 'nodes', 'verify', 'mock-node'];

export const PROGRAM_NOTES = `
For programs and developers:
  ${FOR_PROGRAMS.join(', ')}

pickaxe COMMAND --help explains a command and its options.

Examples:
  # at once, on a mock node
  pickaxe demo
  # on a node of your own
  pickaxe mine --node http://HOST:1848 --network mainnet01 --public-key KEY
  # on a pool
  pickaxe mine --pool stratum+tcp://HOST:PORT --user NAME.WORKER

Settings come from flags, PICKAXE_… variables, pickaxe.toml and the user's
config.toml: pickaxe config example explains every one.

Exit codes: 0 done, 1 internal error, 2 wrong usage, 3 no usable device,
4 no work within a bounded run, 6 a device computed wrong hashes, 130 ended by
a second signal. No developer fee, no telemetry.`;

export const MINE_EXAMPLES = `
Examples:
  # on a node, with the CPU and every GPU
  pickaxe mine -o http://10.0.0.2:1848 --network mainnet01 -u KEY
  # on a pool, with the line that its page shows for other miners
  pickaxe mine -o stratum+tcp://pool.example:3333 -u NAME.rig1 -p x
  # with the first two GPUs only, paused at 80 °C
  pickaxe mine -d 0,1 --temp-limit 80
  # at night, with four CPU threads, and a web page at http://127.0.0.1:8080
  pickaxe mine -d cpu -t 4 --schedule 22:00-07:00 --http 8080

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
