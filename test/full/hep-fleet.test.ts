import { describeMigration } from '../support/hep-migration.ts';

describeMigration(200, 1_500_000);
