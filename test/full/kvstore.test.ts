import { describeKvstore } from '../support/describe-kvstore.ts';

for (const release of ['v3.20.6', 'v3.26.5'])
  describeKvstore({ release, file: 'calico-etcd.yaml', config: 'calico-config', agent: 'calico-node' });
for (const release of ['v3.20.6', 'v3.23.5', 'v3.27.5'])
  describeKvstore({ release, file: 'canal-etcd.yaml', config: 'canal-config', agent: 'canal-node' });
