// The script of a thread that answers each task with what happens when it require()s an ES module.

import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);

export default function work() {
  try {
    require(fileURLToPath(import.meta.resolve('#pickaxe/base/text/plain-text.js')));
    return 'required';
  } catch ({ code }) {
    return code;
  }
}
