import assert from 'node:assert/strict';
import { openStoredBases } from '../../src/adapters/stored-bases.ts';
import { goneSince } from '../../src/features/install-manifest/obsolete.ts';
import { refOf } from '../../src/kernel/object.ts';
import { calico } from '../../src/profiles/calico.ts';
import { config, container, env } from '../support/merge-cases.ts';

const ENV = 'spec.template.spec.containers[c].env';
const at = (release: string, ...documents: readonly ReturnType<typeof env>[]) => ({ release, documents });

describe('since when a release no longer has a place', () => {
  const edit = { ref: refOf(env({})), path: `${ENV}[B].value` };
  const [having, lacking] = [env({ A: '1', B: '2' }), env({ A: '1' })];

  it('is the first release without it, with the last that had it', () => {
    const history = [at('v1.0.0', having), at('v1.1.0', having), at('v1.2.0', lacking), at('v1.3.0', lacking)];
    assert.deepEqual(goneSince(edit, history), { since: 'v1.2.0', lastIn: 'v1.1.0' });
  });

  it('is the last time that it went, where it came back in between', () => {
    const history = [at('v1.0.0', having), at('v1.1.0', lacking), at('v1.2.0', having), at('v1.3.0', lacking)];
    assert.deepEqual(goneSince(edit, history), { since: 'v1.3.0', lastIn: 'v1.2.0' });
  });

  it('is told of what held it, where that went', () => {
    const history = [at('v1.0.0', having), at('v1.1.0'), at('v1.2.0')];
    const within = { ...edit, path: `${ENV}[OWN].value` };
    assert.deepEqual(goneSince(within, history), { since: 'v1.1.0', lastIn: 'v1.0.0' });
  });

  it('is told of members of JSON in a text', () => {
    const json = (text: string) => config({ json: text });
    const history = [at('v1.0.0', json('{"plugins":[{"type":"a","on":true}]}')), at('v1.1.0', json('{"plugins":[{"type":"b"}]}'))];
    const member = { ref: refOf(json('')), path: 'data.json.plugins[a].on' };
    assert.deepEqual(goneSince(member, history), { since: 'v1.1.0', lastIn: 'v1.0.0' });
  });

  it('is not told of what the base never had, of what the target has, and within lists that are one value', () => {
    assert.equal(goneSince({ ...edit, path: `${ENV}[OWN].value` }, [at('v1.0.0', having), at('v1.1.0', lacking)]), undefined);
    assert.equal(goneSince(edit, [at('v1.0.0', lacking), at('v1.1.0', having)]), undefined);
    const args = (...list: readonly string[]) => container({ args: list });
    const item = { ref: refOf(args()), path: 'spec.template.spec.containers[c].args[a]' };
    assert.equal(goneSince(item, [at('v1.0.0', args('a')), at('v1.1.0', args('b'))]), undefined);
  });

  it('is what the stored releases of the service say, under old names as well', async () => {
    const stored = (await openStoredBases('calico')) ?? assert.fail('nothing stored');
    const history = stored.releasesOf('calico.yaml').map((release) => at(release, ...(stored.documentsOf(release, 'calico.yaml') ?? [])));
    const agents = history[0]?.documents.find(({ kind }) => kind === 'DaemonSet') ?? assert.fail('no agents');
    const since = (path: string) =>
      goneSince({ ref: refOf(agents), path: `spec.template.spec.${path}` }, history, calico.merge.renames)?.since;
    assert.equal(since('initContainers[flexvol-driver].image'), 'v3.23.0');
    assert.equal(since('containers[calico-node].env[FELIX_LOGSEVERITYSCREEN].value'), 'v3.19.0');
  });
});
