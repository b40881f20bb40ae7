import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { bits, context, contextValue, integer, octets, oid, sequence, set, time, utf8, yes } from './der.ts';

/** A key and its certificate, both PEM. */
export interface Identity {
  readonly certificate: string;
  readonly key: string;
}

export interface Subject {
  readonly commonName: string;
  /** Groups, to the API server. */
  readonly organization?: string;
  /** What a server may be called; its presence makes the certificate a server's. */
  readonly hosts?: readonly string[];
  /** It was good until an hour ago. */
  readonly isExpired?: boolean;
  /** Days that it is good for; a week unless said. */
  readonly days?: number;
}

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const ECDSA_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));

const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pemKey = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

/** A new authority that signs test certificates, its key on P-256, good for a week: test grounds live for hours. */
export function createAuthority(commonName: string) {
  const own = newKeys();
  const certify = (subject: Subject, publicKey: KeyObject, extensions: readonly Buffer[]): string => {
    const now = Date.now();
    const until = subject.isExpired ? now - HOUR_MS : now + (subject.days ?? 7) * DAY_MS;
    const body = sequence(
      context(0, integer(Buffer.from([2]))),
      integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
      ECDSA_SHA256,
      nameOf({ commonName }),
      sequence(time(new Date(now - DAY_MS)), time(new Date(until))),
      nameOf(subject),
      publicKey.export({ type: 'spki', format: 'der' }),
      context(3, sequence(...extensions)),
    );
    const whole = sequence(body, ECDSA_SHA256, bits(sign('sha256', body, own.privateKey)));
    const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
    return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
  };
  return {
    certificate: certify({ commonName }, own.publicKey, authorityExtensions(own.publicKey)),
    key: pemKey(own.privateKey),
    issue(subject: Subject): Identity {
      const { publicKey, privateKey } = newKeys();
      return { certificate: certify(subject, publicKey, leafExtensions(subject, own.publicKey)), key: pemKey(privateKey) };
    },
  };
}

/** A bare key pair, as service account tokens need. */
export function createKeyPair() {
  const { publicKey, privateKey } = newKeys();
  return { publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(), key: pemKey(privateKey) };
}

function nameOf({ commonName, organization }: Subject): Buffer {
  const part = (type: string, value: string) => set(sequence(oid(type), utf8(value)));
  return sequence(...(organization ? [part('2.5.4.10', organization)] : []), part('2.5.4.3', commonName));
}

const keyId = (key: KeyObject): Buffer =>
  createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest();
const critical = (id: string, value: Buffer): Buffer => sequence(oid(id), yes(), octets(value));
const extension = (id: string, value: Buffer): Buffer => sequence(oid(id), octets(value));

function authorityExtensions(key: KeyObject): readonly Buffer[] {
  const signsCertificates = bits(Buffer.from([0b0000_0110]), 1);
  return [critical('2.5.29.19', sequence(yes())), critical('2.5.29.15', signsCertificates), extension('2.5.29.14', octets(keyId(key)))];
}

function leafExtensions({ hosts }: Subject, authority: KeyObject): readonly Buffer[] {
  const signsData = bits(Buffer.from([0b1000_0000]), 7);
  const purposes = ['1.3.6.1.5.5.7.3.2', ...(hosts ? ['1.3.6.1.5.5.7.3.1'] : [])];
  return [
    critical('2.5.29.15', signsData),
    extension('2.5.29.37', sequence(...purposes.map(oid))),
    extension('2.5.29.35', sequence(contextValue(0, keyId(authority)))),
    ...(hosts ? [extension('2.5.29.17', sequence(...hosts.map(hostName)))] : []),
  ];
}

function hostName(host: string): Buffer {
  const isAddress = /^\d+\.\d+\.\d+\.\d+$/.test(host);
  return isAddress ? contextValue(7, Buffer.from(host.split('.').map(Number))) : contextValue(2, Buffer.from(host, 'ascii'));
}
