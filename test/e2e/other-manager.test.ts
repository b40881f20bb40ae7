import { describeOtherManager } from '../support/describe-other-manager.ts';

describeOtherManager({ release: 'v3.27.5', file: 'calico.yaml', goes: ['mount-bpffs'] });
