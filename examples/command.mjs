// Runs command lines of pickaxe in this process, and reads what they print.
//
//   node command.mjs

import { run } from 'pickaxe/cli';

/** @param {string[]} argv the words after `pickaxe` */
async function pickaxe(...argv) {
  let stdout = '';
  let stderr = '';
  const code = await run(argv, {
    out: (text) => {
      stdout += text;
    },
    say: (line) => {
      stderr += `${line}\n`;
    },
    read: async () => new Uint8Array(),
    confirm: async () => undefined,
    now: Date.now,
    stop: new AbortController().signal,
    columns: undefined,
    showsProgress: false,
  });
  return { code, stdout, stderr };
}

const schema = await pickaxe('config', 'schema');
console.log(`exit code ${schema.code}, ${JSON.parse(schema.stdout).title}`);

const wrong = await pickaxe('mine', '--network', 'main net');
console.log(`exit code ${wrong.code}, ${wrong.stderr.split('\n')[0]}`);
