/** Reads the certificates of authorities from the files that settings name. */

import { X509Certificate } from 'node:crypto';
import { distrust } from '../config/file-trust.ts';
import { type RegularFile, readRegularFile, UnfitFile } from '../config/regular-file.ts';
import { whyUnreadable } from '../config/unreadable.ts';
import { decodeText } from '../text/file-text.ts';
import { UsageError } from './exit-codes.ts';

/** Four times the size of all certificates that browsers trust. */
const MAX_BYTES = 1_048_576;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/**
 * @param option the option's name for error messages: `--node-ca-file`
 * @returns the certificates of a PEM file (RFC 7468), each as one PEM text; at least one
 * @throws UsageError that says what is wrong with the file
 */
export function certificatesIn(file: string, option: string): string[] {
  const refuse = (what: string) => new UsageError(`${option}: ${file} ${what}`);
  let read: RegularFile;
  try {
    read = readRegularFile(file, MAX_BYTES, (facts) => distrust(file, 'settings', facts));
  } catch (fault) {
    const why = fault instanceof UnfitFile ? fault.message : whyUnreadable(fault as NodeJS.ErrnoException, file);
    throw refuse(`cannot be read: ${why}.`);
  }
  const text = textOf(read.bytes);
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) {
    throw refuse(
      'contains a private key, which only its owner should have: name a file that contains only certificates.',
    );
  }
  if (!text.includes('-----BEGIN ')) {
    throw refuse(`is not PEM. To convert it from DER: openssl x509 -inform der -in FILE -out FILE.pem`);
  }
  const certificates = text.match(CERTIFICATE) ?? [];
  if (certificates.length === 0) throw refuse('contains no certificate: each begins with -----BEGIN CERTIFICATE-----');
  if (certificates.length < text.split('-----BEGIN CERTIFICATE-----').length - 1) {
    throw refuse('ends in the middle of a certificate: copy it again.');
  }
  for (const [index, certificate] of certificates.entries()) {
    if (!isReadable(certificate))
      throw refuse(`contains a certificate that cannot be read, number ${index + 1}: copy it again.`);
  }
  return certificates;
}

/** A file that is no text may be DER, about which the error says more. */
function textOf(bytes: Buffer): string {
  try {
    return decodeText(bytes);
  } catch {
    return bytes.toString('latin1');
  }
}

function isReadable(certificate: string): boolean {
  try {
    return new X509Certificate(certificate).raw.length > 0;
  } catch {
    return false;
  }
}
