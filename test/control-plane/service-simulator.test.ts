import assert from 'node:assert/strict';
import { type Api, ApiError, type ApiObject } from './api.ts';
import { NETSVC, runningRelease, simulateService } from './service-simulator.ts';

function pod(uid: string, image: string, running = true): ApiObject {
  return {
    metadata: { name: uid, uid, resourceVersion: '1' },
    spec: { containers: [{ name: 'netsvc-node', image }] },
    status: { containerStatuses: [{ name: 'netsvc-node', state: running ? { running: {} } : { waiting: {} } }] },
  };
}

/** An API whose pods come one after the other, and that keeps what is written. */
function fakeApi(pods: readonly ApiObject[], object: 'present' | 'missing' | 'no CRD') {
  const written: string[] = [];
  let state = object;
  const send = async (method: string, path: string, body: unknown) => {
    if (state === 'no CRD' || (state === 'missing' && method === 'PATCH')) throw new ApiError(404, 'not found');
    if (method === 'POST') state = 'present';
    written.push(`${method} ${path} ${(body as { spec: Record<string, unknown> }).spec.netsvcVersion}`);
    return {};
  };
  const follow = async (_path: string, seen: (object: ApiObject) => void) => {
    for (const each of pods) seen(each);
  };
  const get = async () => ({ items: pods });
  return { written, api: { send, follow, get } as unknown as Api };
}

const list = '/apis/crd.netsvc.io/v1/clusterinformations';

async function written(pods: readonly ApiObject[], object: 'present' | 'missing' | 'no CRD') {
  const fake = fakeApi(pods, object);
  const service = simulateService(fake.api, NETSVC);
  await service.settled();
  await service.stop();
  return fake.written;
}

describe('the simulated service', () => {
  it('writes the release of each agent that starts, so the first new one changes the cluster’s version', async () => {
    const pods = [pod('a', 'r/node:v3.26.4'), pod('a', 'r/node:v3.26.4'), pod('b', 'r/node:v3.32.2', false), pod('b', 'r/node:v3.32.2')];
    assert.deepEqual(await written(pods, 'present'), [`PATCH ${list}/default v3.26.4`, `PATCH ${list}/default v3.32.2`]);
  });

  it('is settled when what runs has written, not before', async () => {
    const late: ApiObject[] = [];
    const fake = fakeApi([], 'present');
    const seen: ((object: ApiObject) => void)[] = [];
    const api = {
      ...fake.api,
      follow: async (_path: string, each: (object: ApiObject) => void) => void seen.push(each),
      get: async () => ({ items: late }),
    };
    late.push(pod('a', 'r/node:v3.26.4'), pod('b', 'r/node:v3.26.4', false));
    const service = simulateService(api as unknown as Api, NETSVC);
    const settled = service.settled().then(() => fake.written.length);
    await new Promise((resolve) => setTimeout(resolve, 20));
    for (const each of seen) each(late[0] as ApiObject);
    assert.equal(await settled, 1);
    await service.stop();
  });

  it('creates the object when it is missing', async () => {
    assert.deepEqual(await written([pod('a', 'r/node:v3.26.4')], 'missing'), [`POST ${list} v3.26.4`]);
  });

  it('does nothing where the CRD is not there', async () => {
    assert.deepEqual(await written([pod('a', 'r/node:v3.26.4')], 'no CRD'), []);
  });

  const releases: readonly [string, string | undefined][] = [
    ['registry.netsvc.io/netsvc/node:v3.26.4', 'v3.26.4'],
    ['localhost:5000/node:v3.26.4@sha256:00', 'v3.26.4'],
    ['localhost:5000/node', undefined],
  ];
  for (const [image, expected] of releases) {
    it(`reads ${expected ?? 'no release'} from ${image}`, () => assert.equal(runningRelease(pod('a', image), 'netsvc-node'), expected));
  }

  it('does not take a waiting agent for a running one', () => {
    assert.equal(runningRelease(pod('a', 'r/node:v3.26.4', false), 'netsvc-node'), undefined);
  });
});
