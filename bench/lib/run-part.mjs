// One part of a run sheet: a program of this repository, in a process of its own that is ended when it takes too long.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** How many characters of a part's last complaints are kept to explain its failure. */
const LAST_WORDS_CHARS = 1_000;

/**
 * @param part `name`; `command`: arguments of Node.js. Its JSON is what it prints with `json: 'stdout'`, else what it
 *   writes to the file of its `--out`. `keep` makes of the JSON what is kept of it, `lines` makes text of that; without
 *   `lines` the text is what it printed.
 * @param scratch a folder for its file
 * @returns `text` for people, `result`: what is kept, `failed`: why it failed, `seconds`
 */
export async function runPart({ name, command, json, keep = (all) => all, lines }, { limitMs, scratch }) {
  const out = join(scratch, `${name}.json`);
  const startMs = performance.now();
  const done = await run([...command, ...(json ? [] : ['--out', out])], limitMs);
  const seconds = (performance.now() - startMs) / 1000;
  let result;
  let { failed } = done;
  try {
    const text = json ? done.printed : existsSync(out) ? readFileSync(out, 'utf8') : undefined;
    const { machine: _, ...rest } = text ? JSON.parse(text) : {};
    if (text) result = keep(rest);
  } catch (error) {
    failed ??= `what it told is no JSON: ${error.message}`;
  }
  const text = lines ? (result ? lines(result).join('\n\n') : '') : done.printed;
  return { text: text.trim(), result, failed, seconds };
}

async function run(command, limitMs) {
  if (limitMs <= 0) return { printed: '', failed: 'no time was left for it' };
  // A group of its own, so that all of its processes can be ended.
  const child = spawn(process.execPath, command, { cwd: ROOT, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  let lastWords = '';
  let late = false;
  child.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    process.stderr.write(text);
    lastWords = (lastWords + text).slice(-LAST_WORDS_CHARS);
  });
  const end = () => {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // All of them have ended.
    }
  };
  const timer = setTimeout(() => {
    late = true;
    end();
  }, limitMs);
  const interrupted = () => {
    end();
    process.exit(130);
  };
  process.once('SIGINT', interrupted);
  const [code] = await once(child, 'close');
  process.off('SIGINT', interrupted);
  clearTimeout(timer);
  end();
  const said = lastWords.trim() || printed.trim().split('\n').at(-1);
  const why = late ? `it took longer than ${(limitMs / 1000).toFixed(0)} s` : `exit code ${code}: ${said}`;
  return { printed, ...((late || code !== 0) && { failed: why }) };
}
