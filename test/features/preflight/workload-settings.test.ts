import type { KubeObject } from '../../../src/kernel/object.ts';
import type { RunRecord } from '../../../src/kernel/run-record.ts';
import { daemonSet, deployment, found, object } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/judged-worlds.ts';

const marked = (agents: KubeObject): KubeObject => ({
  ...agents,
  metadata: { ...agents.metadata, annotations: { 'netsvc-upgrade/strategy': '20260101T000100Z-00000000' } },
});
const unknown = { facts: { detection: found({ variant: undefined }) }, is: 'not-applicable' } as const;

checkCases('NS-404', {
  'passes with one': { is: 'ok' },
  'warns about two': {
    facts: { deployments: { value: [deployment('calico-kube-controllers', { replicas: 2 })] } },
    is: 'warning',
    about: ['Deployment/kube-system/calico-kube-controllers'],
  },
  'does not apply if the variant is unknown': unknown,
});

const held = {
  value: [
    object('apps/v1', 'DaemonSet/kube-system/calico-node', {
      metadata: { name: 'calico-node', namespace: 'kube-system', annotations: { 'netsvc-upgrade/strategy': 'for the upgrade' } },
      spec: { updateStrategy: { type: 'OnDelete' } },
    }),
  ],
};
const byRun = (more: Partial<RunRecord> = {}) => ({
  daemonSets: held,
  record: { value: { clusterUid: 'cluster-1', startedAt: '2026-01-01T11:00:00Z', ...more } as RunRecord },
});

checkCases('NS-407', {
  'passes while an unfinished run of this cluster holds the agents': { facts: byRun(), is: 'ok', says: /comes back/ },
  'warns where the run that is recorded is over: it holds nothing': { facts: byRun({ finishedAt: '2026-01-01T11:30:00Z' }), is: 'warning' },
  'warns where the record is of another cluster': { facts: byRun({ clusterUid: 'other' }), is: 'warning' },
  'warns where there is no record': { facts: { daemonSets: held }, is: 'warning', says: /lost/ },
  'passes with the default': { is: 'ok', says: /RollingUpdate/ },
  'fails with OnDelete': {
    facts: { daemonSets: { value: [daemonSet({ updateStrategy: { type: 'OnDelete' } })] } },
    is: 'error',
    fix: /kubectl patch daemonset calico-node/,
  },
  'passes where this run holds them, and somebody removed its annotation': {
    facts: {
      daemonSets: { value: [daemonSet({ updateStrategy: { type: 'OnDelete' } })] },
      stillHeld: { value: ['DaemonSet/kube-system/calico-node'] },
    },
    is: 'ok',
    says: /comes back/,
  },
  'warns of a hold whose run left no record': {
    facts: { daemonSets: { value: [marked(daemonSet({ updateStrategy: { type: 'OnDelete' } }))] }, record: { value: undefined } },
    is: 'warning',
    says: /a run of this program holds DaemonSet\/kube-system\/calico-node \(OnDelete\), and the record of that run is lost/,
  },
  'fails with a paused rollout': {
    facts: { deployments: { value: [deployment('calico-kube-controllers', { paused: true }), deployment('calico-typha')] } },
    is: 'error',
    says: /Deployment\/kube-system\/calico-kube-controllers is paused/,
    about: ['Deployment/kube-system/calico-kube-controllers'],
    fix: /^kubectl rollout resume deployment calico-kube-controllers -n kube-system$/,
  },
  'does not apply if the variant is unknown': unknown,
});

const template = (env: readonly object[]) => ({ template: { spec: { containers: [{ name: 'calico-node', env }] } } });

checkCases('NS-408', {
  'passes if each is set once': { is: 'ok' },
  'warns if one is set twice': {
    facts: { daemonSets: { value: [daemonSet(template([{ name: 'IP' }, { name: 'A' }, { name: 'IP' }]))] } },
    is: 'warning',
    says: /1 variable/,
    about: ['DaemonSet/kube-system/calico-node'],
  },
  'does not apply if the variant is unknown': unknown,
});

const apps = (...values: readonly string[]) => ({ matchExpressions: [{ key: 'k8s-app', operator: 'In', values }] });

const budget = (disruptionsAllowed: number, selector: object = { matchLabels: { 'k8s-app': 'calico-typha' } }) => ({
  budgets: {
    value: [
      object('policy/v1', 'PodDisruptionBudget/kube-system/typha', {
        spec: { selector },
        status: { disruptionsAllowed, expectedPods: 1 },
      }),
    ],
  },
});

checkCases('NS-409', {
  'passes without budgets': { is: 'ok' },
  'passes if one leaves room': { facts: budget(1), is: 'ok' },
  'does not look at budgets of others': { facts: budget(0, { matchLabels: { 'k8s-app': 'coredns' } }), is: 'ok' },
  'reads what a budget says by expressions': { facts: budget(0, apps('calico-typha', 'x')), is: 'warning' },
  'does not look at budgets whose expressions leave it out': { facts: budget(0, apps('coredns')), is: 'ok' },
  'warns if one leaves none': { facts: budget(0), is: 'warning', about: ['PodDisruptionBudget/kube-system/typha'], next: /-n kube-system/ },
});
