import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { notifyTarget } from '../../src/adapters/notifier.ts';
import { Fault } from '../../src/kernel/fault.ts';
import { testFolder } from '../support/folders.ts';

describe('what --notify names', () => {
  const folder = testFolder('notify-');
  before(() => {
    writeFileSync(join(folder, 'hook.sh'), '#!/bin/sh\n');
    chmodSync(join(folder, 'hook.sh'), 0o755);
    writeFileSync(join(folder, 'text'), '');
    mkdirSync(join(folder, 'sub'));
  });

  for (const url of ['https://hooks.example/T/secret', 'HTTPS://hooks.example/T/secret', 'http://127.0.0.1:99/T/secret'])
    it(`may be ${url}, which is shown without its path`, async () => {
      const target = await notifyTarget(url, {});
      assert.ok('url' in target);
      assert.match(target.shown, /^https?:\/\/(hooks\.example|127\.0\.0\.1:99)\/\(hidden\)$/);
    });

  it('may be a program by its path, or one in PATH', async () => {
    assert.ok('program' in (await notifyTarget(join(folder, 'hook.sh'), {})));
    assert.ok('program' in (await notifyTarget('hook.sh', { PATH: folder })));
  });

  for (const [value, because, advice] of [
    ['http://hooks.example/T/secret', /^--notify: http:\/\/hooks\.example\/\(hidden\) is not https$/, /write https:\/\//],
    ['http://anna:secret@hooks.example/', /^--notify: http:\/\/hooks\.example\/\(hidden\) is not https$/, /write https:\/\//],
    ['http://127.0.0.1.example/secret', /is not https/, /write https/],
    ['ftp://hooks.example/secret', /is not https/, /write https/],
    ['https://', /cannot be read/, /https:\/\/HOST/],
    ['notify.sh --to me', /no arguments and no spaces/, /write a script/],
    ['./no-such-program', /no program that can be started/, /chmod \+x/],
    ['sub', /no program that can be started/, /PATH/],
    ['text', /no program that can be started/, /PATH/],
  ] as const)
    it(`is never ${value}`, async () => {
      const refused = await notifyTarget(value, { PATH: folder }).catch((thrown: unknown) => thrown);
      assert.ok(refused instanceof Fault);
      assert.equal(refused.code, 'usage');
      assert.match(refused.message, because);
      assert.match(refused.suggestions.join('\n'), advice);
      assert.doesNotMatch([refused.message, ...refused.suggestions].join('\n'), /secret/);
    });
});
