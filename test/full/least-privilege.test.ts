import { describeLeastPrivilege } from '../support/least-privilege.ts';
import { manifestFile, releases } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';

describeLeastPrivilege({
  title: 'the published manifest with Typha',
  manifest: manifestFile('v3.27.5', 'calico-typha.yaml'),
  profile: 'calico',
  flags: ['--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases],
  unused: ['csidrivers', 'networkpolicies', 'replicasets', 'statefulsets'],
});
