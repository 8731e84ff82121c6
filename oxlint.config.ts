import { defineConfig } from 'oxlint'

/** Who may import whom. A package that is missing from a row cannot be imported from that folder. */
const mayImport = {
  contract: [],
  bus: ['contract'],
  process: [],
  server: ['contract', 'bus', 'process'],
  runner: ['contract', 'bus', 'process'],
  sdk: ['contract'],
  tools: ['contract', 'bus', 'process', 'server', 'runner', 'sdk'],
} as const

const everyFolder = Object.keys(mayImport)

/** A noun may call another noun's named functions, never its queries; and nobody climbs out of a package. */
const insideServer = [
  { group: ['../*/queries.ts'], message: "Call the other noun's named functions, not its queries." },
  {
    regex: `^(\\.\\./)+(${everyFolder.join('|')})/`,
    message: 'Import another package by its name (@valley/…), not by a path out of this one.',
  },
]

const folderRules = Object.entries(mayImport).map(([folder, allowed]) => ({
  files: [`${folder}/**`],
  rules: {
    'no-restricted-imports': [
      'error',
      { patterns: [...foreignPackages(folder, allowed), ...insideServer] },
    ] as const,
  },
}))

export default defineConfig({
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'promise', 'node'],
  categories: { correctness: 'error', suspicious: 'error', perf: 'error' },
  options: { typeAware: true },
  rules: {
    'max-lines': ['error', { max: 250, skipBlankLines: true, skipComments: true }],
    'max-lines-per-function': ['error', { max: 50, skipBlankLines: true, skipComments: true }],
    'max-params': ['error', { max: 3 }],
    'import/no-default-export': 'error',
    'import/no-cycle': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/return-await': 'error',
    'typescript/switch-exhaustiveness-check': 'error',
    'typescript/consistent-type-imports': 'error',
    'unicorn/filename-case': ['error', { case: 'kebabCase' }],
    'unicorn/prefer-node-protocol': 'error',
    'no-console': 'error',
    'no-warning-comments': ['error', { terms: ['todo', 'fixme', 'xxx', 'hack'] }],
    'node/no-process-env': 'error',
    eqeqeq: 'error',
    // Order matters in our loops (migrations, batches, retries): one after the other is what is meant.
    'no-await-in-loop': 'off',
    // Rows from the database and parsed JSON are narrowed where they enter; the real database checks them in tests.
    'typescript/no-unsafe-type-assertion': 'off',
    'no-shadow': 'off',
    // A then() that only acts returns nothing on purpose; the type check knows the difference.
    'promise/always-return': 'off',
    // pg is CommonJS: its names are members of the default export.
    'import/no-named-as-default-member': 'off',
    // A copy of a small object is clearer than its mutation; hot paths are measured instead.
    'oxc/no-map-spread': 'off',
  },
  overrides: [
    ...folderRules,
    // The one file per process that reads the environment.
    {
      files: ['server/config.ts', 'runner/config.ts', 'tools/**', '**/*.test.ts', 'server/testing/**'],
      rules: { 'node/no-process-env': 'off' },
    },
    { files: ['tools/**', 'server/admin.ts'], rules: { 'no-console': 'off' } },
    {
      // The runner itself awaits what `test(…)` returns; a small helper stands where it is used.
      files: ['**/*.test.ts'],
      rules: {
        'unicorn/consistent-function-scoping': 'off',
        'typescript/no-floating-promises': 'off',
        'max-lines-per-function': 'off',
        'max-lines': 'off',
      },
    },
    {
      // The SDK's tests speak to the real server; those of the bus, the recorder, heads and reports have services of their own.
      files: [
        'sdk/**/*.test.ts',
        'bus/**/*.test.ts',
        'server/runs/*.test.ts',
        'server/queue/*.test.ts',
        'server/alerts/*.test.ts',
        'runner/heads/*.test.ts',
        'runner/reports/*.test.ts',
      ],
      rules: { 'no-restricted-imports': 'off' },
    },
    { files: ['*.config.ts'], rules: { 'import/no-default-export': 'off' } },
  ],
})

function foreignPackages(folder: string, allowed: readonly string[]) {
  const forbidden = everyFolder.filter((other) => other !== folder && !allowed.includes(other))
  const sdkSeesTypesOnly =
    folder === 'sdk'
      ? [{ group: ['@valley/contract/**'], allowTypeImports: true, message: 'The sdk takes types only.' }]
      : []
  return [
    ...forbidden.map((other) => ({
      group: [`@valley/${other}`, `@valley/${other}/**`],
      message: `${folder}/ may not import ${other}/.`,
    })),
    ...sdkSeesTypesOnly,
  ]
}
