import { describeMigration } from '../support/hep-migration.ts';
import { CALICO_FLEET, NETSVC_FLEET } from '../support/hep-services.ts';
import { describeWhere } from '../support/needs.ts';
import { realCli, WITHOUT_REAL_CLI } from '../support/service-cli.ts';

const fleet = { nodes: 200, timeoutMs: 1_500_000, everyStep: true } as const;
describeMigration({ ...fleet, service: NETSVC_FLEET, manner: 'new' });
// More than the old ones write at once: after 46 they write two and a half a second.
describeMigration({ ...fleet, nodes: 100, service: NETSVC_FLEET, manner: 'old' });

const small = { nodes: 8, timeoutMs: 600_000, service: CALICO_FLEET, manner: 'new', everyStep: true } as const;
describeMigration(small);
describeWhere(realCli === undefined ? WITHOUT_REAL_CLI : undefined, 'hep with the real CLI', () => {
  describeMigration({ ...small, cli: realCli });
});
