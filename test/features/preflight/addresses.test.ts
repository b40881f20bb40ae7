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
const ipam = (...faults: readonly IpamFault[]) => ({ ipam: { value: { blocks: 3, faults, youngestNode: '' } } });

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
  'does not apply where the service gives no addresses': { facts: { ipam: { value: undefined } }, is: 'not-applicable' },
  'fails where they cannot be read': { facts: { ipam: { unread: 'forbidden' } }, is: 'warning', says: /forbidden/ },
});
