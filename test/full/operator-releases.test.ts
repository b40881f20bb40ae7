import { describeOperated } from '../support/describe-operated.ts';

describeOperated('v3.20.6', /goldmanes\.operator\.tigera\.io serverside-applied/);
describeOperated('v3.24.6', /apply the operator/);
describeOperated('v3.30.7', /wait for Deployment\/tigera-operator/);
describeOperated('v3.27.5', /wait for Deployment\/tigera-operator/, { namespace: 'net-ops' });
