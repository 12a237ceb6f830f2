/**
 * @returns the text as a configuration of NATS servers has it
 * @throws RangeError for control characters, which no text there has
 */
export function quoted(text: string): string {
  if (/\p{Cc}/u.test(text)) throw new RangeError('a control character in a configuration');
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}
