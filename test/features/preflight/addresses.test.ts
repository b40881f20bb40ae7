import type { IpamFault } from '../../../src/features/ipam/index.ts';
import { checkCases } from '../../support/judged-worlds.ts';

const claimed: IpamFault = { kind: 'twice-claimed', text: 'block 10.0.1.0/26', detail: 'claimed by n1 and n2', nodes: ['n1', 'n2'] };
const tunnel: IpamFault = { kind: 'tunnel', text: 'n1 10.0.1.1', detail: 'VXLAN tunnel address without an allocation', nodes: ['n1'] };
const left: IpamFault = {
  kind: 'left-over',
  text: '10.0.1.7 shop/cart-0',
  detail: 'given to pod shop/cart-0, which is gone',
  nodes: ['n1'],
};
const unbooked = { kind: 'unbooked', text: 'Pod/a/web-0', detail: '10.0.1.9 is given in no block' } as const;
const homeless = { kind: 'without-pool', text: 'IPAMBlock/b', detail: '10.9.0.0/26 has 1 address of a pod and lies in no pool' } as const;
const released = {
  kind: 'half-released',
  text: 'BlockAffinity/n2-a',
  detail: '10.0.1.0/26: its release was begun and never ended',
} as const;
const ipam = (...faults: readonly IpamFault[]) => ({ ipam: { value: { blocks: 3, faults, moves: [], youngestNode: '' } } });

checkCases('NS-511', {
  'passes where every address is given once': { facts: ipam(), is: 'ok', says: /^3 blocks: every address that is in use is given once$/ },
  'warns of a block that two nodes claim, and shows the claims': {
    facts: ipam(claimed),
    is: 'warning',
    about: ['block 10.0.1.0/26'],
    says: /^1 block with two affinities: block 10\.0\.1\.0\/26$/,
    next: /^kubectl get blockaffinities\.crd\.projectcalico\.org -o custom-columns=/,
  },
  'warns of a tunnel address without an allocation': { facts: ipam(tunnel), is: 'warning', next: /^kubectl get node n1 -o yaml$/ },
  'warns of allocations that nobody uses, and names the tool that shows them': {
    facts: ipam(left, { ...left, text: '10.0.1.8 shop/cart-1' }),
    is: 'warning',
    says: /^2 allocations whose pod or node is gone: /,
    next: /^calicoctl ipam check --show-problem-ips$/,
  },
  'warns of pods that another plugin has given their addresses': {
    facts: { ipam: { value: { blocks: 3, faults: [], moves: [unbooked, { ...unbooked, text: 'Pod/a/web-1' }], youngestNode: '' } } },
    is: 'warning',
    says: /^2 pods with addresses that no block has: Pod\/a\/web-0, Pod\/a\/web-1$/,
    hint: /^A pod with an address of a pool that no block has: .*Restart these pods before the upgrade/,
  },
  'warns of blocks in no pool': {
    facts: { ipam: { value: { blocks: 3, faults: [tunnel], moves: [homeless], youngestNode: '' } } },
    is: 'warning',
    says: /^1 tunnel address without an allocation, 1 block in no pool: /,
    next: /^kubectl get node n1/,
  },
  'warns of a release that nobody ended': {
    facts: { ipam: { value: { blocks: 3, faults: [], moves: [released], youngestNode: '' } } },
    is: 'warning',
    says: /^1 claim or release of a block that was never ended: BlockAffinity\/n2-a$/,
    hint: /If it stays, see with calicoctl ipam check that nothing uses it/,
    next: /^kubectl get blockaffinities/,
  },
  'does not apply where the service gives no addresses': { facts: { ipam: { value: undefined } }, is: 'not-applicable' },
  'fails where they cannot be read': { facts: { ipam: { unread: 'forbidden' } }, is: 'warning', says: /forbidden/ },
});
