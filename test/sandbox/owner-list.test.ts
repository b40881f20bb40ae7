import assert from 'node:assert/strict';
import type { OwnerReferenceList } from '../../src/cli/documents.ts';
import type { ComposeRequest } from '../../src/cli/seams.ts';
import { EXIT } from '../../src/kernel/fault.ts';
import { type OwnerSandbox, ownerSandbox, renaming } from '../support/owner-sandbox.ts';
import { compositionOf, sandboxCommand } from '../support/sandbox-command.ts';

/** What `ownerrefs list` with these arguments says of the sandbox as JSON. */
async function listed({ scenario, cluster }: OwnerSandbox, ...args: readonly string[]): Promise<OwnerReferenceList> {
  const bench = sandboxCommand(scenario);
  const compose = async (request: ComposeRequest) => {
    const composition = compositionOf(scenario, request);
    return { ...composition, cluster, profile: renaming, context: { ...composition.context, profile: renaming } };
  };
  Object.assign(bench.seams, { compose });
  assert.equal(await bench.run('ownerrefs', 'list', '-o', 'json', ...args), 0, bench.err());
  return JSON.parse(bench.out()) as OwnerReferenceList;
}

const brief = ({ references }: OwnerReferenceList) =>
  references.map(({ object, owner, removal }) => `${object.name} ${owner.kind}/${owner.name} ${removal ?? 'stays'}`);

describe('ownerrefs list as JSON', () => {
  it('has every reference to the service’s resources', async () => {
    const list = await listed(await ownerSandbox());
    assert.deepEqual([list.source, list.unread], ['v3.26.4', []]);
    assert.deepEqual(brief(list).sort(), [
      'owned-mixed IPPool/pool uid-change',
      'owned-mixed NetworkPolicy/db stored-name',
      'owned-pool IPPool/pool uid-change',
      'owned-role GlobalNetworkPolicy/web stored-name',
      'owned-role IPPool/pool uid-change',
      'owned-stored GlobalNetworkPolicy/default.web stored-name',
      'owned-stored IPPool/pool stays',
      'owned-web GlobalNetworkPolicy/web stored-name',
    ]);
  });

  it('does not say that nothing is owned where not everything could be searched', async () => {
    const { scenario, cluster } = await ownerSandbox();
    const bench = sandboxCommand(scenario);
    const down = { ...cluster, discover: async () => ({ kinds: (await cluster.discover()).kinds.slice(0, 0), failed: ['netsvc.io'] }) };
    const compose = async (request: ComposeRequest) => ({ ...compositionOf(scenario, request), cluster: down });
    Object.assign(bench.seams, { compose });
    assert.equal(await bench.run('ownerrefs', 'list'), EXIT.blocked, bench.err());
    assert.doesNotMatch(bench.out(), /no object is owned/);
    assert.match(bench.out(), /not everything could be searched/);
  });

  it('is only of the owner that was asked for', async () => {
    const list = await listed(await ownerSandbox(), '--owner=globalnetworkpolicy/web');
    assert.deepEqual(brief(list).sort(), [
      'owned-role GlobalNetworkPolicy/web stored-name',
      'owned-web GlobalNetworkPolicy/web stored-name',
    ]);
    const [first] = list.references;
    assert.deepEqual(Object.keys(first?.object ?? {}).sort(), ['apiVersion', 'kind', 'name', 'namespace', 'uid']);
  });

  for (const [words, says] of [
    [['strip', '--owner=IPPool/pool'], /--owner is for list alone/],
    [['strip', '--undo', '--context=prod'], /--undo is for restore alone.*\nNext: .*ownerrefs --context=prod restore --undo/s],
    [['--undo'], /--undo is for restore alone, not for list/],
  ] as const)
    it(`has flags that nothing else passes over in silence: ${words.join(' ')}`, async () => {
      const { scenario } = await ownerSandbox();
      const bench = sandboxCommand(scenario);
      assert.equal(await bench.run('ownerrefs', ...words, '--yes'), EXIT.usage);
      assert.match(bench.err(), says);
      assert.equal(scenario.cluster.faults.writes, 0);
    });

  it('is a list of nothing where nothing is owned', async () => {
    const list = await listed(await ownerSandbox(), '--namespace=empty');
    assert.deepEqual(list.references, []);
  });
});
