import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { digestIn, knownDigest } from '../../../src/adapters/artifacts/known-digests.ts';
import { releases } from '../../support/releases.ts';

const sum = (text: string) => text.repeat(64);

describe('the sums that the program carries', () => {
  it('are those of the published manifests that tests install', async () => {
    let compared = 0;
    for (const release of readdirSync(releases)) {
      const folder = join(releases, release, 'manifests');
      for (const file of readdirSync(folder, { recursive: true }) as string[]) {
        if (!statSync(join(folder, file)).isFile()) continue;
        const known = await knownDigest('calico', release, `manifests/${file}`);
        if (known === undefined) continue;
        compared += 1;
        assert.equal(
          createHash('sha256')
            .update(readFileSync(join(folder, file)))
            .digest('hex'),
          known,
          `${release} ${file}`,
        );
      }
    }
    assert.ok(compared >= 50, `${compared}`);
  });

  it('are those of the CLI, by release and platform, from a folder and from an address', async () => {
    const url = 'https://github.com/projectcalico/calico/releases/download/v3.31.0/calicoctl-linux-arm64';
    const expected = '1307df3b220e195fdd57a298997cdc1f1291223622414fdcb40097e86ea8a76a';
    assert.equal(await knownDigest('calico', 'v3.31.0', url), expected);
    assert.equal(await knownDigest('calico', 'v3.31.0', 'bin/calicoctl-linux-arm64'), expected);
    assert.notEqual(await knownDigest('calico', 'v3.31.0', 'bin/calicoctl-linux-amd64'), expected);
    for (const [release, name] of [
      ['v3.99.0', 'calicoctl-linux-amd64'],
      ['v3.31.0', 'calicoctl-plan9-amd64'],
      ['v3.31.0', 'not-calicoctl-linux-amd64'],
      // Noted with two different sums.
      ['v3.23.2', 'calicoctl-linux-arm64'],
    ] as const)
      assert.equal(await knownDigest('calico', release, `bin/${name}`), undefined, `${release} ${name}`);
  });

  it('are not known of other services, of releases that are newer, and of other files', async () => {
    for (const [profile, release, path] of [
      ['netsvc', 'v3.32.1', 'manifests/calico.yaml'],
      ['calico', 'v3.99.0', 'manifests/calico.yaml'],
      ['calico', 'v3.32.1', 'manifests/other.yaml'],
      ['calico', 'v3.32.1', 'https://example.org/manifests/calico.yaml'],
    ] as const)
      assert.equal(await knownDigest(profile, release, path), undefined, `${profile} ${release} ${path}`);
  });

  it('stay those of the release before where nothing changed, and end where the file does', () => {
    const table = {
      releases: ['v1.0.0', 'v1.0.1', 'v1.1.0'],
      since: { a: { 'v1.0.0': sum('a'), 'v1.1.0': null }, b: { 'v1.0.1': sum('b') } },
    };
    assert.deepEqual(
      table.releases.map((release) => [digestIn(table, release, 'a'), digestIn(table, release, 'b')]),
      [
        [sum('a'), undefined],
        [sum('a'), sum('b')],
        [undefined, sum('b')],
      ],
    );
  });
});
