import assert from 'node:assert/strict';
import { withSumsToCompare } from '../../../src/features/preflight/unknown-sums.ts';
import type { KnownSum, Sources } from '../../../src/kernel/ports.ts';
import { contextOf, installation } from '../../fixtures/facts.ts';
import { CALICO_TARGET, pattern } from '../../support/target.ts';

const LATER = 'v3.32.2';

function sourcesWith(known: readonly string[], source = 'https://files.example'): Sources {
  const artifacts = {
    source,
    has: async () => false,
    urlOf: (release: string, path: string) => (path.includes('://') ? path : `${source}/${release}/${path}`),
    sumOf: async (_: string, path: string): Promise<KnownSum | undefined> =>
      known.some((one) => path.endsWith(one)) ? { sha256: 'a'.repeat(64), from: 'this program' } : undefined,
    sumSeen: async (_: string, path: string) => {
      const file = path.slice(path.lastIndexOf('/') + 1);
      return { file, sha256: 'b'.repeat(64), url: path };
    },
  };
  const tools = { platform: () => ({ os: 'linux', arch: 'amd64' }) };
  return { artifacts, tools, cluster: { list: async () => [] } } as unknown as Sources;
}

const UNREAD = { unread: 'its SHA-256 is not known' };
const onOperator = { ...installation, path: 'operator' as const, operator: { namespace: 'tigera-operator', name: 'tigera-operator' } };

describe('files of a release whose sums are not known', () => {
  it('are listed with their sums, where to compare them, the default target, and one command with all of them', async () => {
    const found = await withSumsToCompare(UNREAD, sourcesWith([]), contextOf({ release: LATER }), onOperator);
    assert.ok('unread' in found);
    const files = ['tigera-operator.yaml', 'v1_crd_projectcalico_org.yaml', 'calicoctl-linux-amd64'];
    const digests = files.map((file) => `--artifact-digest ${file}=${'b'.repeat(64)}`).join(' ');
    assert.equal(`${found.next}`, `kubectl netsvc-upgrade preflight --release ${LATER} ${digests}`);
    const hint = [found.hint].flat().join('\n');
    for (const file of files) assert.match(hint, new RegExp(`${file} sha256 b{64} from `));
    assert.match(hint, pattern`the default, ${CALICO_TARGET}, is the newest release whose sums do`);
    assert.match(hint, /SHA256SUMS of https:\/\/github\.com\/projectcalico\/calico\/releases\/tag\/v3\.32\.2/);
  });

  it('are not asked for where all are known, in a folder of the user, or where the target could be read', async () => {
    const context = contextOf({ release: LATER });
    assert.equal(await withSumsToCompare(UNREAD, sourcesWith(['.yaml', 'amd64']), context, onOperator), UNREAD);
    assert.equal(await withSumsToCompare(UNREAD, sourcesWith(['amd64'], '/srv'), context, onOperator), UNREAD);
    const read = { value: { release: LATER, url: 'u', documents: [] } };
    assert.equal(await withSumsToCompare(read, sourcesWith([]), context, onOperator), read);
  });
});
