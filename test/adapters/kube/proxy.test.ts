import assert from 'node:assert/strict';
import { proxyOf } from '../../../src/adapters/kube/wire.ts';
import { connectionTo } from '../../support/loopback-server.ts';

const PROXY = 'http://proxy:3128';

describe('the proxy of a connection', () => {
  const cases: readonly [string, string, Record<string, string>, string | undefined][] = [
    ['comes from HTTPS_PROXY', 'https://api.example:6443', { HTTPS_PROXY: PROXY }, PROXY],
    ['comes from https_proxy, without a scheme too', 'https://api.example:6443', { https_proxy: 'proxy:3128' }, PROXY],
    ['is not HTTP_PROXY for https', 'https://api.example:6443', { HTTP_PROXY: PROXY }, undefined],
    ['is HTTP_PROXY for http', 'http://api.example', { HTTP_PROXY: PROXY }, PROXY],
    ['is never used for localhost', 'https://localhost:6443', { HTTPS_PROXY: PROXY }, undefined],
    ['is never used for 127.0.0.0/8', 'https://127.1.2.3:6443', { HTTPS_PROXY: PROXY }, undefined],
    ['is never used for ::1', 'https://[::1]:6443', { HTTPS_PROXY: PROXY }, undefined],
    ['is off for *', 'https://api.example', { HTTPS_PROXY: PROXY, NO_PROXY: '*' }, undefined],
    ['is off for a domain itself', 'https://example.org', { HTTPS_PROXY: PROXY, NO_PROXY: 'example.org' }, undefined],
    ['is off below a domain', 'https://api.example.org', { HTTPS_PROXY: PROXY, NO_PROXY: 'a.b, example.org' }, undefined],
    ['stays for a name that only ends alike', 'https://myexample.org', { HTTPS_PROXY: PROXY, NO_PROXY: 'example.org' }, PROXY],
    ['stays for the domain itself with a leading dot', 'https://example.org', { HTTPS_PROXY: PROXY, NO_PROXY: '.example.org' }, PROXY],
    ['is off for an address range', 'https://10.96.0.1', { HTTPS_PROXY: PROXY, no_proxy: '10.0.0.0/8' }, undefined],
    ['stays outside of an address range', 'https://11.0.0.1', { HTTPS_PROXY: PROXY, NO_PROXY: '10.0.0.0/8' }, PROXY],
    ['is off for an IPv6 range', 'https://[fd00::1]:6443', { HTTPS_PROXY: PROXY, NO_PROXY: 'fd00::/8' }, undefined],
    ['is off for a name with this port', 'https://api.example:6443', { HTTPS_PROXY: PROXY, NO_PROXY: 'api.example:6443' }, undefined],
    ['stays for a name with another port', 'https://api.example:6443', { HTTPS_PROXY: PROXY, NO_PROXY: 'api.example:443' }, PROXY],
  ];
  for (const [title, server, env, expected] of cases) {
    it(title, () => assert.equal(proxyOf(connectionTo(server, { env }), new URL(server)), expected));
  }

  it('is the one of the kubeconfig before all, for loopback too', () => {
    const connection = connectionTo('https://127.0.0.1', { cluster: { 'proxy-url': 'http://own:1' }, env: { NO_PROXY: '*' } });
    assert.equal(proxyOf(connection, new URL('https://127.0.0.1')), 'http://own:1');
  });
});
