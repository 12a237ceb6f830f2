#!/usr/bin/env node

import { exit, stopWithReader } from '../app/exit.ts';
import { surviveHangups } from '../app/signals.ts';
import { run } from './run.ts';

stopWithReader();
surviveHangups();
exit(await run(process.argv.slice(2)));
