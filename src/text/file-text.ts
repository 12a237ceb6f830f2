/** Decodes the files that people write. Pure. */

/**
 * @param bytes UTF-8, or UTF-16 with a byte order mark, which Windows PowerShell 5 writes when its output goes to a file (`>`)
 * @returns the text without a byte order mark
 * @throws TypeError when the bytes are neither
 */
export function decodeText(bytes: Uint8Array): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8', { fatal: true }).decode(bytes);
}
