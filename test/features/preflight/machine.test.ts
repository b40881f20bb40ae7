import { found, healthyPods, pod } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/judged-worlds.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const MIB = 1024 ** 2;
const folder = (freeBytes: number, writable = true, path = '/w') => ({ work: { value: { path, freeBytes, writable } } });

checkCases('NS-801', {
  'passes with room': { is: 'ok' },
  'warns if it gets narrow': { facts: folder(512 * MIB), is: 'warning' },
  'fails if it is too narrow': { facts: folder(100 * MIB), is: 'error', says: /100 MiB/ },
  'fails if it cannot be written': { facts: folder(2048 * MIB, false), is: 'error', next: /^ls -ld \/w$/ },
  'quotes the path where it cannot be written': { facts: folder(2048 * MIB, false, '/a b;c'), is: 'error', next: /^ls -ld '\/a b;c'$/ },
  'quotes the path where it is narrow': { facts: folder(100 * MIB, true, '/a b;c'), is: 'error', next: /^df -h '\/a b;c'$/ },
});

const cli = (release?: string) => ({ clis: { value: [{ file: '/usr/local/bin/calicoctl', ...(release ? { release } : {}) }] } });

checkCases('NS-802', {
  'passes without any': { is: 'ok' },
  'passes with the target’s own': { facts: cli(CALICO_TARGET), is: 'ok' },
  'warns about another': {
    facts: cli('v3.27.5'),
    is: 'warning',
    about: ['/usr/local/bin/calicoctl'],
    hint: /Do not use the older CLI afterwards: the new release may misread what it writes/,
    next: /cli/,
  },
  'warns about one that does not tell': { facts: cli(), is: 'warning' },
});

const ctl = (tag: string, more = {}) => ({
  pods: { value: [...healthyPods, pod('calicoctl', { containers: [{ name: 'c', image: `calico/ctl:${tag}` }], ...more })] },
});

checkCases('NS-803', {
  'passes without any': { is: 'ok' },
  'passes with the target’s own': { facts: ctl(CALICO_TARGET), is: 'ok' },
  'passes over one that has ended': { facts: ctl('v3.20.6', { ended: true }), is: 'ok' },
  'warns about another': {
    facts: ctl('v3.20.6'),
    is: 'warning',
    about: ['Pod/kube-system/calicoctl'],
    next: /get pod calicoctl -n kube-system -o yaml/,
  },
});

checkCases('NS-804', {
  'does not apply outside the chart path': { is: 'not-applicable' },
  'passes if helm is there': { facts: { detection: found({ path: 'chart' }), chartTool: { value: ['/usr/bin/helm'] } }, is: 'ok' },
  'fails if it is not': { facts: { detection: found({ path: 'chart' }) }, is: 'error' },
});

const platform = 'linux/arm64';
const kubectl = (gitVersion?: string) => ({
  client: { value: { path: '/usr/bin/kubectl', platform, ...(gitVersion ? { gitVersion } : {}) } },
});
const none = { client: { value: { platform } } };
const DOWNLOAD = /^curl -fLO https:\/\/dl\.k8s\.io\/release\/v1\.35\.1\/bin\/linux\/arm64\/kubectl$/;

checkCases('NS-003', {
  'passes if it is on PATH': { is: 'ok', says: /\/usr\/bin\/kubectl/ },
  'fails if it is not, and names where to get it': { facts: none, is: 'error', fix: DOWNLOAD },
  'asks what there is where nobody knows the server': {
    facts: { ...none, server: { unread: 'no answer' } },
    is: 'error',
    next: /^kubectl version --client$/,
  },
});

checkCases('NS-004', {
  'passes from v1.26 on': { facts: kubectl('v1.26.0'), is: 'ok' },
  'warns before': { facts: kubectl('v1.25.16'), is: 'warning' },
  'fails before server-side apply was stable': { facts: kubectl('v1.21.14'), is: 'error' },
  'fails if it does not tell its version': { facts: kubectl(), is: 'error' },
  'leaves a missing kubectl to NS-003': { facts: none, is: 'not-applicable' },
});

checkCases('NS-005', {
  'passes one minor below': { facts: kubectl('v1.34.9'), is: 'ok' },
  'passes one minor above': { facts: kubectl('v1.36.0'), is: 'ok' },
  'warns two minors away, and names where to get the right one': {
    facts: kubectl('v1.33.0'),
    is: 'warning',
    says: /2 minors/,
    fix: DOWNLOAD,
  },
  'names the release that a distribution of it is made from': {
    facts: { ...kubectl('v1.33.0'), server: { value: { gitVersion: 'v1.35.1+k3s1', major: '1', minor: '35' } } },
    is: 'warning',
    fix: DOWNLOAD,
  },
  'names the program of Windows': {
    facts: { client: { value: { path: 'kubectl.exe', gitVersion: 'v1.33.0', platform: 'windows/amd64' } } },
    is: 'warning',
    fix: /\/bin\/windows\/amd64\/kubectl\.exe$/,
  },
  'does not apply without a version': { facts: kubectl(), is: 'not-applicable' },
});
