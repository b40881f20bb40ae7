import { describeOtherManager } from '../support/describe-other-manager.ts';

describeOtherManager({ release: 'v3.17.1', file: 'calico.yaml', goes: ['flexvol-driver', 'flexvol-driver-host', 'sysfs'] });
describeOtherManager({ release: 'v3.21.5', file: 'calico.yaml', goes: ['flexvol-driver', 'flexvol-driver-host', 'sysfs'] });
describeOtherManager({ release: 'v3.23.5', file: 'calico-typha.yaml', goes: ['mount-bpffs'] });
describeOtherManager({ release: 'v3.27.5', file: 'calico.yaml', goes: ['mount-bpffs'] });
describeOtherManager({ release: 'v3.30.7', file: 'calico.yaml', goes: ['mount-bpffs'] });
