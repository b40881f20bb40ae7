import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testFolder } from '../support/folders.ts';
import { describeWhere, lacksProgram } from '../support/needs.ts';
import { patient } from '../support/patience.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'use', 'pipelines.md'), 'utf8');
/** The first YAML below a heading. */
const yamlOf = (heading: string) =>
  new RegExp(`^## ${heading}\\n[\\s\\S]*?^\`\`\`yaml\\n([\\s\\S]*?)^\`\`\``, 'm').exec(page)?.[1] ?? assert.fail(heading);

/** The program brings both schemas with it, so nothing is fetched and none lies here. */
describeWhere(lacksProgram('check-jsonschema'), 'the pipelines of docs/use/pipelines.md, by their published schemas', function () {
  this.timeout(patient(60_000));
  const folder = testFolder('pipelines-');
  const problems = (schema: string, yaml: string) => {
    const file = join(folder, 'pipeline.yaml');
    writeFileSync(file, yaml);
    const { status, stdout } = spawnSync('check-jsonschema', ['--builtin-schema', `vendor.${schema}`, file], { encoding: 'utf8' });
    return status === 0 ? '' : stdout;
  };

  for (const [heading, schema, key] of [
    ['GitHub Actions', 'github-workflows', 'runs-on'],
    ['GitLab', 'gitlab-ci', 'script'],
  ] as const) {
    it(`are valid: ${heading}`, () => assert.equal(problems(schema, yamlOf(heading)), ''));

    it(`would be found if they were not: ${heading}`, () => {
      const wrong = yamlOf(heading).replace(`${key}:`, `${key}s:`);
      assert.match(problems(schema, wrong), /Schema validation errors/);
    });
  }
});
