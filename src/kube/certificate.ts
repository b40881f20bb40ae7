/** What a certificate says, of its first block in PEM. */
export interface Certificate {
  readonly issuer: string;
  readonly names: readonly string[];
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Reads a PEM certificate; undefined if it is none. */
export function readCertificate(pem: string): Certificate | undefined {
  const { X509Certificate } = process.getBuiltinModule('node:crypto');
  try {
    const { issuer, subjectaltname = '', valid_to } = new X509Certificate(pem).toLegacyObject();
    // Names with special characters are quoted.
    const names = [...subjectaltname.matchAll(/(?:^|, )DNS:(?:"((?:[^"\\]|\\.)*)"|([^,]*))/g)];
    return {
      issuer: [issuer.CN].flat()[0] ?? '',
      names: names.map(([, quoted, plain]) => quoted ?? plain ?? ''),
      until: Date.parse(valid_to),
    };
  } catch {
    return undefined;
  }
}
