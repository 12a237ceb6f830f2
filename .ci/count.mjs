// Prints how many tests of a report passed and failed, "N M", and on standard error the beginning of each failure.

import { readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';

/** Enough for the reason and the place. */
const LINES = 12;

const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const isFailure = ({ failureMessages }) => failureMessages.length > 0;
console.log(numPassedTests, numFailedTests);

for (const { name: file, status, message, assertionResults } of testResults) {
  const failed = assertionResults.filter(isFailure);
  for (const test of failed) tell(`FAILED: ${file}: ${test.fullName}`, test.failureMessages.join('\n'));
  // A file that cannot be loaded has no tests.
  if (status === 'failed' && failed.length === 0) tell(`FAILED: ${file}`, message);
}

function tell(heading, message) {
  const lines = stripVTControlCharacters(message).split('\n').slice(0, LINES);
  console.error([heading, ...lines].join('\n  '));
}
