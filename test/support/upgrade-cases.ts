import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type Manifest, objectsIn, parseManifest } from '../../src/manifest/manifest.ts';
import { mergeManifest } from '../../src/manifest/merge.ts';
import { upgradeText } from '../../src/manifest/upgrade-text.ts';
import { calico } from '../../src/profiles/calico.ts';
import { editedManifestFile, editedManifests } from './edited-manifests.ts';
import { type CorpusFile, corpusFiles } from './merge-corpus.ts';
import { manifestFile, releases } from './releases.ts';
import { CALICO_TARGET } from './target.ts';

const TARGET = CALICO_TARGET;

/** What is installed, and what the upgrade applies over it. */
export interface UpgradeCase {
  readonly title: string;
  readonly installed: string;
  /** What a server of today cannot install of it any more. */
  readonly leftOut: readonly string[];
  target(): Manifest;
}

const OLD_BUDGET = ['PodDisruptionBudget/calico-kube-controllers'];
/**
 * Kinds that the server no longer has in the version of the file (policy/v1beta1, apiextensions.k8s.io/v1beta1), and objects whose
 * kind the same file defines, which one `kubectl apply` does not find.
 */
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  'v3.17.1': OLD_BUDGET,
  'v3.19.1': OLD_BUDGET,
  'v3.20.6': OLD_BUDGET,
  'v3.21.5': OLD_BUDGET,
  'calico-etcd-v3.18.1-dotbalo': OLD_BUDGET,
  'calico-v3.17.1-mhmxs': ['BGPConfiguration/default', ...OLD_BUDGET],
  'calico-v3.19.3-cloudnativer': OLD_BUDGET,
  'canal-v3.21.1-ilkilab': OLD_BUDGET,
  'operator-v3.17.0-aws': ['Installation/default', 'PodSecurityPolicy/tigera-operator'],
  'policy-only-v3.17.1-aws': [
    ...'bgpconfigurations bgppeers blockaffinities clusterinformations felixconfigurations globalnetworkpolicies globalnetworksets'.split(
      ' ',
    ),
    ...'hostendpoints ipamblocks ippools networkpolicies networksets'.split(' '),
  ]
    .map((plural) => `CustomResourceDefinition/${plural}.crd.projectcalico.org`)
    .concat('PodDisruptionBudget/calico-typha'),
  'typha-v3.19.0-IamMrCupp': [...OLD_BUDGET, 'PodDisruptionBudget/calico-typha'],
};

export const manifestOf = (path: string): Manifest => parseManifest(readFileSync(path, 'utf8'), path);

const caseOf = (name: string, title: string, installed: string, target: UpgradeCase['target']): UpgradeCase => {
  return { title, installed, leftOut: LEFT_OUT[name] ?? [], target };
};

/** Every packed release that has a `calico.yaml`, and every edited manifest. */
export function upgradeCases(): readonly UpgradeCase[] {
  const file = (release: string) => manifestFile(release, 'calico.yaml');
  const found = readdirSync(releases).filter((release) => existsSync(file(release)));
  const plain = found.map((release) => caseOf(release, `calico.yaml ${release}`, file(release), () => manifestOf(file(TARGET))));
  return [...plain, ...corpusFiles.map((one) => caseOf(one.name, `${one.name}, edited`, editedManifestFile(one.name), () => merged(one)))];
}

/** With the person's edits in it, as the apply stage would write it. */
function merged({ name, target }: CorpusFile): Manifest {
  const { release, file } = editedManifests[name] ?? assert.fail(name);
  const path = manifestFile(TARGET, target ?? file);
  const [base, mine, theirs] = [manifestFile(release, file), editedManifestFile(name), path].map((one) => objectsIn(manifestOf(one)));
  assert.ok(base && mine && theirs);
  const upgrade = upgradeText(readFileSync(path, 'utf8'), mergeManifest({ base, mine, theirs, knowledge: calico.merge }));
  return parseManifest(upgrade, 'upgrade.yaml');
}
