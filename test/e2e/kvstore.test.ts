import { describeKvstore } from '../support/describe-kvstore.ts';

describeKvstore({ release: 'v3.27.5', file: 'calico-etcd.yaml', config: 'calico-config', agent: 'calico-node' }, true);
