import assert from 'node:assert/strict';
import { policyTiesChecks } from '../../../src/features/preflight/policy-ties-checks.ts';
import { judgeAll } from '../../../src/kernel/judge.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, found, healthy, resource, resources } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/judged-worlds.ts';
import { patient } from '../../support/patience.ts';

const acting = (ref: string, action: string, more: object = {}): KubeObject => resource(ref, { ingress: [{ action }], ...more });
const from = (release: string, ...all: readonly KubeObject[]) => ({ detection: found({ release }), resources: resources(...all) });
const deny = acting('GlobalNetworkPolicy/deny', 'Deny');
const web = acting('NetworkPolicy/apps/web', 'Allow');

checkCases('NS-513', {
  'warns where the namespace came first, and the name comes last': {
    facts: from('v3.31.2', web, deny),
    is: 'warning',
    about: ['NetworkPolicy/apps/web'],
    details: [/^comes before GlobalNetworkPolicy\/deny now, and after it then$/],
    says: /^from v3\.32\.0 on the agents order policies of equal order by name, then by namespace/,
  },
  'warns of names of which one begins with the other': {
    facts: from('v3.31.2', acting('NetworkPolicy/apps/app', 'Allow'), acting('NetworkPolicy/apps/app-2', 'Deny')),
    is: 'warning',
    about: ['NetworkPolicy/apps/app'],
  },
  'goes by the stored name, which has a prefix in older releases': {
    facts: from('v3.28.2', acting('GlobalNetworkPolicy/default.zone', 'Deny'), acting('NetworkPolicy/prod/default.web', 'Allow')),
    is: 'warning',
    about: ['GlobalNetworkPolicy/default.zone'],
  },
  'passes where an order tells': {
    facts: from('v3.31.2', web, acting('GlobalNetworkPolicy/deny', 'Deny', { order: 10 })),
    is: 'ok',
  },
  'passes in two tiers': { facts: from('v3.31.2', web, acting('GlobalNetworkPolicy/deny', 'Deny', { tier: 'security' })), is: 'ok' },
  'passes where both do the same, and log': {
    facts: from('v3.31.2', resource('NetworkPolicy/apps/web', { ingress: [{ action: 'Log' }, { action: 'Deny' }] }), deny),
    is: 'ok',
  },
  'passes where they are about other directions': {
    facts: from('v3.31.2', web, resource('GlobalNetworkPolicy/deny', { egress: [{ action: 'Deny' }] })),
    is: 'ok',
  },
  'passes for policies of two namespaces': {
    facts: from('v3.31.2', acting('NetworkPolicy/a/z', 'Allow'), acting('NetworkPolicy/b/a', 'Deny')),
    is: 'ok',
  },
  'names the one that comes first then, and counts the others': {
    facts: from(
      'v3.31.2',
      acting('NetworkPolicy/a/m', 'Allow'),
      acting('NetworkPolicy/b/c', 'Deny'),
      acting('GlobalNetworkPolicy/d', 'Deny'),
      acting('NetworkPolicy/a/n', 'Deny'),
      acting('GlobalNetworkPolicy/e', 'Deny'),
      acting('GlobalNetworkPolicy/z', 'Deny'),
    ),
    is: 'warning',
    about: ['NetworkPolicy/a/m'],
    details: [/^comes before GlobalNetworkPolicy\/d and 1 other now, and after it then$/],
  },
  'does not apply within the line': { facts: from('v3.32.0', web, deny), is: 'not-applicable' },
});

describe('10,000 policies of equal order', () => {
  // Every second one is of a namespace whose name comes last, and its own name first.
  const all = Array.from({ length: 10_000 }, (_, index) => {
    const name = String(index).padStart(5, '0');
    return index % 2 === 0 ? acting(`NetworkPolicy/a-${name}/z-${name}`, 'Allow') : acting(`GlobalNetworkPolicy/m-${name}`, 'Deny');
  });

  it('are compared in the time of a sort', () => {
    const facts = { ...healthy, ...from('v3.31.2', ...all) };
    const since = performance.now();
    const [finding] = judgeAll(policyTiesChecks, facts, contextOf({}, calico));
    const took = performance.now() - since;
    assert.equal(finding?.evidence.length, 5_000);
    assert.match(finding?.evidence[0]?.detail ?? '', /and 4999 others now/);
    // Half a second; each with each took 74 s.
    assert.ok(took < patient(15_000), `${took} ms`);
  });
});
