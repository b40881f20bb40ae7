import assert from 'node:assert/strict';
import type { OperatedFacts } from '../../../src/features/survey/facts.ts';
import type { SecretCertificate } from '../../../src/features/survey/index.ts';
import { readCertificates } from '../../../src/features/survey/operated.ts';
import type { Kind } from '../../../src/kernel/object.ts';
import { netsvc } from '../../../src/profiles/netsvc.ts';
import { legacyPem, ownPem } from '../../fixtures/certificates.ts';
import { contextOf, found, installation, NOW, object } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/judged-worlds.ts';

const DAY = 86_400_000;
const certificate = (secret: string, change: Partial<SecretCertificate> = {}): SecretCertificate => ({
  namespace: 'tigera-operator',
  secret,
  issuer: 'tigera-operator-signer',
  names: [],
  until: NOW + 400 * DAY,
  ...change,
});
const holding = (...certificates: readonly SecretCertificate[]) => ({
  detection: found({ path: 'operator', variant: undefined, hasApiServer: true }),
  operated: { certificates: { value: certificates } } as unknown as OperatedFacts,
});
const api = 'calico-apiserver-certs';
const names = ['calico-api.calico-apiserver.svc'];

checkCases('NS-630', {
  'does not apply without an operator': { is: 'not-applicable' },
  'stops where a certificate of one’s own lacks the new address': {
    facts: holding(certificate(api, { issuer: 'Example CA', names })),
    is: 'error',
    about: ['Secret/tigera-operator/calico-apiserver-certs'],
    says: /is not for calico-api\.calico-system\.svc, its address from v3\.31\.0 on, and was signed by Example CA/,
    next: /^kubectl -n tigera-operator describe secret calico-apiserver-certs$/,
  },
  'stops where an earlier operator signed it': {
    facts: holding(certificate(api, { issuer: 'tigera-operator-signer@1611111111', names })),
    is: 'error',
    hint: /delete the Secret right before the upgrade/,
  },
  'only warns where it may not be read': {
    facts: { ...holding(), operated: { certificates: { unread: 'secrets is forbidden' } } as unknown as OperatedFacts },
    is: 'warning',
    says: /^certificate of the API server not read: secrets is forbidden/,
  },
  'passes where the operator renews it': { facts: holding(certificate(api, { names })), is: 'ok' },
  'passes where it has the new address': {
    facts: holding(certificate(api, { issuer: 'Example CA', names: [...names, 'calico-api.calico-system.svc'] })),
    is: 'ok',
  },
  'does not apply where the address does not change': {
    facts: {
      ...holding(certificate(api, { issuer: 'Example CA', names })),
      detection: found({ path: 'operator', variant: undefined, release: 'v3.31.2' }),
    },
    is: 'not-applicable',
  },
});

checkCases('NS-631', {
  'does not apply without an operator': { is: 'not-applicable' },
  'only warns where they may not be read': {
    facts: { ...holding(), operated: { certificates: { unread: 'secrets is forbidden' } } as unknown as OperatedFacts },
    is: 'warning',
    says: /^certificates of agents and Typha not read: secrets is forbidden/,
  },
  'passes where they are valid': { facts: holding(certificate('typha-certs'), certificate('node-certs')), is: 'ok' },
  'stops where one is over': {
    facts: holding(certificate('typha-certs', { until: NOW - DAY }), certificate('node-certs')),
    is: 'error',
    about: ['Secret/tigera-operator/typha-certs'],
    details: [/^ended on 2025-12-31$/],
    next: /^kubectl -n tigera-operator get secrets typha-certs node-certs$/,
  },
  'warns where one is over soon': {
    facts: holding(certificate('node-certs', { until: NOW + 20 * DAY })),
    is: 'warning',
    details: [/^ends on 2026-01-21$/],
  },
  'warns of an earlier signer together with flow logs': {
    context: contextOf({ enableFlowLogs: true }),
    facts: holding(certificate('node-certs', { issuer: 'tigera-operator-signer@1611111111' })),
    is: 'warning',
    details: [/do not trust/],
  },
  'passes with an earlier signer without flow logs': {
    facts: holding(certificate('node-certs', { issuer: 'tigera-operator-signer@1611111111' })),
    is: 'ok',
  },
});

describe('the certificates that an operator keeps', () => {
  const secret = (name: string, data: Readonly<Record<string, string>>) => object('v1', `Secret/tigera-operator/${name}`, { data });
  const cluster = (...secrets: readonly ReturnType<typeof secret>[]) => {
    const asked: string[] = [];
    const get = async (_kind: Kind, name: string) => {
      asked.push(name);
      return secrets.find(({ metadata }) => metadata.name === name);
    };
    return { asked, get };
  };

  it('are read without their keys', async () => {
    const secrets = cluster(
      secret('typha-certs', { 'tls.crt': btoa(legacyPem), 'tls.key': btoa('the key') }),
      secret('calico-apiserver-certs', { 'cert.crt': btoa(ownPem), 'key.key': btoa('the key') }),
      secret('node-certs', { 'tls.crt': '%' }),
    );
    const read = await readCertificates(secrets, contextOf(), { ...installation, hasApiServer: true });
    assert.deepEqual(
      read.map(({ secret: name, issuer }) => [name, issuer]),
      [
        ['typha-certs', 'tigera-operator-signer@1611111111'],
        ['calico-apiserver-certs', 'Example CA'],
      ],
    );
    assert.ok(!JSON.stringify(read).includes('key'));
  });

  it('are not asked for where there is no API server, or no names are known', async () => {
    const secrets = cluster();
    await readCertificates(secrets, contextOf(), installation);
    assert.deepEqual(secrets.asked, ['typha-certs', 'node-certs']);
    assert.deepEqual(await readCertificates(secrets, contextOf({}, netsvc), installation), []);
    assert.equal(secrets.asked.length, 2);
  });

  it('are not asked for of an API server whose address stays', async () => {
    const secrets = cluster();
    await readCertificates(secrets, contextOf(), { ...installation, release: 'v3.31.2', hasApiServer: true });
    assert.deepEqual(secrets.asked, ['typha-certs', 'node-certs']);
  });
});
