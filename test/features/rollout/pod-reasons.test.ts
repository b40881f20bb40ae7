import assert from 'node:assert/strict';
import { meaningOf } from '../../../src/features/rollout/meanings.ts';
import { reasonsOf } from '../../../src/features/rollout/pod-reasons.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';
import { plainText } from '../../../src/kernel/step.ts';

const CRASHED = { namespace: 'kube-system', pod: 'agent-x', why: 'agent: CrashLoopBackOff, last exit 1, 3 restarts', ended: 'agent' };
const SANDBOX = 'Failed to create pod sandbox: failed to setup network for sandbox "0": plugin type="calico" failed (add):';
const LATE = { namespace: 'kube-system', pod: 'agent-y', why: 'not ready, 112 s', late: 'unready' } as const;

const event = (reason: string, message: string, lastTimestamp: string, more: object = {}) => ({
  type: 'Warning',
  reason,
  message,
  lastTimestamp,
  ...more,
});

/** A server that has these events and this log; a number is the status of a refusal. */
function serverWith({ events, log }: { readonly events: unknown; readonly log?: string | number }) {
  const paths: string[] = [];
  const answer = (given: unknown) => {
    if (typeof given === 'number') throw new ApiFailure(given, 'Refused', 'no');
    return typeof given === 'string' ? given : JSON.stringify({ items: given });
  };
  const raw = async (path: string) => {
    paths.push(path);
    return answer(path.includes('/log?') ? (log ?? 404) : events);
  };
  return { paths, raw };
}

const told = async (...asked: Parameters<typeof reasonsOf>) => (await reasonsOf(...asked)).map(String);

describe('why a pod does not get ready', () => {
  it('is its last telling warning, with how often it came, and what it means', async () => {
    const server = serverWith({
      events: [
        event('BackOff', 'Back-off restarting', '2026-01-01T00:00:09Z'),
        event(
          'Unhealthy',
          'Readiness probe failed: calico/node is not ready: felix is not ready: probe reporting 503',
          '2026-01-01T00:00:08Z',
          {
            count: 12,
          },
        ),
        event('Unhealthy', 'an older one', '2026-01-01T00:00:01Z'),
        { type: 'Normal', reason: 'Pulled', message: 'fine', lastTimestamp: '2026-01-01T00:01:00Z' },
      ],
    });
    assert.deepEqual(await told(server, [LATE]), [
      'agent-y says: Unhealthy (12 times): Readiness probe failed: calico/node is not ready: felix is not ready: probe reporting 503',
      'this means: the agent has not set up its rules yet, or cannot: its log shows what it waits for. If it ends at its start, delete the pod: agents before v3.31.7 and v3.32.2 may lock up there',
    ]);
    assert.deepEqual(server.paths, [
      '/api/v1/namespaces/kube-system/events?fieldSelector=involvedObject.kind%3DPod%2CinvolvedObject.name%3Dagent-y&limit=50',
    ]);
  });

  it('is in the log of a container that ends again and again: its last errors, each one line, without credentials and controls', async () => {
    const log = [
      'level=info starting',
      'ERROR cannot reach https://ann:secret@store.example:2379: x509: certificate has expired',
      '\u001b[31mFATAL\u001b[0m giving up',
      'level=info bye',
    ].join('\n');
    const lines = await told(serverWith({ events: [], log }), [CRASHED]);
    assert.equal(lines.length, 3, lines.join('\n'));
    assert.match(String(lines[0] ?? ''), /^agent-x logs: ERROR cannot reach .*x509: certificate has expired$/);
    assert.match(String(lines[1] ?? ''), /^agent-x logs: .*FATAL.* giving up$/);
    assert.equal(lines[2], 'this means: a certificate is not trusted, or has expired');
    for (const never of ['secret', '\u001b']) assert.ok(!lines.join('\n').includes(never), never);
  });

  it('is in the present log of a container that runs and is not ready: its errors alone', async () => {
    const server = serverWith({ events: [], log: 'level=info all is well\nERROR clusterinformations is forbidden: User "x" cannot get' });
    const lines = await told(server, [{ ...LATE, container: 'agent' }]);
    assert.match(String(lines[0] ?? ''), /^agent-y logs: ERROR clusterinformations/);
    assert.match(String(lines[1] ?? ''), /^this means: the account of the pod lacks a right/);
    assert.ok(
      server.paths.some((path) => path.endsWith('/log?container=agent&tailLines=20&limitBytes=16384')),
      server.paths.join('\n'),
    );
    assert.deepEqual(await told(serverWith({ events: [], log: 'level=info all is well' }), [{ ...LATE, container: 'agent' }]), []);
  });

  it('is not made up where nothing is told, and what may not be read is said', async () => {
    assert.deepEqual(await told(serverWith({ events: [], log: '' }), [CRASHED]), []);
    assert.deepEqual(await told(serverWith({ events: 'no JSON' }), [LATE]), []);
    assert.deepEqual(await told(serverWith({ events: 500, log: 500 }), [CRASHED]), []);
    assert.deepEqual(await told(serverWith({ events: 403, log: 403 }), [CRASHED, CRASHED]), [
      'this account may not read events of namespace kube-system: they would say why',
      'this account may not read logs of namespace kube-system: they would say why',
    ]);
  });

  it('is short, however long the message is', async () => {
    const [line = ''] = await told(serverWith({ events: [event('Failed', 'x'.repeat(10_000), '1')] }), [LATE]);
    assert.ok(line.length < 230, String(line.length));
  });

  for (const [text, means] of [
    ['failed to pull: manifest unknown', /^the registry has no image of this name and tag: copy it there/],
    ['failed to pull image "quay.io/x/node:v1": quay.io/x/node:v1: not found', /or the node may not see it \(pull secret, mirror\)/],
    ['pull access denied for x/node, repository does not exist or may require docker login', /or the node may not see it/],
    ['401 Unauthorized', /pull secret/],
    [`${SANDBOX} error getting ClusterInformation: connection is unauthorized: Unauthorized`, /token of the CNI/],
    [
      `${SANDBOX} error getting ClusterInformation: connection is unauthorized: clusterinformations is forbidden: User "x" cannot get`,
      /lacks a right/,
    ],
    [`${SANDBOX} error getting ClusterInformation: Get "https://10.96.0.1:443/": tls: x509: unknown`, /kube-root-ca/],
    [`${SANDBOX} error creating calico client: could not initialize etcdv3 client: open /calico.pem: no such file`, /cni\.log/],
    ['failed to create pod network sandbox web: netplugin failed with no error message', /cni\.log/],
    ['remote: x509: certificate has expired', /not trusted, or has expired/],
    ['calico-node: CreateContainerError (mkdir /sys/kernel/security: operation not permitted), 0 restarts', /no securityfs/],
    ['Failed: Error: path "/sys/fs" is mounted on "/sys" but it is not a shared mount', /mount --make-shared \/sys/],
    ['Failed: Error: no spec for container ebpf-bootstrap: /sys/fs lies on /sys, which is not a shared mount', /mount --make-shared \/sys/],
    ['Could not wait for Cache to sync: failed to wait for apiserver-controller caches to sync', /ClusterRole is missing/],
    ['key-cert-provisioner: watching CSR until it has been signed and approved: calico-system:node-certs:ab12', /kubectl get csr$/],
    ['key-cert-provisioner: timeout expired, exiting program with exit code 1', /certificateManagement/],
    ['calico/node is not ready: felix is not ready: readiness probe reporting 503', /delete the pod: agents before/],
    ['toomanyrequests: rate limit', /mirror/],
    ['clusterroles is forbidden: User "x" cannot list', /ClusterRole/],
    ["/lib/libc.so.6: version `GLIBC_2.34' not found (required by calico)", /C library/],
    ['calico/node is not ready: BIRD is not ready: dial unix /var/run/calico/bird.ctl', /BGP/],
    ['nft[123]: segfault at 0', /nft/],
    ['error: no matches for kind "Gateway" in version "v1"', /kubectl netsvc-upgrade crds$/],
    ['exec /usr/bin/start_runit: exec format error', /another processor/],
    ['Fatal glibc error: CPU does not support x86-64-v2', /newer processor/],
    ['path "/var/run/calico" is mounted on "/" but it is not a shared or slave mount', /make-rshared/],
    ['path "/sys/fs" is mounted on "/sys" but it is not a shared mount', /make-shared \/sys/],
    [
      'Get "https://api.internal:6443/version": dial tcp: lookup api.internal on 10.96.0.10:53: read udp 10.0.0.1:4711->10.96.0.10:53: i/o timeout',
      /is not resolved/,
    ],
    ['dial tcp: lookup api.internal on 10.96.0.10:53: no such host', /is not resolved/],
    ['dial tcp: lookup api.internal: no such host', /is not resolved/],
    [
      'Failed to pull image "quay.io/x/node:v1": Head "https://quay.io/v2/": dial tcp: lookup quay.io on 127.0.0.53:53: no such host',
      /registry/,
    ],
    ['pinging container registry r.corp: Get "http://r.corp:5000/v2/": dial tcp: lookup r.corp: no such host', /registry/],
    ['Get "https://api.internal/apis/autoscaling/v2/x": dial tcp: lookup api.internal: no such host', /kubernetes-services-endpoint/],
    ['listen tcp :10256: bind: address already in use', /bpfKubeProxyHealthzPort/],
    ['datastore is not ready or has not been initialised', /datastoreReady/],
    [`${SANDBOX} Calico is currently not ready to process requests`, /datastoreReady/],
    ['agent: CrashLoopBackOff, last exit 139, 3 restarts', /this image crashed/],
    ['panic: runtime error: invalid memory address or nil pointer dereference', /this image crashed/],
    ['open /status/status.json: permission denied', /securityContext/],
    ['Get "https://10.96.0.1:443/version": dial tcp 10.96.0.1:443: i/o timeout', /does not reach that address/],
    ['Get "https://10.96.0.1:443/version": dial tcp 10.96.0.1:443: connect: connection refused', /does not reach that address/],
  ] as const)
    it(`means something: ${text}`, () => assert.match(plainText(meaningOf([text]) ?? ''), means));

  it('says nothing of the CNI plugin where a program itself is refused', () =>
    assert.doesNotMatch(plainText(meaningOf(['error getting ClusterInformation: connection is unauthorized: Unauthorized']) ?? ''), /CNI/));

  it('is found at both ends of a long text, which a tenant can write into an event, without minutes of searching', () => {
    const long = (word: string) => word.repeat((128 * 1024) / word.length);
    assert.match(plainText(meaningOf([`${SANDBOX} ${long('a ')} error getting ClusterInformation: x509: unknown`]) ?? ''), /kube-root-ca/);
    const started = performance.now();
    for (const word of ['sandbox ', 'Typha ', 'nft ', 'wait for ']) assert.equal(meaningOf([long(word)]), undefined);
    assert.ok(performance.now() - started < 1000, 'it takes long');
  });

  it('is left alone where nobody has met it', () => assert.equal(meaningOf(['all is well']), undefined));
});
