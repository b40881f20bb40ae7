import assert from 'node:assert/strict';
import { failsafePorts } from '../../../src/features/policy-rules/failsafe-ports.ts';

const DEFAULTS = { inbound: ['tcp:22'], outbound: ['udp:53'] };
const SPEC = {
  failsafeInboundHostPorts: [
    { protocol: 'TCP', port: 2222 },
    { port: 80, net: '10.0.0.0/8' },
  ],
  failsafeOutboundHostPorts: [],
};

describe('failsafe ports', () => {
  it('are the defaults where nothing is set', () => assert.deepEqual(failsafePorts(undefined, {}, DEFAULTS), DEFAULTS));

  it('are those of the agents’ configuration, an empty list too', () => {
    assert.deepEqual(failsafePorts(SPEC, {}, DEFAULTS), { inbound: ['tcp:2222', 'tcp:10.0.0.0/8:80'], outbound: [] });
  });

  it('are those of the agents’ variables before all', () => {
    assert.deepEqual(failsafePorts(SPEC, { inbound: 'tcp:1, udp:2', outbound: 'none' }, DEFAULTS), {
      inbound: ['tcp:1', 'udp:2'],
      outbound: [],
    });
  });

  it('are unknown where a product names no defaults', () => assert.equal(failsafePorts({}, {}, undefined), undefined));
});
