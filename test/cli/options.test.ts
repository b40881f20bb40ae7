import assert from 'node:assert/strict';
import { parseDuration } from '../../src/cli/duration.ts';
import { askedFor, readAcceptance, toOptions } from '../../src/cli/options.ts';
import { Fault } from '../../src/kernel/fault.ts';
import { CALICO_TARGET, NETSVC_TARGET } from '../support/target.ts';

const facts = { defaultRelease: NETSVC_TARGET, checks: ['NS-012', 'NS-104', 'NS-110'] };

/** What is there: an option that nobody gave is undefined. */
const given = (options: object) => Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));

function usage(work: () => unknown): Fault {
  try {
    work();
  } catch (thrown) {
    assert.ok(thrown instanceof Fault);
    assert.equal(thrown.code, 'usage');
    return thrown;
  }
  throw new assert.AssertionError({ message: 'no fault' });
}

describe('toOptions', () => {
  it('fills in every default', () => {
    assert.deepEqual(given(toOptions({}, facts)), {
      accept: [],
      failOn: 'error',
      dryRun: 'none',
      yes: false,
      maxFailed: 0,
    });
  });

  it('takes every flag', () => {
    const options = toOptions(
      {
        path: 'kvstore',
        variant: 'overlay',
        'upgrade-file': 'u.yaml',
        base: 'b',
        accept: ['NS-012=Node/a'],
        'fail-on': 'warning',
        'dry-run': 'server',
        yes: true,
        timeout: '1h30m',
        'max-failed': 2,
        until: 'controllers',
        'with-secrets': true,
        'backup-dir': 'd',
        'bin-dir': 'e',
        'cli-config': '/f.cfg',
      },
      facts,
    );
    assert.deepEqual(given(options), {
      path: 'kvstore',
      variant: 'overlay',
      upgradeFile: 'u.yaml',
      base: 'b',
      accept: [{ check: 'NS-012', subject: 'Node/a' }],
      failOn: 'warning',
      dryRun: 'server',
      yes: true,
      timeoutMs: 5_400_000,
      maxFailed: 2,
      holdPolicyMigration: true,
      until: 'controllers',
      withSecrets: true,
      backupDir: 'd',
      binDir: 'e',
      cliConfig: '/f.cfg',
    });
  });

  it('goes to the release of the flag, or of the profile', () => {
    assert.deepEqual(askedFor({}, facts).goal, { release: NETSVC_TARGET });
    assert.deepEqual(askedFor({ release: '3.31.1' }, facts).goal, { release: 'v3.31.1' });
  });

  it('refuses a release that is none', () => {
    const { message, suggestions } = usage(() => askedFor({ release: 'latest' }, { ...facts, defaultRelease: CALICO_TARGET }));
    assert.match(message, /--release=latest is not a release tag/);
    assert.deepEqual(suggestions, [`write it as ${CALICO_TARGET}`]);
  });
});

describe('--soak and --until', () => {
  it('are refused where they have no effect', () => {
    assert.match(usage(() => toOptions({ soak: '5m' }, facts)).message, /^--soak has no effect without --canary$/);
    assert.match(usage(() => toOptions({ canary: '1', until: 'agents' }, facts)).message, /^--until has no effect with --canary alone/);
    assert.equal(toOptions({ canary: '1', soak: '5m', until: 'agents' }, facts).until, 'agents');
  });
});

describe('--max-unavailable', () => {
  const read = (text: string) => toOptions({ 'max-unavailable': text }, facts).maxUnavailable;

  it('is a number of agents, or a percentage', () => {
    assert.deepEqual(['3', '1', '25%', '100%', ' 2 '].map(read), [3, 1, '25%', '100%', 2]);
  });

  it('refuses what is none', () => {
    for (const text of ['0', '0%', '101%', '-1', '1.5', 'many', '', '3 %'])
      assert.match(usage(() => read(text)).message, /^--max-unavailable .*is no number of agents$/, text);
  });
});

describe('--accept', () => {
  it('splits at the first = and keeps the rest of the subject', () => {
    assert.deepEqual(readAcceptance('ns-110=a=b', facts.checks), { check: 'NS-110', subject: 'a=b' });
  });

  it('suggests the nearest check for an unknown one', () => {
    const fault = usage(() => readAcceptance('NS-1041', facts.checks));
    assert.equal(fault.message, '--accept: there is no check NS-1041');
    assert.equal(fault.suggestions[0], 'did you mean NS-104?');
  });

  it('refuses an empty subject', () => {
    assert.match(usage(() => readAcceptance('NS-012=', facts.checks)).message, /names no subject/);
  });
});

describe('parseDuration', () => {
  const cases: readonly (readonly [string, number])[] = [
    ['90', 90_000],
    ['90s', 90_000],
    ['10m', 600_000],
    ['1h30m', 5_400_000],
    ['1.5m', 90_000],
    ['250ms', 250],
  ];
  for (const [text, ms] of cases) {
    it(`reads ${text} as ${ms} ms`, () => assert.equal(parseDuration(text, 'timeout'), ms));
  }
  for (const text of ['', '0', '0s', '-1s', '10 minutes', '1m x', '999999h']) {
    it(`refuses "${text}"`, () => assert.match(usage(() => parseDuration(text, 'timeout')).message, /is not a time limit/));
  }
});
