import { describeMesh } from '../support/alp-mesh.ts';

describeMesh({ workloads: 50, timeoutMs: 1_500_000 });
